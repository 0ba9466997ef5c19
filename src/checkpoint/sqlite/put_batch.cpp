#include "checkpoint/sqlite/put_batch.hpp"

#include "checkpoint/sqlite/layout.hpp"

namespace clew::sqlite {

void ThreadCounts::add(const ThreadCounts& other) {
  checkpoints += other.checkpoints;
  writes += other.writes;
  bytes += other.bytes;
}

void ThreadCounts::store(Connection& connection, std::string_view thread_id,
                         std::string_view now) const {
  connection.run(
      "INSERT INTO threads (thread_id, checkpoints, writes, bytes, gmt_create, gmt_modified)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (thread_id) DO UPDATE SET"
      " checkpoints = checkpoints + ?2, writes = writes + ?3, bytes = bytes + ?4,"
      " gmt_modified = ?5",
      thread_id, checkpoints, writes, bytes, now);
}

namespace {

bool is_in(const CheckpointPut* put, const CheckpointKey& place) {
  return put && put->key.thread_id == place.thread_id &&
         put->key.checkpoint_ns == place.checkpoint_ns;
}

}  // namespace

std::string PutBatch::head(const CheckpointKey& place) const {
  for (const CheckpointPut* put : heads_) {
    if (is_in(put, place)) return put->checkpoint.id;
  }
  return newest_checkpoint(connection_, place);
}

void PutBatch::add(const CheckpointPut& put, bool is_head, const TypedBytes& metadata,
                   const ThreadCounts& counts, std::string_view now) {
  if (last_ && last_->key.thread_id != put.key.thread_id) finish();
  last_ = &put;
  counts_.add(counts);
  now_ = now;
  if (!is_head) return;
  note_head(put);
  if (!put.key.checkpoint_ns.empty()) return;
  newest_ = &put;
  metadata_ = &metadata;
}

// In the place of what is known of the namespace, else of the one that was noted first.
void PutBatch::note_head(const CheckpointPut& put) {
  for (const CheckpointPut*& known : heads_) {
    if (!is_in(known, put.key)) continue;
    known = &put;
    return;
  }
  heads_[next_head_++ % heads_.size()] = &put;
}

void PutBatch::finish() {
  if (!last_) return;
  if (newest_) {
    store_newest();
  } else {
    counts_.store(connection_, last_->key.thread_id, now_);
  }
  last_ = nullptr;
  counts_ = {};
  newest_ = nullptr;
}

void PutBatch::store_newest() const {
  connection_.run(
      "INSERT INTO threads (thread_id, checkpoints, writes, bytes, checkpoint_id, updated_at,"
      " metadata_type, metadata, gmt_create, gmt_modified)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9) ON CONFLICT (thread_id) DO UPDATE SET"
      " checkpoints = checkpoints + ?2, writes = writes + ?3, bytes = bytes + ?4,"
      " status = 'idle', checkpoint_id = ?5, updated_at = ?6, metadata_type = ?7, metadata = ?8,"
      " gmt_modified = ?9",
      newest_->key.thread_id, counts_.checkpoints, counts_.writes, counts_.bytes,
      newest_->checkpoint.id, newest_->checkpoint.ts, metadata_->tag, Blob{metadata_->bytes}, now_);
}

}  // namespace clew::sqlite

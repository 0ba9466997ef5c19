#include "checkpoint/sqlite/put_batch.hpp"

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

void PutBatch::add(Connection& connection, const CheckpointPut& put, bool is_head,
                   const TypedBytes& metadata, const ThreadCounts& counts) {
  if (last_ && last_->key.thread_id != put.key.thread_id) finish(connection);
  last_ = &put;
  counts_.add(counts);
  if (!is_head || !put.key.checkpoint_ns.empty()) return;
  newest_ = &put;
  metadata_ = &metadata;
}

void PutBatch::finish(Connection& connection) {
  if (!last_) return;
  if (newest_) {
    store_newest(connection);
  } else {
    counts_.store(connection, last_->key.thread_id, now_);
  }
  last_ = nullptr;
  counts_ = {};
  newest_ = nullptr;
}

// Most threads are known, and an UPDATE takes half of what INSERT ... ON CONFLICT does.
void PutBatch::store_newest(Connection& connection) const {
  const auto run = [&](std::string_view sql) {
    return connection.run(sql, newest_->key.thread_id, counts_.checkpoints, counts_.writes,
                          counts_.bytes, newest_->checkpoint.id, newest_->checkpoint.ts,
                          metadata_->tag, Blob{metadata_->bytes}, now_);
  };
  const bool is_known =
      run("UPDATE threads SET checkpoints = checkpoints + ?2, writes = writes + ?3,"
          " bytes = bytes + ?4, status = 'idle', checkpoint_id = ?5, updated_at = ?6,"
          " metadata_type = ?7, metadata = ?8, gmt_modified = ?9 WHERE thread_id = ?1") > 0;
  if (is_known) return;
  run("INSERT INTO threads (thread_id, checkpoints, writes, bytes, checkpoint_id, updated_at,"
      " metadata_type, metadata, gmt_create, gmt_modified)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)");
}

}  // namespace clew::sqlite

#include "checkpoint/sqlite/put_batch.hpp"

namespace clew::sqlite {
namespace {

// Whoever looks at a thread counts so many at most.
constexpr std::int64_t kMostUncounted = 16;

}  // namespace

void PutBatch::begin(Connection& connection, const CheckpointPut& put, const KnownHead& head,
                     bool is_known) {
  if (thread_.last && thread_.last->key.thread_id != put.key.thread_id) finish(connection);
  thread_.last = &put;
  if (!put.key.checkpoint_ns.empty() || thread_.has_begun_root) return;
  thread_.has_begun_root = true;
  if (is_known) {
    thread_.uncounted = head.uncounted;
  } else {
    // The row is to be made, or else written now, so that the next one who does not know the
    // head has nothing to count.
    thread_.can_wait = false;
    const std::string& newest = head.checkpoint_id;
    if (!newest.empty()) count_up_to(connection, put.key.thread_id, newest);
  }
}

void PutBatch::count_all(Connection& connection) {
  if (thread_.newest) {
    store_newest(connection);
    thread_.counts = {};
    thread_.newest = nullptr;
  } else if (thread_.uncounted != ThreadCounts()) {
    count_rest(connection, thread_.last->key.thread_id);
  }
  thread_.uncounted = {};
}

void PutBatch::add(const Stored& stored) {
  thread_.counts.add(stored.counts);
  thread_.can_wait = thread_.can_wait && stored.can_wait;
  if (!stored.is_head || !stored.put.key.checkpoint_ns.empty()) return;
  thread_.newest = &stored.put;
  thread_.metadata = &stored.metadata;
  thread_.status = stored.status;
}

void PutBatch::finish(Connection& connection) {
  if (!thread_.last) return;
  if (!thread_.newest) {
    thread_.counts.store(connection, thread_.last->key.thread_id, now_);
  } else if (can_wait()) {
    heads_.note_uncounted(thread_.newest->key, all());
  } else {
    store_newest(connection);
  }
  thread_ = {};
}

ThreadCounts PutBatch::all() const {
  ThreadCounts all = thread_.uncounted;
  all.add(thread_.counts);
  return all;
}

bool PutBatch::can_wait() const { return thread_.can_wait && all().checkpoints < kMostUncounted; }

// Most threads are known, and an UPDATE takes half of what INSERT ... ON CONFLICT does.
void PutBatch::store_newest(Connection& connection) const {
  const CheckpointPut& newest = *thread_.newest;
  const ThreadCounts counts = all();
  const auto run = [&](std::string_view sql) {
    return connection.run(sql, newest.key.thread_id, counts.checkpoints, counts.writes,
                          counts.bytes, newest.checkpoint.id, newest.checkpoint.ts,
                          thread_.metadata->tag, Blob{thread_.metadata->bytes}, now_,
                          thread_.status);
  };
  const bool has_row =
      run("UPDATE clew_threads SET checkpoints = checkpoints + ?2, writes = writes + ?3,"
          " bytes = bytes + ?4, status = ?10, checkpoint_id = ?5, updated_at = ?6,"
          " metadata_type = ?7, metadata = ?8, gmt_modified = ?9 WHERE thread_id = ?1") > 0;
  if (has_row) return;
  run("INSERT INTO clew_threads (thread_id, checkpoints, writes, bytes, checkpoint_id, updated_at,"
      " metadata_type, metadata, gmt_create, gmt_modified, status)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)");
}

}  // namespace clew::sqlite

#include "checkpoint/sqlite/thread_counts.hpp"

namespace clew::sqlite {

void ThreadCounts::add(const ThreadCounts& other) {
  checkpoints += other.checkpoints;
  writes += other.writes;
  bytes += other.bytes;
}

void ThreadCounts::store(Connection& connection, std::string_view thread_id,
                         std::string_view now) const {
  connection.run(
      "INSERT INTO clew_threads (thread_id, checkpoints, writes, bytes, gmt_create, gmt_modified)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?5) ON CONFLICT (thread_id) DO UPDATE SET"
      " checkpoints = checkpoints + ?2, writes = writes + ?3, bytes = bytes + ?4,"
      " gmt_modified = ?5",
      thread_id, checkpoints, writes, bytes, now);
}

// Not by an UPDATE of the view, for which SQLite makes a table.
void count_rest(Connection& connection, std::string_view thread_id) {
  connection.run(
      "UPDATE clew_threads SET (checkpoints, writes, bytes, status, checkpoint_id, updated_at,"
      " metadata_type, metadata, gmt_modified) = (SELECT checkpoints, writes, bytes, status,"
      " checkpoint_id, updated_at, metadata_type, metadata, gmt_modified FROM threads"
      " WHERE thread_id = ?1) WHERE thread_id = ?1",
      thread_id);
}

void count_up_to(Connection& connection, std::string_view thread_id,
                 std::string_view newest_checkpoint) {
  const auto counted =
      connection.value("SELECT checkpoint_id FROM clew_threads WHERE thread_id = ?", thread_id);
  if (counted && *counted < newest_checkpoint) count_rest(connection, thread_id);
}

}  // namespace clew::sqlite

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

void count_rest(Connection& connection, std::string_view thread_id) {
  connection.run("UPDATE threads SET checkpoints = checkpoints WHERE thread_id = ?", thread_id);
}

}  // namespace clew::sqlite

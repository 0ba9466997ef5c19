// What the layouts share when they look for damage.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <clew/errors.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/connection.hpp"

namespace clew::sqlite {

// Counts the rows that were looked at, and says when to end.
class VerifyProgress {
 public:
  VerifyProgress(const VerifyOptions& options, VerifyReport& report)
      : options_(options), report_(report) {}

  // False if it is to end.
  bool next() {
    constexpr std::size_t kInterval = 64;
    if (++rows_ % kInterval == 0 && options_.progress) options_.progress(rows_);
    if (options_.stop.stop_requested()) report_.is_complete = false;
    return report_.is_complete;
  }

 private:
  const VerifyOptions& options_;
  VerifyReport& report_;
  std::size_t rows_ = 0;
};

// What is wrong with a call that reads something; nothing if it does not throw. That the
// file cannot be read is thrown on.
template <class Read>
std::optional<std::string> error_of(const Read& read) {
  try {
    read();
    return std::nullopt;
  } catch (const StorageError&) {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Whether the parent of a checkpoint is stored, or was pruned with all that is older.
inline bool has_parent(Connection& connection, const CheckpointKey& place,
                       std::string_view parent_id) {
  return !connection
              .value(
                  "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM checkpoints WHERE thread_id = ?1"
                  " AND checkpoint_ns = ?2 AND checkpoint_id = ?3) AND EXISTS (SELECT 1"
                  " FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2"
                  " AND checkpoint_id < ?3)",
                  place.thread_id, place.checkpoint_ns, parent_id)
              .has_value();
}

// Forgets the parents that are said to be missing.
inline std::size_t forget_parents(Connection& connection, const VerifyReport& report) {
  std::size_t count = 0;
  for (const StoredProblem& problem : report.problems) {
    if (problem.kind != StoredProblem::Kind::missing_parent) continue;
    connection.run(
        "UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = ?"
        " AND checkpoint_ns = ? AND checkpoint_id = ?",
        problem.thread_id, problem.checkpoint_ns, problem.checkpoint_id);
    ++count;
  }
  return count;
}

}  // namespace clew::sqlite

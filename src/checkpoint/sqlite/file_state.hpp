// Whether anything was committed to a file, without asking the system.
//
// In WAL mode every commit, by whichever process, changes the header of the
// log's index, a file that all share in memory. SQLite documents its format, and
// decides by the same header whether its own cache is still good:
// https://sqlite.org/walformat.html#the_wal_index_header
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "checkpoint/sqlite/connection.hpp"

namespace clew::sqlite {

// Equal states: nothing was committed in between.
using FileState = std::array<std::uint32_t, 12>;

class FileWatch {
 public:
  // The connection must live as long, and have read from the file.
  explicit FileWatch(Connection& connection) : header_(connection.log_index()) {}

  // May be called from any thread, at any time. Nothing if it cannot be told,
  // for there is no log or somebody is just committing.
  std::optional<FileState> state() const;

 private:
  std::uint32_t* header_;  // null: there is no log
};

}  // namespace clew::sqlite

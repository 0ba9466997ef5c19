// The database itself, which SQLite writes to when it copies the log there, a page at a time in
// the order of their numbers. Those that follow each other are written at once.
#pragma once

#include <sqlite3.h>

#include "checkpoint/sqlite/vfs_file.hpp"

namespace clew::sqlite {

struct DatabaseFile {
  sqlite3_file base;
  GatheredWrites gathered = {};
  bool is_only_writer = false;  // holds the lock for writing to the log
  bool is_gathering = false;
  std::uint64_t copies = 0;  // begun so far
  int failure = SQLITE_OK;   // to write what was gathered; told by the next call that SQLite checks

  int write(Bytes bytes, sqlite3_int64 offset);
  void begin_copy();
  void end_copy();
  int take_failure();

  // Whether all of the log is about to be copied, and cannot become longer meanwhile. Then
  // SQLite truncates and syncs this file before anybody reads it instead of the log.
  bool is_complete_copy();
};

// These pass everything else on to those behind, as far as those can do it.
const sqlite3_io_methods& database_file_methods(const sqlite3_io_methods& behind);

// Null if it is not one: another VFS may stand in front of this one.
DatabaseFile* as_database_file(sqlite3_file* file);

}  // namespace clew::sqlite

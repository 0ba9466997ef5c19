// The log as SQLite sees it. SQLite writes it frame by frame, and reads it so when it copies the
// log to the database; both happen many frames at a time.
#pragma once

#include <sqlite3.h>

#include <vector>

#include "checkpoint/sqlite/database_file.hpp"

namespace clew::sqlite {

struct LogFile {
  sqlite3_file base;
  DatabaseFile* database = nullptr;  // whose log it is, if that is known
  GatheredWrites gathered = {};
  sqlite3_int64 end = -1;  // where the last write ended
  bool is_gathering = false;
  std::size_t commit_bytes = 0;  // written for the commit that is
  sqlite3_int64 room = 0;        // how far the file reached when it was last looked at
  bool was_synced = false;       // since the last commit
  enum { nothing, header, last_header } expects_page_of = nothing;

  std::vector<std::uint8_t> ahead = {};  // read while the log is copied,
  sqlite3_int64 ahead_begin = 0;         // from where,
  std::uint64_t copy = 0;                // and in which copy
  sqlite3_int64 read_end = -1;           // where the last read ended,
  sqlite3_int64 run_end = -1;            // and the last one of what was read ahead
  sqlite3_int64 copied_size = -1;        // of the file, while it is copied

  int write(Bytes bytes, sqlite3_int64 offset);
  int flush();
  int read(std::span<std::uint8_t> bytes, sqlite3_int64 offset);

 private:
  bool more_follows(Bytes bytes);
  void make_room() noexcept;
  bool read_ahead(std::size_t wanted, sqlite3_int64 offset);
  bool fill_ahead(sqlite3_int64 offset);
};

const sqlite3_io_methods& log_file_methods();

}  // namespace clew::sqlite

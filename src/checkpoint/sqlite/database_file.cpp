#include "checkpoint/sqlite/database_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "checkpoint/sqlite/log_index.hpp"

namespace clew::sqlite {
namespace {

constexpr int kWriteLock = 0;

int control_database(sqlite3_file* file, int operation, void* argument) {
  if (operation == SQLITE_FCNTL_CKPT_START) file_of<DatabaseFile>(file).begin_copy();
  if (operation == SQLITE_FCNTL_CKPT_DONE) file_of<DatabaseFile>(file).end_copy();
  return Pass<DatabaseFile, &sqlite3_io_methods::xFileControl>::call(file, operation, argument);
}

// SQLite truncates the database after a complete copy and syncs it, unless synchronous is OFF.
// Only if both succeed is it read instead of the log.
int truncate_database(sqlite3_file* file, sqlite3_int64 size) {
  if (const int code = file_of<DatabaseFile>(file).take_failure(); code != SQLITE_OK) return code;
  return Pass<DatabaseFile, &sqlite3_io_methods::xTruncate>::call(file, size);
}

int sync_database(sqlite3_file* file, int flags) {
  if (const int code = file_of<DatabaseFile>(file).take_failure(); code != SQLITE_OK) return code;
  return Pass<DatabaseFile, &sqlite3_io_methods::xSync>::call(file, flags);
}

int lock_log(sqlite3_file* file, int first, int count, int flags) {
  const int code =
      Pass<DatabaseFile, &sqlite3_io_methods::xShmLock>::call(file, first, count, flags);
  const bool is_write_lock = first <= kWriteLock && kWriteLock < first + count;
  if (code == SQLITE_OK && is_write_lock) {
    constexpr int kExclusive = SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE;
    file_of<DatabaseFile>(file).is_only_writer = (flags & kExclusive) == kExclusive;
  }
  return code;
}

sqlite3_io_methods make_methods(int version) {
  using Methods = sqlite3_io_methods;
  Methods methods = passing_methods<DatabaseFile>();
  methods.iVersion = version;
  methods.xTruncate = truncate_database;
  methods.xSync = sync_database;
  methods.xFileControl = control_database;
  methods.xShmMap = Pass<DatabaseFile, &Methods::xShmMap>::call;
  methods.xShmLock = lock_log;
  methods.xShmBarrier = Pass<DatabaseFile, &Methods::xShmBarrier>::call;
  methods.xShmUnmap = Pass<DatabaseFile, &Methods::xShmUnmap>::call;
  methods.xFetch = Pass<DatabaseFile, &Methods::xFetch>::call;
  methods.xUnfetch = Pass<DatabaseFile, &Methods::xUnfetch>::call;
  return methods;
}

}  // namespace

int DatabaseFile::write(Bytes bytes, sqlite3_int64 offset) {
  sqlite3_file* real = real_file(*this);
  if (is_gathering) return gathered.add(real, bytes, offset);
  return real->pMethods->xWrite(real, bytes.data(), static_cast<int>(bytes.size()), offset);
}

void DatabaseFile::begin_copy() {
  failure = SQLITE_OK;
  ++copies;
  is_gathering = is_only_writer && is_complete_copy();
}

void DatabaseFile::end_copy() {
  if (std::exchange(is_gathering, false)) failure = gathered.flush(real_file(*this));
}

int DatabaseFile::take_failure() { return std::exchange(failure, SQLITE_OK); }

bool DatabaseFile::is_complete_copy() {
  sqlite3_file* real = real_file(*this);
  void volatile* region = nullptr;
  const int code = real->pMethods->xShmMap(real, 0, kIndexRegion, 0, &region);
  if (code != SQLITE_OK || !region) return false;
  auto* index = static_cast<std::uint32_t*>(const_cast<void*>(region));
  return load_number(index, 0) == kIndexVersion &&
         load_number(index, kFrames) == load_number(index, kFramesToCopy);
}

const sqlite3_io_methods& database_file_methods(const sqlite3_io_methods& behind) {
  static const std::array<sqlite3_io_methods, 3> methods = {make_methods(1), make_methods(2),
                                                            make_methods(3)};
  const bool shares_memory = behind.iVersion >= 2 && behind.xShmMap;
  const int version = shares_memory ? std::min(behind.iVersion, 3) : 1;
  return methods[static_cast<std::size_t>(version) - 1];
}

DatabaseFile* as_database_file(sqlite3_file* file) {
  const bool is_one = file && file->pMethods && file->pMethods->xWrite == write_file<DatabaseFile>;
  return is_one ? &file_of<DatabaseFile>(file) : nullptr;
}

}  // namespace clew::sqlite

#include "checkpoint/sqlite/log_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include <clew/errors.hpp>

#include "checkpoint/sqlite/log_file.hpp"

namespace clew::sqlite {
namespace {

constexpr std::string_view kPrefix = "clew-log-";

sqlite3_vfs* real_of(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

// A method that passes the call on, to the VFS behind.
template <auto Method>
struct PassToVfs;

template <class Result, class... Arguments,
          Result (*sqlite3_vfs::*Method)(sqlite3_vfs*, Arguments...)>
struct PassToVfs<Method> {
  static Result call(sqlite3_vfs* vfs, Arguments... arguments) {
    return (real_of(vfs)->*Method)(real_of(vfs), arguments...);
  }
};

// Opens the file behind. Null if that failed: `code` says how.
template <class File>
File* open_behind(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags,
                  int& code) {
  auto* made = new (file) File{};
  code = real_of(vfs)->xOpen(real_of(vfs), name, real_file(*made), flags, out_flags);
  if (code == SQLITE_OK) return made;
  made->~File();
  file->pMethods = nullptr;
  return nullptr;
}

int open_database(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                  int* out_flags) {
  int code = SQLITE_OK;
  if (auto* opened = open_behind<DatabaseFile>(vfs, name, file, flags, out_flags, code)) {
    opened->base.pMethods = &database_file_methods(*real_file(*opened)->pMethods);
  }
  return code;
}

int open_log(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  int code = SQLITE_OK;
  if (auto* opened = open_behind<LogFile>(vfs, name, file, flags, out_flags, code)) {
    opened->base.pMethods = &log_file_methods();
    opened->database = as_database_file(sqlite3_database_file_object(name));
    // Where a torn write can hurt its neighbours, SQLite syncs in the midst of a frame.
    const int device = opened->base.pMethods->xDeviceCharacteristics(file);
    opened->is_gathering = (device & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
  }
  return code;
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return open_database(vfs, name, file, flags, out_flags);
  if ((flags & SQLITE_OPEN_WAL) != 0) return open_log(vfs, name, file, flags, out_flags);
  return real_of(vfs)->xOpen(real_of(vfs), name, file, flags, out_flags);
}

sqlite3_vfs make_vfs(sqlite3_vfs* real, const char* name) {
  using Vfs = sqlite3_vfs;
  constexpr auto kOwnPart = static_cast<int>(std::max(sizeof(LogFile), sizeof(DatabaseFile)));
  Vfs vfs = *real;
  vfs.iVersion = std::min(real->iVersion, 2);
  vfs.szOsFile = kOwnPart + real->szOsFile;
  vfs.pNext = nullptr;
  vfs.zName = name;
  vfs.pAppData = real;
  vfs.xOpen = open_file;
  vfs.xDelete = PassToVfs<&Vfs::xDelete>::call;
  vfs.xAccess = PassToVfs<&Vfs::xAccess>::call;
  vfs.xFullPathname = PassToVfs<&Vfs::xFullPathname>::call;
  vfs.xDlOpen = PassToVfs<&Vfs::xDlOpen>::call;
  vfs.xDlError = PassToVfs<&Vfs::xDlError>::call;
  vfs.xDlClose = PassToVfs<&Vfs::xDlClose>::call;
  vfs.xRandomness = PassToVfs<&Vfs::xRandomness>::call;
  vfs.xSleep = PassToVfs<&Vfs::xSleep>::call;
  vfs.xCurrentTime = PassToVfs<&Vfs::xCurrentTime>::call;
  vfs.xGetLastError = PassToVfs<&Vfs::xGetLastError>::call;
  vfs.xCurrentTimeInt64 = PassToVfs<&Vfs::xCurrentTimeInt64>::call;
  return vfs;
}

}  // namespace

// Made once for each VFS behind, and never removed: files may be open until the end.
const char* log_vfs() {
  struct Made {
    std::string name;
    sqlite3_vfs vfs;
  };
  static std::mutex mutex;
  static auto& made = *new std::map<sqlite3_vfs*, Made>;
  const std::lock_guard lock(mutex);
  sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
  if (!real) throw StorageError("this SQLite has no VFS to open files with");
  const auto [entry, is_new] = made.try_emplace(real);
  Made& found = entry->second;
  if (is_new) {
    found.name = std::string(kPrefix) + real->zName;
    found.vfs = make_vfs(real, found.name.c_str());
    sqlite3_vfs_register(&found.vfs, 0);
  }
  return found.name.c_str();
}

}  // namespace clew::sqlite

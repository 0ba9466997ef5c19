#include "checkpoint/sqlite/log_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/errors.hpp>

namespace clew::sqlite {
namespace {

constexpr std::string_view kPrefix = "clew-log-";

// The most that a VFS may expect to be given at once: SQLite's largest page.
constexpr std::size_t kMostGathered = 64 << 10;

// A frame of the log is a header and a page. If the second number of the header
// is not zero, the frame is the last of its commit.
constexpr std::size_t kFrameHeader = 24;
constexpr std::size_t kCommitMark = 4;

// How much the log is written ahead: as much again as there is, within these limits. One
// of a few commits may end where it is.
constexpr sqlite3_int64 kLeastAhead = 64 << 10;
constexpr sqlite3_int64 kMostAhead = 1 << 20;

using Bytes = std::span<const std::uint8_t>;

bool ends_commit(Bytes header) {
  const Bytes mark = header.subspan(kCommitMark, 4);
  return std::ranges::any_of(mark, [](std::uint8_t byte) { return byte != 0; });
}

// The log as SQLite sees it. Begins with the base class of SQLite's interface;
// the file of the VFS behind it lies in memory after it.
struct LogFile {
  sqlite3_file base;
  std::vector<std::uint8_t> gathered;  // what is not yet written, and
  sqlite3_int64 begin = 0;             // where it belongs
  sqlite3_int64 end = -1;              // where the last write ended
  bool is_gathering = false;
  sqlite3_int64 room = 0;   // how far the file reached when it was last looked at
  bool was_synced = false;  // since the last commit
  enum { nothing, header, last_header } expects_page_of = nothing;

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }

  int write(Bytes bytes, sqlite3_int64 offset) {
    const bool follows = is_gathering && offset == end;
    if (!follows) expects_page_of = nothing;
    const bool is_followed = follows && more_follows(bytes);
    end = offset + static_cast<sqlite3_int64>(bytes.size());
    if (!follows || gathered.size() + bytes.size() > kMostGathered) {
      if (const int code = flush(); code != SQLITE_OK) return code;
    }
    if (gathered.empty()) begin = offset;
    gathered.insert(gathered.end(), bytes.begin(), bytes.end());
    if (is_followed) return SQLITE_OK;
    const int code = flush();
    if (code == SQLITE_OK && std::exchange(was_synced, false)) make_room();
    return code;
  }

  // Whether these bytes, appended to the log, cannot be the last of a commit.
  bool more_follows(Bytes bytes) {
    const auto expected = std::exchange(expects_page_of, nothing);
    if (expected != nothing) return expected == header;
    if (bytes.size() != kFrameHeader) return false;
    expects_page_of = ends_commit(bytes) ? last_header : header;
    return true;
  }

  // If this fails, SQLite gives the commit up, and nothing follows what was written.
  int flush() {
    if (gathered.empty()) return SQLITE_OK;
    const int code =
        real()->pMethods->xWrite(real(), gathered.data(), static_cast<int>(gathered.size()), begin);
    gathered.clear();
    if (code != SQLITE_OK) end = -1;
    return code;
  }

  // Called only while SQLite writes: whoever does holds the lock for it, so nobody else
  // writes behind the end of the file. SQLite reads zeros as the end of the log.
  void make_room() noexcept {
    static constexpr std::array<std::uint8_t, kMostGathered> kZeros{};
    sqlite3_int64 size = 0;
    if (end <= room || real()->pMethods->xFileSize(real(), &size) != SQLITE_OK) return;
    room = size;
    if (size != end || size < kLeastAhead) return;
    const sqlite3_int64 wanted = size + std::min(size, kMostAhead);
    while (room < wanted) {
      const int bytes = static_cast<int>(kZeros.size());
      // If there is no space for them, there was for what matters.
      if (real()->pMethods->xWrite(real(), kZeros.data(), bytes, room) != SQLITE_OK) return;
      room += bytes;
    }
  }
};

LogFile& of(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

// Methods that pass the call on, to the VFS or the file behind; those that look
// at what is written write first what is gathered.
template <auto Method>
struct Pass;
template <auto Method>
struct Flush;

template <class... Arguments, int (*sqlite3_io_methods::*Method)(sqlite3_file*, Arguments...)>
struct Pass<Method> {
  static int call(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* real = of(file).real();
    return (real->pMethods->*Method)(real, arguments...);
  }
};

template <class... Arguments, int (*sqlite3_io_methods::*Method)(sqlite3_file*, Arguments...)>
struct Flush<Method> {
  static int call(sqlite3_file* file, Arguments... arguments) {
    const int code = of(file).flush();
    return code == SQLITE_OK ? Pass<Method>::call(file, arguments...) : code;
  }
};

sqlite3_vfs* real_of(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

template <class Result, class... Arguments,
          Result (*sqlite3_vfs::*Method)(sqlite3_vfs*, Arguments...)>
struct Pass<Method> {
  static Result call(sqlite3_vfs* vfs, Arguments... arguments) {
    return (real_of(vfs)->*Method)(real_of(vfs), arguments...);
  }
};

int write_log(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  try {
    const Bytes view(static_cast<const std::uint8_t*>(bytes), static_cast<std::size_t>(size));
    return of(file).write(view, offset);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int sync_log(sqlite3_file* file, int flags) {
  of(file).was_synced = true;
  return Flush<&sqlite3_io_methods::xSync>::call(file, flags);
}

int truncate_log(sqlite3_file* file, sqlite3_int64 size) {
  of(file).room = 0;
  return Flush<&sqlite3_io_methods::xTruncate>::call(file, size);
}

// What is left was never committed.
int close_log(sqlite3_file* file) {
  sqlite3_file* real = of(file).real();
  const int code = real->pMethods->xClose(real);
  of(file).~LogFile();
  return code;
}

sqlite3_io_methods make_methods() {
  using Methods = sqlite3_io_methods;
  Methods methods{};
  methods.iVersion = 1;
  methods.xClose = close_log;
  methods.xRead = Flush<&Methods::xRead>::call;
  methods.xWrite = write_log;
  methods.xTruncate = truncate_log;
  methods.xSync = sync_log;
  methods.xFileSize = Flush<&Methods::xFileSize>::call;
  methods.xLock = Pass<&Methods::xLock>::call;
  methods.xUnlock = Pass<&Methods::xUnlock>::call;
  methods.xCheckReservedLock = Pass<&Methods::xCheckReservedLock>::call;
  methods.xFileControl = Pass<&Methods::xFileControl>::call;
  methods.xSectorSize = Pass<&Methods::xSectorSize>::call;
  methods.xDeviceCharacteristics = Pass<&Methods::xDeviceCharacteristics>::call;
  return methods;
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* real = real_of(vfs);
  if ((flags & SQLITE_OPEN_WAL) == 0) return real->xOpen(real, name, file, flags, out_flags);
  auto* log = new (file) LogFile{};
  const int code = real->xOpen(real, name, log->real(), flags, out_flags);
  if (code != SQLITE_OK) {
    log->~LogFile();
    file->pMethods = nullptr;
    return code;
  }
  static const sqlite3_io_methods methods = make_methods();
  log->base.pMethods = &methods;
  // Where a torn write can hurt its neighbours, SQLite syncs in the midst of a frame.
  const int device = log->real()->pMethods->xDeviceCharacteristics(log->real());
  log->is_gathering = (device & SQLITE_IOCAP_POWERSAFE_OVERWRITE) != 0;
  return SQLITE_OK;
}

sqlite3_vfs make_vfs(sqlite3_vfs* real, const char* name) {
  using Vfs = sqlite3_vfs;
  Vfs vfs = *real;
  vfs.iVersion = std::min(real->iVersion, 2);
  vfs.szOsFile = static_cast<int>(sizeof(LogFile)) + real->szOsFile;
  vfs.pNext = nullptr;
  vfs.zName = name;
  vfs.pAppData = real;
  vfs.xOpen = open_file;
  vfs.xDelete = Pass<&Vfs::xDelete>::call;
  vfs.xAccess = Pass<&Vfs::xAccess>::call;
  vfs.xFullPathname = Pass<&Vfs::xFullPathname>::call;
  vfs.xDlOpen = Pass<&Vfs::xDlOpen>::call;
  vfs.xDlError = Pass<&Vfs::xDlError>::call;
  vfs.xDlClose = Pass<&Vfs::xDlClose>::call;
  vfs.xRandomness = Pass<&Vfs::xRandomness>::call;
  vfs.xSleep = Pass<&Vfs::xSleep>::call;
  vfs.xCurrentTime = Pass<&Vfs::xCurrentTime>::call;
  vfs.xGetLastError = Pass<&Vfs::xGetLastError>::call;
  vfs.xCurrentTimeInt64 = Pass<&Vfs::xCurrentTimeInt64>::call;
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

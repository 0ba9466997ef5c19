#include "checkpoint/sqlite/log_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

namespace clew::sqlite {
namespace {

// A frame of the log is a header and a page. If the second number of the header
// is not zero, the frame is the last of its commit.
constexpr std::size_t kFrameHeader = 24;
constexpr std::size_t kCommitMark = 4;

// How much the log is written ahead: as much again as there is, within these limits. One
// of a few commits may end where it is. What a larger commit takes longer to sync is little
// beside the commit itself.
constexpr sqlite3_int64 kLeastAhead = 64 << 10;
constexpr sqlite3_int64 kMostAhead = 1 << 20;
constexpr std::size_t kLargeCommit = 128 << 10;

// How much of it is read at a time while it is copied. Less takes more calls, more is no quicker.
constexpr std::size_t kMostReadAhead = 128 << 10;

bool ends_commit(Bytes header) {
  const Bytes mark = header.subspan(kCommitMark, 4);
  return std::ranges::any_of(mark, [](std::uint8_t byte) { return byte != 0; });
}

// A method that passes the call on, and writes first what is gathered: it looks at what is
// written.
template <auto Method>
struct Flush;

template <class... Arguments, int (*sqlite3_io_methods::*Method)(sqlite3_file*, Arguments...)>
struct Flush<Method> {
  static int call(sqlite3_file* file, Arguments... arguments) {
    const int code = file_of<LogFile>(file).flush();
    return code == SQLITE_OK ? Pass<LogFile, Method>::call(file, arguments...) : code;
  }
};

int read_log(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  try {
    return file_of<LogFile>(file).read(
        {static_cast<std::uint8_t*>(bytes), static_cast<std::size_t>(size)}, offset);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int sync_log(sqlite3_file* file, int flags) {
  file_of<LogFile>(file).was_synced = true;
  return Flush<&sqlite3_io_methods::xSync>::call(file, flags);
}

int truncate_log(sqlite3_file* file, sqlite3_int64 size) {
  file_of<LogFile>(file).room = 0;
  return Flush<&sqlite3_io_methods::xTruncate>::call(file, size);
}

// What is left when it is closed was never committed.
sqlite3_io_methods make_methods() {
  using Methods = sqlite3_io_methods;
  Methods methods = passing_methods<LogFile>();
  methods.xRead = read_log;
  methods.xTruncate = truncate_log;
  methods.xSync = sync_log;
  methods.xFileSize = Flush<&Methods::xFileSize>::call;
  return methods;
}

}  // namespace

// Writing -----------------------------------------------------------------------------

int LogFile::write(Bytes bytes, sqlite3_int64 offset) {
  const bool follows = is_gathering && offset == end;
  if (!follows) {
    expects_page_of = nothing;
    commit_bytes = 0;
  }
  const bool is_followed = follows && more_follows(bytes);
  end = offset + static_cast<sqlite3_int64>(bytes.size());
  commit_bytes += bytes.size();
  if (const int code = gathered.add(real_file(*this), bytes, offset); code != SQLITE_OK) {
    end = -1;
    return code;
  }
  if (is_followed) return SQLITE_OK;
  const int code = flush();
  const bool is_large = std::exchange(commit_bytes, 0) > kLargeCommit;
  if (code == SQLITE_OK && std::exchange(was_synced, false) && !is_large) make_room();
  return code;
}

// Whether these bytes, appended to the log, cannot be the last of a commit.
bool LogFile::more_follows(Bytes bytes) {
  const auto expected = std::exchange(expects_page_of, nothing);
  if (expected != nothing) return expected == header;
  if (bytes.size() != kFrameHeader) return false;
  expects_page_of = ends_commit(bytes) ? last_header : header;
  return true;
}

// If this fails, SQLite gives the commit up, and nothing follows what was written.
int LogFile::flush() {
  const int code = gathered.flush(real_file(*this));
  if (code != SQLITE_OK) end = -1;
  return code;
}

// Called only while SQLite writes: whoever does holds the lock for it, so nobody else
// writes behind the end of the file. SQLite reads zeros as the end of the log.
void LogFile::make_room() noexcept {
  static constexpr std::array<std::uint8_t, GatheredWrites::kMost> kZeros{};
  sqlite3_file* real = real_file(*this);
  sqlite3_int64 size = 0;
  if (end <= room || real->pMethods->xFileSize(real, &size) != SQLITE_OK) return;
  room = size;
  if (size != end || size < kLeastAhead) return;
  const sqlite3_int64 wanted = size + std::min(size, kMostAhead);
  while (room < wanted) {
    const int bytes = static_cast<int>(GatheredWrites::room_at(room));
    // If there is no space for them, there was for what matters.
    if (real->pMethods->xWrite(real, kZeros.data(), bytes, room) != SQLITE_OK) return;
    room += bytes;
  }
}

// Reading -----------------------------------------------------------------------------

int LogFile::read(std::span<std::uint8_t> bytes, sqlite3_int64 offset) {
  if (const int code = flush(); code != SQLITE_OK) return code;
  const bool is_copied = database && database->is_gathering;
  if (!is_copied || std::exchange(copy, database->copies) != database->copies) {
    ahead = {};
    copied_size = -1;
  }
  if (is_copied && read_ahead(bytes.size(), offset)) {
    std::memcpy(bytes.data(), ahead.data() + (offset - ahead_begin), bytes.size());
    return SQLITE_OK;
  }
  sqlite3_file* real = real_file(*this);
  return real->pMethods->xRead(real, bytes.data(), static_cast<int>(bytes.size()), offset);
}

// Whether what is wanted is there. What follows the page that was read last, or last from there,
// is read with it: nobody writes to the log now.
bool LogFile::read_ahead(std::size_t wanted, sqlite3_int64 offset) {
  const auto size = static_cast<sqlite3_int64>(wanted);
  const auto is_there = [&] {
    return ahead_begin <= offset &&
           offset + size <= ahead_begin + static_cast<sqlite3_int64>(ahead.size());
  };
  const sqlite3_int64 previous = offset - static_cast<sqlite3_int64>(kFrameHeader);
  const bool follows = previous == read_end || previous == run_end;
  read_end = offset + size;
  if (!is_there() && (!follows || !fill_ahead(offset))) return false;
  run_end = read_end;
  return is_there();
}

bool LogFile::fill_ahead(sqlite3_int64 offset) {
  sqlite3_file* real = real_file(*this);
  sqlite3_int64 size = copied_size;
  if (size < 0 && real->pMethods->xFileSize(real, &size) != SQLITE_OK) return false;
  copied_size = size;
  const auto left = static_cast<std::size_t>(std::max<sqlite3_int64>(0, copied_size - offset));
  ahead.resize(std::min(kMostReadAhead, left));
  ahead_begin = offset;
  const int code =
      real->pMethods->xRead(real, ahead.data(), static_cast<int>(ahead.size()), offset);
  if (code != SQLITE_OK) ahead.clear();
  return code == SQLITE_OK;
}

const sqlite3_io_methods& log_file_methods() {
  static const sqlite3_io_methods methods = make_methods();
  return methods;
}

}  // namespace clew::sqlite

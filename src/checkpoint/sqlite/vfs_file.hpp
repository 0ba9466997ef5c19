// What the files of a VFS that stands in front of another have in common: each is followed
// in memory by the file of the VFS behind, which does what is not done here.
#pragma once

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace clew::sqlite {

using Bytes = std::span<const std::uint8_t>;

// `File` begins with SQLite's base class.
template <class File>
File& file_of(sqlite3_file* file) {
  return *reinterpret_cast<File*>(file);
}

template <class File>
sqlite3_file* real_file(File& file) {
  return reinterpret_cast<sqlite3_file*>(&file + 1);
}

// A method of `File` that passes the call on.
template <class File, auto Method>
struct Pass;

template <class File, class Result, class... Arguments,
          Result (*sqlite3_io_methods::*Method)(sqlite3_file*, Arguments...)>
struct Pass<File, Method> {
  static Result call(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* real = real_file(file_of<File>(file));
    return (real->pMethods->*Method)(real, arguments...);
  }
};

// SQLite, written in C, hears of an error by its code.
template <class File>
int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  try {
    const Bytes view(static_cast<const std::uint8_t*>(bytes), static_cast<std::size_t>(size));
    return file_of<File>(file).write(view, offset);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

template <class File>
int close_file(sqlite3_file* file) {
  File& closed = file_of<File>(file);
  sqlite3_file* real = real_file(closed);
  const int code = real->pMethods->xClose(real);
  closed.~File();
  return code;
}

// The methods of version 1, of which others that do something here are to be replaced.
template <class File>
sqlite3_io_methods passing_methods() {
  using Methods = sqlite3_io_methods;
  Methods methods{};
  methods.iVersion = 1;
  methods.xClose = close_file<File>;
  methods.xRead = Pass<File, &Methods::xRead>::call;
  methods.xWrite = write_file<File>;
  methods.xTruncate = Pass<File, &Methods::xTruncate>::call;
  methods.xSync = Pass<File, &Methods::xSync>::call;
  methods.xFileSize = Pass<File, &Methods::xFileSize>::call;
  methods.xLock = Pass<File, &Methods::xLock>::call;
  methods.xUnlock = Pass<File, &Methods::xUnlock>::call;
  methods.xCheckReservedLock = Pass<File, &Methods::xCheckReservedLock>::call;
  methods.xFileControl = Pass<File, &Methods::xFileControl>::call;
  methods.xSectorSize = Pass<File, &Methods::xSectorSize>::call;
  methods.xDeviceCharacteristics = Pass<File, &Methods::xDeviceCharacteristics>::call;
  return methods;
}

// Writes to a file that follow each other, which are given to the system as one. None reaches over
// a multiple of what one has at most: what lies between two such places the system keeps in one
// piece of memory then, if it can, which is written in less time.
class GatheredWrites {
 public:
  // The most that a VFS may expect to be given at once: SQLite's largest page.
  static constexpr std::size_t kMost = 64 << 10;

  // How much there is from `offset` to the next such multiple.
  static std::size_t room_at(sqlite3_int64 offset) {
    return kMost - static_cast<std::size_t>(offset) % kMost;
  }

  // What is complete, or does not follow, is written.
  int add(sqlite3_file* file, Bytes bytes, sqlite3_int64 offset) {
    const bool follows = begin_ + static_cast<sqlite3_int64>(bytes_.size()) == offset;
    int code = follows ? SQLITE_OK : flush(file);
    while (code == SQLITE_OK && !bytes.empty()) {
      if (bytes_.empty()) begin_ = offset;
      const Bytes part = bytes.first(std::min(bytes.size(), room_at(offset)));
      bytes_.insert(bytes_.end(), part.begin(), part.end());
      bytes = bytes.subspan(part.size());
      offset += static_cast<sqlite3_int64>(part.size());
      if (room_at(offset) == kMost) code = flush(file);
    }
    return code;
  }

  // Whatever comes of it, nothing is left.
  int flush(sqlite3_file* file) {
    if (bytes_.empty()) return SQLITE_OK;
    const int code =
        file->pMethods->xWrite(file, bytes_.data(), static_cast<int>(bytes_.size()), begin_);
    bytes_.clear();
    return code;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  sqlite3_int64 begin_ = 0;
};

}  // namespace clew::sqlite

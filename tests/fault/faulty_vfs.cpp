#include "faulty_vfs.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace clew::fault {
namespace {

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Something done to a file that is not synced yet.
struct Change {
  std::uint64_t offset = 0;  // of the bytes, or the new size
  std::string bytes = {};
  bool is_truncation = false;

  void apply(std::string& content) const {
    if (is_truncation) {
      content.resize(offset);
      return;
    }
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    content.replace(offset, bytes.size(), bytes);
  }
};

// What the device holds for sure of a file, and what it may hold besides.
struct Image {
  std::optional<std::string> synced;
  std::vector<Change> unsynced = {};
};

class Disk {
 public:
  void install(const FaultPlan& plan) {
    plan_ = plan;
    random_.seed(static_cast<std::uint32_t>(plan.seed));
  }

  // What happens to the next operation.
  Fault next(bool is_read = false) {
    const std::lock_guard lock(mutex_);
    if (is_read != (plan_.fault == Fault::read_error)) return Fault::none;
    ++operations_;
    const bool is_hit = plan_.stays ? operations_ >= plan_.at : operations_ == plan_.at;
    return plan_.at != 0 && is_hit ? plan_.fault : Fault::none;
  }

  std::uint64_t operations() {
    const std::lock_guard lock(mutex_);
    return operations_;
  }

  void open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!images_.contains(path)) images_[path] = {read_file(path)};
  }

  void change(const std::string& path, Change change) {
    const std::lock_guard lock(mutex_);
    images_[path].unsynced.push_back(std::move(change));
  }

  void sync(const std::string& path) {
    const std::lock_guard lock(mutex_);
    images_[path] = {read_file(path)};
  }

  void remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    images_.erase(path);
  }

  [[noreturn]] void lose_power() {
    const std::lock_guard lock(mutex_);
    for (auto& [path, image] : images_) restore(path, image);
    ::kill(::getpid(), SIGKILL);
    while (true) ::pause();
  }

 private:
  void restore(const std::string& path, Image& image) {
    std::optional<std::string> content = std::move(image.synced);
    for (Change& change : image.unsynced) {
      if (!survives(change)) continue;
      if (!content) content.emplace();
      change.apply(*content);
    }
    std::filesystem::remove(path + "-shm");
    if (!content) {
      std::filesystem::remove(path);
      return;
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << *content;
  }

  // Changes reach the device in any order, and writes in sectors.
  bool survives(Change& change) {
    if (plan_.seed == 0 || random_() % 2 == 0) return false;
    constexpr std::size_t kSector = 512;
    const std::size_t sectors = change.bytes.size() / kSector;
    if (sectors > 1 && random_() % 3 == 0) change.bytes.resize(random_() % sectors * kSector);
    return true;
  }

  std::mutex mutex_;
  FaultPlan plan_;
  std::minstd_rand random_;
  std::uint64_t operations_ = 0;
  std::map<std::string, Image> images_;
};

Disk& disk() {
  static Disk made;
  return made;
}

// A file as SQLite sees it; the real one lies behind it in memory. Of files that
// are not of a database, `path` is empty: nothing happens to them.
struct FaultyFile {
  sqlite3_file base;
  sqlite3_file* real;
  std::string path;
};

FaultyFile& of(sqlite3_file* file) { return *reinterpret_cast<FaultyFile*>(file); }
sqlite3_file* real_of(sqlite3_file* file) { return of(file).real; }

Fault next_fault(const FaultyFile& file) { return file.path.empty() ? Fault::none : disk().next(); }

// Reading and writing ------------------------------------------------------------------------

int read_from_file(sqlite3_file* base, void* bytes, int size, sqlite3_int64 offset) {
  const FaultyFile& file = of(base);
  if (!file.path.empty() && disk().next(true) != Fault::none) return SQLITE_IOERR_READ;
  return file.real->pMethods->xRead(file.real, bytes, size, offset);
}

int write_now(FaultyFile& file, const void* bytes, int size, sqlite3_int64 offset) {
  const int code = file.real->pMethods->xWrite(file.real, bytes, size, offset);
  if (code == SQLITE_OK && !file.path.empty()) {
    disk().change(file.path,
                  {static_cast<std::uint64_t>(offset),
                   std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))});
  }
  return code;
}

int write_file(sqlite3_file* base, const void* bytes, int size, sqlite3_int64 offset) {
  FaultyFile& file = of(base);
  switch (next_fault(file)) {
    case Fault::io_error: return SQLITE_IOERR_WRITE;
    case Fault::disk_full: return SQLITE_FULL;
    case Fault::torn_write: write_now(file, bytes, size / 2, offset); return SQLITE_IOERR_WRITE;
    case Fault::power_loss: write_now(file, bytes, size, offset); disk().lose_power();
    case Fault::none:
    case Fault::read_error: break;
  }
  return write_now(file, bytes, size, offset);
}

int truncate_file(sqlite3_file* base, sqlite3_int64 size) {
  FaultyFile& file = of(base);
  const Fault fault = next_fault(file);
  if (fault == Fault::power_loss) disk().lose_power();
  if (fault == Fault::io_error || fault == Fault::torn_write) return SQLITE_IOERR_TRUNCATE;
  const int code = file.real->pMethods->xTruncate(file.real, size);
  if (code == SQLITE_OK && !file.path.empty()) {
    disk().change(file.path, {static_cast<std::uint64_t>(size), {}, true});
  }
  return code;
}

int sync_file(sqlite3_file* base, int flags) {
  FaultyFile& file = of(base);
  const Fault fault = next_fault(file);
  if (fault == Fault::power_loss) disk().lose_power();
  if (fault == Fault::io_error || fault == Fault::torn_write) return SQLITE_IOERR_FSYNC;
  const int code = file.real->pMethods->xSync(file.real, flags);
  if (code == SQLITE_OK && !file.path.empty()) disk().sync(file.path);
  return code;
}

// The rest passes through ---------------------------------------------------------

int close_file(sqlite3_file* base) {
  const int code = real_of(base)->pMethods->xClose(real_of(base));
  of(base).~FaultyFile();
  return code;
}

int file_size(sqlite3_file* base, sqlite3_int64* size) {
  return real_of(base)->pMethods->xFileSize(real_of(base), size);
}

int lock_file(sqlite3_file* base, int level) {
  return real_of(base)->pMethods->xLock(real_of(base), level);
}

int unlock_file(sqlite3_file* base, int level) {
  return real_of(base)->pMethods->xUnlock(real_of(base), level);
}

int check_reserved_lock(sqlite3_file* base, int* result) {
  return real_of(base)->pMethods->xCheckReservedLock(real_of(base), result);
}

int control_file(sqlite3_file* base, int operation, void* argument) {
  return real_of(base)->pMethods->xFileControl(real_of(base), operation, argument);
}

int sector_size(sqlite3_file* base) { return real_of(base)->pMethods->xSectorSize(real_of(base)); }

int device_characteristics(sqlite3_file* base) {
  return real_of(base)->pMethods->xDeviceCharacteristics(real_of(base));
}

int map_shared(sqlite3_file* base, int page, int size, int extend, void volatile** memory) {
  return real_of(base)->pMethods->xShmMap(real_of(base), page, size, extend, memory);
}

int lock_shared(sqlite3_file* base, int offset, int count, int flags) {
  return real_of(base)->pMethods->xShmLock(real_of(base), offset, count, flags);
}

void shared_barrier(sqlite3_file* base) { real_of(base)->pMethods->xShmBarrier(real_of(base)); }

int unmap_shared(sqlite3_file* base, int remove) {
  return real_of(base)->pMethods->xShmUnmap(real_of(base), remove);
}

// Version 2: without the methods that map a file into memory, past us.
constexpr sqlite3_io_methods kMethods{2,
                                      close_file,
                                      read_from_file,
                                      write_file,
                                      truncate_file,
                                      sync_file,
                                      file_size,
                                      lock_file,
                                      unlock_file,
                                      check_reserved_lock,
                                      control_file,
                                      sector_size,
                                      device_characteristics,
                                      map_shared,
                                      lock_shared,
                                      shared_barrier,
                                      unmap_shared,
                                      nullptr,
                                      nullptr};

// Files ---------------------------------------------------------------------------

sqlite3_vfs* real_vfs(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* base, int flags, int* out_flags) {
  constexpr int kWatched = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
  auto* file = new (base) FaultyFile{};
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  if (name && (flags & kWatched) != 0) file->path = name;
  const Fault fault = next_fault(*file);
  if (fault == Fault::power_loss) disk().lose_power();
  int code = SQLITE_CANTOPEN;
  if (fault == Fault::none) {
    if (!file->path.empty()) disk().open(file->path);
    code = real_vfs(vfs)->xOpen(real_vfs(vfs), name, file->real, flags, out_flags);
  }
  if (code == SQLITE_OK) {
    file->base.pMethods = &kMethods;
  } else {
    file->~FaultyFile();
    base->pMethods = nullptr;
  }
  return code;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  const Fault fault = disk().next();
  if (fault == Fault::power_loss) disk().lose_power();
  if (fault == Fault::io_error || fault == Fault::torn_write) return SQLITE_IOERR_DELETE;
  const int code = real_vfs(vfs)->xDelete(real_vfs(vfs), name, sync_folder);
  if (code == SQLITE_OK) disk().remove(name);
  return code;
}

}  // namespace

void install_faulty_disk(const FaultPlan& plan) {
  disk().install(plan);
  sqlite3_vfs* real = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs faulty = *real;
  faulty.szOsFile = static_cast<int>(sizeof(FaultyFile)) + real->szOsFile;
  faulty.zName = "faulty";
  faulty.pNext = nullptr;
  faulty.pAppData = real;
  faulty.xOpen = open_file;
  faulty.xDelete = delete_file;
  sqlite3_vfs_register(&faulty, 1);
}

std::uint64_t disk_operations() { return disk().operations(); }

}  // namespace clew::fault

#include "slow_disk.hpp"

#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace clew::bench {
namespace {

using Sync = int (*)(sqlite3_file*, int);

// The methods of files that were opened here, and how the real ones sync.
struct SlowMethods {
  sqlite3_io_methods methods;
  Sync real_sync;
};

std::mutex mutex;
std::map<const sqlite3_io_methods*, SlowMethods> slow_methods;  // by the real ones

int sync_slowly(sqlite3_file* file, int flags) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return reinterpret_cast<const SlowMethods*>(file->pMethods)->real_sync(file, flags);
}

const sqlite3_io_methods* slowed(const sqlite3_io_methods* real) {
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = slow_methods.try_emplace(real, SlowMethods{*real, real->xSync});
  if (is_new) entry->second.methods.xSync = sync_slowly;
  return &entry->second.methods;
}

int open_slowly(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  auto* real = static_cast<sqlite3_vfs*>(vfs->pAppData);
  const int code = real->xOpen(real, name, file, flags, out_flags);
  if (file->pMethods) file->pMethods = slowed(file->pMethods);
  return code;
}

sqlite3_vfs& slow_vfs(sqlite3_vfs* real) {
  static sqlite3_vfs vfs = [real] {
    sqlite3_vfs made = *real;
    made.pNext = nullptr;
    made.zName = "clew-bench-slow";
    made.pAppData = real;
    made.xOpen = open_slowly;
    return made;
  }();
  return vfs;
}

}  // namespace

SlowDisk::SlowDisk() : real_(sqlite3_vfs_find(nullptr)) {
  sqlite3_vfs_register(&slow_vfs(real_), 1);
}

SlowDisk::~SlowDisk() {
  sqlite3_vfs_register(real_, 1);  // the default again
}

}  // namespace clew::bench

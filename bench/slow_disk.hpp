// A disk on which a sync takes a millisecond longer than on the one that is there: about what
// a write that is certain to last takes on the disks of most machines. On those of virtual
// machines it often takes a tenth of that.
#pragma once

#include <sqlite3.h>

namespace clew::bench {

// SQLite's default for files that are opened while it lives, which must be closed before.
class SlowDisk {
 public:
  SlowDisk();
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;
  ~SlowDisk();

 private:
  sqlite3_vfs* real_;
};

}  // namespace clew::bench

// A shared mutex on which nobody waits for ever.
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace clew::store {

// std::shared_mutex may let readers overtake a change again and again. Here
// whoever comes while a change waits stands behind it.
class FairSharedMutex {
 public:
  void lock() {
    ++waiting_;
    const std::scoped_lock turn(turn_);
    mutex_.lock();
    --waiting_;
  }
  void unlock() { mutex_.unlock(); }

  void lock_shared() {
    if (waiting_ > 0) {
      const std::scoped_lock turn(turn_);
    }
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::atomic<int> waiting_ = 0;  // changes
  std::mutex turn_;               // of the change that is next
  std::shared_mutex mutex_;
};

}  // namespace clew::store

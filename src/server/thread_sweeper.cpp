#include "server/thread_sweeper.hpp"

namespace clew::server {

void ThreadSweeper::start() {
  worker_ = std::thread([this] { work(); });
}

void ThreadSweeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void ThreadSweeper::work() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, interval_, [this] { return is_stopping_; })) {
    lock.unlock();
    try {
      while (threads_.sweep() > 0) {
      }
    } catch (const std::exception&) {
      // It is tried again after the next interval.
    }
    lock.lock();
  }
}

}  // namespace clew::server

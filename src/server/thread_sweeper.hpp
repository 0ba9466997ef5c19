// Removes threads whose time to live has passed, now and then.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/threads.hpp"

namespace clew::server {

class ThreadSweeper {
 public:
  ThreadSweeper(ThreadService& threads, std::chrono::milliseconds interval)
      : threads_(threads), interval_(interval) {}
  ThreadSweeper(const ThreadSweeper&) = delete;
  ThreadSweeper& operator=(const ThreadSweeper&) = delete;
  ~ThreadSweeper() { stop(); }

  void start();
  void stop();

 private:
  void work();

  ThreadService& threads_;
  const std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::thread worker_;
};

}  // namespace clew::server

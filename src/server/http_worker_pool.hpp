// Threads for work that may wait for the disk.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace clew::server {

// Runs jobs, which must not throw, on up to `max_threads` threads that are
// started when they are needed. All methods may be called from any thread.
class WorkerPool {
 public:
  using Job = std::function<void()>;

  explicit WorkerPool(std::size_t max_threads);
  ~WorkerPool();

  void post(Job job);

  // Runs what was posted, also by these jobs, and ends the threads. Later jobs are dropped.
  void stop();

 private:
  void start_thread();
  void run();

  const std::size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
};

// Runs its jobs one at a time and in order, on the threads of a pool.
class SerialQueue : public std::enable_shared_from_this<SerialQueue> {
 public:
  explicit SerialQueue(std::shared_ptr<WorkerPool> pool) : pool_(std::move(pool)) {}

  void post(WorkerPool::Job job);

 private:
  void run_next();

  const std::shared_ptr<WorkerPool> pool_;
  std::mutex mutex_;
  std::deque<WorkerPool::Job> jobs_;
  bool running_ = false;
};

}  // namespace clew::server

#include "server/http_worker_pool.hpp"

#include <system_error>
#include <utility>

namespace clew::server {

WorkerPool::WorkerPool(std::size_t max_threads) : max_threads_(max_threads > 0 ? max_threads : 1) {}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    // A job that runs while the pool stops may post its successor.
    if (stopping_ && running_ == 0 && jobs_.empty()) return;
    jobs_.push_back(std::move(job));
    if (jobs_.size() > idle_ && threads_.size() < max_threads_ && !stopping_) start_thread();
  }
  changed_.notify_one();
}

void WorkerPool::start_thread() {
  try {
    threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    // The system has no more of them; those that run will come round to the job.
    if (threads_.empty()) throw;
  }
}

void WorkerPool::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return !jobs_.empty() || (stopping_ && running_ == 0); });
    --idle_;
    if (jobs_.empty()) break;
    {
      const Job job = std::move(jobs_.front());
      jobs_.pop_front();
      ++running_;
      lock.unlock();
      job();
    }
    lock.lock();
    --running_;
  }
  changed_.notify_all();
}

void SerialQueue::post(WorkerPool::Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    if (std::exchange(running_, true)) return;
  }
  pool_->post([self = shared_from_this()] { self->run_next(); });
}

void SerialQueue::run_next() {
  WorkerPool::Job job;
  {
    const std::lock_guard lock(mutex_);
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  job();
  {
    const std::lock_guard lock(mutex_);
    running_ = !jobs_.empty();
    if (!running_) return;
  }
  pool_->post([self = shared_from_this()] { self->run_next(); });
}

}  // namespace clew::server

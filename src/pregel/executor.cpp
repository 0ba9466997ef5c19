#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include <clew/task.hpp>

namespace clew {
namespace {

// Threads come when all are busy, up to a limit, and go after resting a while.
class ThreadPool final : public Executor {
 public:
  void post(std::function<void()> function) override {
    bool needs_thread = false;
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(function));
      needs_thread = idle_ < queue_.size() && threads_ < kMostThreads;
      if (needs_thread) ++threads_;
    }
    if (needs_thread) {
      std::thread([this] { work(); }).detach();
    } else {
      work_available_.notify_one();
    }
  }

  void post_after(std::chrono::nanoseconds delay, std::function<void()> function) override {
    const auto due = Clock::now() + delay;
    bool needs_thread = false;
    bool is_first = false;
    {
      const std::lock_guard lock(timer_mutex_);
      const auto added = timers_.emplace(due, std::move(function));
      is_first = added == timers_.begin();
      needs_thread = !std::exchange(has_timer_thread_, true);
    }
    if (needs_thread) std::thread([this] { keep_time(); }).detach();
    if (is_first) timer_changed_.notify_one();
  }

  std::size_t parallelism() const override {
    return std::max<std::size_t>(1, std::thread::hardware_concurrency());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMostThreads = 512;
  static constexpr std::chrono::seconds kRest{10};

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (queue_.empty()) {
        ++idle_;
        const bool woken =
            work_available_.wait_for(lock, kRest, [this] { return !queue_.empty(); });
        --idle_;
        if (!woken) {
          --threads_;
          return;
        }
      }
      std::function<void()> function = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      function();
      function = nullptr;  // what it owned may take long to go, and must not go under the lock
      lock.lock();
    }
  }

  void keep_time() {
    std::unique_lock lock(timer_mutex_);
    while (true) {
      if (timers_.empty()) {
        timer_changed_.wait(lock);
        continue;
      }
      const auto due = timers_.begin()->first;
      if (Clock::now() < due) {
        timer_changed_.wait_until(lock, due);
        continue;
      }
      std::function<void()> function = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      lock.unlock();
      post(std::move(function));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_available_;
  std::deque<std::function<void()>> queue_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;

  std::mutex timer_mutex_;
  std::condition_variable timer_changed_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
  bool has_timer_thread_ = false;
};

}  // namespace

Executor& default_executor() {
  // Its threads may outlive main(), so it is never destroyed.
  static ThreadPool* const pool = new ThreadPool();
  return *pool;
}

}  // namespace clew

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include <clew/task.hpp>

#include "pregel/processor_time.hpp"

namespace clew {
namespace {

using Clock = std::chrono::steady_clock;

// As many threads as there are processors, and more while functions wait rather
// than compute: then a timer finds work queued, and that the threads do not want the
// processors. Threads go after resting a while.
class ThreadPool final : public Executor {
 public:
  void post(std::function<void()> function) override { post_all({&function, 1}); }

  void post_after(std::chrono::nanoseconds delay, std::function<void()> function) override {
    const auto now = Clock::now();
    const auto due = delay < kNever - kTick - now ? next_tick(now + delay) : kNever;
    bool is_first = false;
    {
      const std::lock_guard lock(timer_mutex_);
      const auto added = timers_.emplace(due, std::move(function));
      is_first = added == timers_.begin();
      need_timer_thread();
    }
    if (is_first) timer_changed_.notify_one();
  }

  std::size_t parallelism() const override { return processors_; }

 private:
  static constexpr std::size_t kMostThreads = 512;
  static constexpr std::chrono::seconds kRest{10};
  static constexpr std::chrono::milliseconds kPatience{1};
  static constexpr std::chrono::microseconds kTick{500};

  void post_all(std::span<std::function<void()>> functions) {
    std::size_t new_threads = 0;
    std::size_t to_wake = 0;
    bool may_stall = false;
    {
      const std::lock_guard lock(mutex_);
      for (auto& function : functions) queue_.push_back(std::move(function));
      to_wake = std::min(idle_, functions.size());
      if (queue_.size() > idle_) {
        const std::size_t room = processors_ - std::min(processors_, threads_);
        new_threads = std::min(room, queue_.size() - idle_);
        threads_ += new_threads;
        may_stall = room == 0 && !std::exchange(is_watched_, true);
      }
    }
    if (!start_threads(new_threads)) {
      const std::lock_guard lock(mutex_);
      may_stall = !std::exchange(is_watched_, true);
    }
    for (; to_wake > 0; --to_wake) work_available_.notify_one();
    if (may_stall) watch();
  }

  // If the system has no thread left, the work waits for those there are; the
  // watch tries again.
  bool start_threads(std::size_t count) {
    try {
      for (; count > 0; --count) std::thread([this] { work(); }).detach();
      return true;
    } catch (const std::system_error&) {
      const std::lock_guard lock(mutex_);
      threads_ -= count;
      return false;
    }
  }

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

  // Timers ----------------------------------------------------------------------

  // Timers go off in ticks, many at a time, as each time costs waking a thread.
  static Clock::time_point next_tick(Clock::time_point time) {
    const auto past_tick = time.time_since_epoch() % Clock::duration(kTick);
    return past_tick == Clock::duration::zero() ? time : time + (kTick - past_tick);
  }

  void need_timer_thread() {
    if (!std::exchange(has_timer_thread_, true)) std::thread([this] { keep_time(); }).detach();
  }

  void watch() {
    {
      const std::lock_guard lock(timer_mutex_);
      watch_begin_ = Clock::now();
      watch_due_ = watch_begin_ + kPatience;
      computed_ = pregel::time_computed();
      need_timer_thread();
    }
    timer_changed_.notify_one();
  }

  void keep_time() {
    std::unique_lock lock(timer_mutex_);
    while (true) {
      Clock::time_point next = watch_due_;
      if (!timers_.empty()) next = std::min(next, timers_.begin()->first);
      const auto now = Clock::now();
      if (now < next) {
        timer_changed_.wait_until(lock, next);
        continue;
      }
      std::vector<std::function<void()>> due;
      while (!timers_.empty() && timers_.begin()->first <= now) {
        due.push_back(std::move(timers_.begin()->second));
        timers_.erase(timers_.begin());
      }
      const bool must_look = watch_due_ <= now;
      if (must_look) watch_due_ = kNever;
      lock.unlock();
      if (!due.empty()) post_all(due);
      if (must_look) relieve();
      lock.lock();
    }
  }

  // Whether the threads left at least half of the processors to others since the watch began.
  // If they seem to, it may be that other programs were faster: what they were kept waiting
  // counts as well. That takes long to find out, so it is asked only then, from the next
  // watch on.
  bool is_idle() {
    const auto enough = (Clock::now() - watch_begin_) * static_cast<std::int64_t>(processors_) / 2;
    const auto computed = pregel::time_computed() - computed_;
    if (computed >= enough) {
      kept_waiting_.reset();
      return false;
    }
    const auto now_kept_waiting = pregel::time_kept_waiting();
    const auto before = std::exchange(kept_waiting_, now_kept_waiting);
    return before && computed + (now_kept_waiting - *before) < enough;
  }

  // Adds threads if work is queued although processors are free: as many again,
  // so that any number of waiting functions soon has a thread.
  void relieve() {
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty()) {
        is_watched_ = false;
        kept_waiting_.reset();
        return;
      }
    }
    if (is_idle()) add_threads();
    watch();
  }

  void add_threads() {
    std::size_t new_threads = 0;
    {
      const std::lock_guard lock(mutex_);
      const std::size_t room = kMostThreads - std::min(kMostThreads, threads_);
      new_threads = std::min({std::max<std::size_t>(1, threads_), queue_.size(), room});
      threads_ += new_threads;
    }
    start_threads(new_threads);
  }

  static constexpr Clock::time_point kNever = Clock::time_point::max();

  const std::size_t processors_ = std::max<std::size_t>(1, std::thread::hardware_concurrency());

  std::mutex mutex_;
  std::condition_variable work_available_;
  std::deque<std::function<void()>> queue_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
  bool is_watched_ = false;

  std::mutex timer_mutex_;
  std::condition_variable timer_changed_;
  std::multimap<Clock::time_point, std::function<void()>> timers_;
  bool has_timer_thread_ = false;
  Clock::time_point watch_due_ = kNever;
  Clock::time_point watch_begin_;
  std::chrono::nanoseconds computed_{0};  // when the watch began
  // Then, if it was asked; the timer thread's own.
  std::optional<std::chrono::nanoseconds> kept_waiting_;
};

}  // namespace

Executor& default_executor() {
  // Its threads may outlive main(), so it is never destroyed.
  static ThreadPool* const pool = new ThreadPool();
  return *pool;
}

}  // namespace clew

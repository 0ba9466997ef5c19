#include "pregel/pause.hpp"

#include <atomic>
#include <optional>

namespace clew::pregel {
namespace {

// Whichever comes first, the timer or the stop, resumes the awaiter. The other
// finds it awake. Not part of the awaiter: that may be gone before await_suspend
// has returned, and long before the timer goes off.
struct Alarm {
  std::coroutine_handle<> awaiter;
  std::atomic<bool> is_awake{false};
  std::optional<std::stop_callback<std::function<void()>>> stopped;

  bool wake() { return !is_awake.exchange(true); }
};

struct Awaiter {
  Executor& executor;
  std::chrono::nanoseconds duration;
  std::stop_token stop;

  bool await_ready() const noexcept { return duration.count() <= 0 || stop.stop_requested(); }
  void await_suspend(std::coroutine_handle<> awaiter) const {
    const auto alarm = std::make_shared<Alarm>();
    alarm->awaiter = awaiter;
    Executor& where = executor;
    const std::stop_token token = stop;
    where.post_after(duration, [alarm] {
      if (alarm->wake()) alarm->awaiter.resume();
    });
    if (!token.stop_possible()) return;
    alarm->stopped.emplace(token, [&where, raw = alarm.get()] {
      // Elsewhere, as whoever requests the stop may hold locks.
      if (raw->wake()) where.post([awaiter = raw->awaiter] { awaiter.resume(); });
    });
  }
  void await_resume() const noexcept {}
};

}  // namespace

Task<void> pause(Executor& executor, std::chrono::nanoseconds duration, std::stop_token stop) {
  Awaiter awaiter{executor, duration, std::move(stop)};
  co_await awaiter;
}

}  // namespace clew::pregel

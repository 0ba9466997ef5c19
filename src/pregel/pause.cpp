#include "pregel/pause.hpp"

#include <atomic>
#include <optional>

namespace clew::pregel {
namespace {

// Whichever comes first, the timer or the stop, resumes the awaiter. The other
// finds it awake. Not part of the Pause: that may be gone before await_suspend
// has returned, and long before the timer goes off.
struct Alarm {
  std::coroutine_handle<> awaiter;
  std::atomic<bool> is_awake{false};
  std::optional<std::stop_callback<std::function<void()>>> stopped;

  bool wake() { return !is_awake.exchange(true); }
};

}  // namespace

void Pause::await_suspend(std::coroutine_handle<> awaiter) const {
  // Only the timer can resume it: no more is needed than the handle.
  if (!stop_.stop_possible()) {
    return executor_.post_after(duration_, [awaiter] { awaiter.resume(); });
  }
  const auto alarm = std::make_shared<Alarm>();
  alarm->awaiter = awaiter;
  Executor& where = executor_;
  const std::stop_token token = stop_;
  where.post_after(duration_, [alarm] {
    if (alarm->wake()) alarm->awaiter.resume();
  });
  alarm->stopped.emplace(token, [&where, raw = alarm.get()] {
    // Elsewhere, as whoever requests the stop may hold locks.
    if (raw->wake()) where.post([awaiter = raw->awaiter] { awaiter.resume(); });
  });
}

}  // namespace clew::pregel

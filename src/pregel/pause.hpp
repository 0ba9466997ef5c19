// Waiting without holding a thread.
#pragma once

#include <chrono>
#include <stop_token>

#include <clew/task.hpp>

namespace clew::pregel {

// Awaited, it ends after `duration`, or soon after a stop is requested, on a thread of the
// executor:
//   Pause pause(executor, duration, stop);
//   co_await pause;
class Pause {
 public:
  Pause(Executor& executor, std::chrono::nanoseconds duration, std::stop_token stop)
      : executor_(executor), duration_(duration), stop_(std::move(stop)) {}

  bool await_ready() const noexcept { return duration_.count() <= 0 || stop_.stop_requested(); }
  void await_suspend(std::coroutine_handle<> awaiter) const;
  void await_resume() const noexcept {}

 private:
  Executor& executor_;
  std::chrono::nanoseconds duration_;
  std::stop_token stop_;
};

}  // namespace clew::pregel

// Calls that block, for coroutines: they run on a thread of an executor.
#pragma once

#include <coroutine>
#include <type_traits>

#include <clew/task.hpp>

namespace clew::internal {

// Continues the awaiting coroutine on a thread of the executor.
struct Hop {
  Executor& executor;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiter) const {
    executor.post([awaiter] { awaiter.resume(); });
  }
  void await_resume() const noexcept {}
};

// What `function()` gives, called on a thread of `executor` when the task is
// awaited.
template <class F>
Task<std::invoke_result_t<F&>> call_elsewhere(Executor& executor, F function) {
  Hop hop{executor};
  co_await hop;
  co_return function();
}

}  // namespace clew::internal

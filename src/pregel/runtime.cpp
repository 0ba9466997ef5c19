#include <clew/runtime.hpp>

#include <clew/store.hpp>

#include "pregel/loop.hpp"

namespace clew {

using pregel::Loop;

const Config& Runtime::config() const { return run_->loop.scope().config; }
const Value& Runtime::context() const { return run_->loop.scope().config.context; }
Store* Runtime::store() const { return run_->loop.scope().store.get(); }
Value Runtime::interrupt(Value question) { return run_->interrupt(std::move(question)); }
void Runtime::stream_writer(Value chunk) { run_->loop.emit_custom(*run_, std::move(chunk)); }
const Value& Runtime::previous() const { return run_->loop.previous(); }
const ExecutionInfo& Runtime::execution_info() const { return run_->execution_info(); }

const NodeFailure& Runtime::failure() const {
  if (run_->kind != pregel::TaskKind::error_handler) {
    throw Error("failure() is for error handlers; '" + run_->name + "' is not one");
  }
  return *run_->failure;
}

std::stop_token Runtime::stop_token() const {
  return run_->attempt_stop ? run_->attempt_stop->get_token() : config().stop;
}

Task<void> Runtime::sleep(std::chrono::nanoseconds duration) const {
  struct Awaiter {
    Executor& executor;
    std::chrono::nanoseconds duration;
    bool await_ready() const noexcept { return duration.count() <= 0; }
    void await_suspend(std::coroutine_handle<> awaiter) const {
      executor.post_after(duration, [awaiter] { awaiter.resume(); });
    }
    void await_resume() const noexcept {}
  };
  Awaiter awaiter{run_->loop.executor(), duration};
  co_await awaiter;
}

}  // namespace clew

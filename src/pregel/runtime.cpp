#include <clew/runtime.hpp>

#include <clew/store.hpp>

#include "pregel/loop.hpp"
#include "pregel/pause.hpp"

namespace clew {

using pregel::Loop;

const Config& Runtime::config() const { return run_->loop.scope().config; }
const Value& Runtime::context() const { return run_->loop.scope().config.context; }
Store* Runtime::store() const { return run_->loop.scope().store.get(); }
Value Runtime::interrupt(Value question) { return run_->interrupt(std::move(question)); }
void Runtime::stream_writer(Value chunk) { run_->loop.emit_custom(*run_, std::move(chunk)); }
void Runtime::stream_message(const Value& message, const Value& metadata) {
  run_->loop.emit_message(*run_, message, metadata);
}
const Value& Runtime::previous() const { return run_->loop.previous(); }
const ExecutionInfo& Runtime::execution_info() const { return run_->execution_info(); }

const NodeFailure& Runtime::failure() const {
  if (run_->kind != pregel::TaskKind::error_handler) {
    throw Error("failure() is for error handlers; '" + run_->name + "' is not one");
  }
  return *run_->failure;
}

std::stop_token Runtime::stop_token() const { return run_->stop_token(); }

Task<void> Runtime::sleep(std::chrono::nanoseconds duration) const {
  pregel::Pause pause(run_->loop.executor(), duration, stop_token());
  co_await pause;
  run_->check_stopped();
}

}  // namespace clew

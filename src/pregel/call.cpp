#include "pregel/call.hpp"

#include <clew/functional.hpp>

#include "pregel/errors.hpp"
#include "pregel/loop.hpp"
#include "pregel/task_status.hpp"

namespace clew {

TaskFunction::TaskFunction(std::string name, NodeBody body, TaskOptions options)
    : spec_(std::make_shared<const Spec>(
          Spec{std::move(name), std::move(body), std::move(options)})) {}

Future TaskFunction::operator()(Runtime& runtime, Value argument) const {
  pregel::TaskRun& caller = runtime.run();
  return Future(caller.loop.call(caller, spec_, std::move(argument)));
}

Value Future::result() const { return call_->loop->result_of(*call_); }

namespace pregel {

std::shared_ptr<Call> Loop::call(TaskRun& caller, std::shared_ptr<const TaskFunction::Spec> spec,
                                 Value argument) {
  const auto created = std::make_shared<TaskRun>(*this, std::move(spec));
  TaskRun& task = *created;
  task.parent = &caller;
  task.index = caller.scratchpad.calls++;
  task.input = std::move(argument);
  task.caller_stop = caller.stop_token();
  {
    const std::lock_guard lock(mutex_);
    caller.checkpoint_ns();  // made now: its calls, which run at once, build on it
    fill_scratchpad(task);
    tasks_.push_back(created);
    if (!is_replaying_) {
      TaskRun* const tasks[] = {&task};
      reapply_writes(tasks);
    }
  }
  emit_task(task);
  if (task.writes.empty()) find_in_cache(task);
  if (!task.writes.empty()) {
    task.is_started = task.is_done = true;
  } else {
    ++outstanding_;
    ++running_;
    executor_.post([self = shared_from_this(), created] {
      if (self->claim(*created)) self->execute(*created);
    });
  }
  return std::make_shared<Call>(shared_from_this(), created);
}

// Whoever gets there first runs a call: a thread of the executor, or the one
// that waits for the result.
bool Loop::claim(TaskRun& task) {
  const std::lock_guard lock(mutex_);
  return !std::exchange(task.is_started, true);
}

Value Loop::result_of(Call& call) {
  TaskRun& task = *call.task;
  if (claim(task)) execute(task);
  {
    std::unique_lock lock(mutex_);
    calls_done_.wait(lock, [&] { return task.is_done; });
  }
  if (task.error) std::rethrow_exception(task.error);
  for (const Write& write : task.writes) {
    if (write.is(kReturn)) return write.value;
  }
  return {};
}

}  // namespace pregel
}  // namespace clew

#include "pregel/task_run.hpp"

#include <clew/errors.hpp>

#include "pregel/loop.hpp"

namespace clew::pregel {
namespace {

TaskPath task_path(const TaskRun& task) {
  switch (task.kind) {
    case TaskKind::pull: return TaskPath::pull(task.name);
    case TaskKind::push: return TaskPath::push(task.index);
    case TaskKind::call: return TaskPath::call(task_path(*task.parent), task.index);
    case TaskKind::error_handler: return TaskPath::error_handler(task_path(*task.parent));
  }
  return {};
}

Value path_value(const TaskPath& path) {
  ListBuilder elements;
  for (const TaskPath::Element& element : path.elements()) {
    elements.push_back(std::visit(
        [](const auto& part) -> Value {
          if constexpr (std::same_as<std::decay_t<decltype(part)>, TaskPath>) {
            return path_value(part);
          } else {
            return Value(part);
          }
        },
        element));
  }
  return std::move(elements).build();
}

std::string parent_namespace(const TaskRun& task) {
  // Below the task that made the call, or failed.
  if (task.parent) return task.parent->checkpoint_ns();
  return task.loop.checkpoint_ns();
}

}  // namespace

const std::string& TaskRun::path_text() {
  if (kind == TaskKind::pull) return node->path_text;
  if (!path_text_.empty()) return path_text_;
  path_text_ = kind == TaskKind::push ? push_task_path_str(index) : task_path_str(task_path(*this));
  return path_text_;
}

Value TaskRun::path() const {
  return kind == TaskKind::pull ? node->path : path_value(task_path(*this));
}

const std::string& TaskRun::id() {
  if (!id_.empty()) return id_;
  const TaskOrigin origin{Uuid::parse(loop.checkpoint_id()), parent_namespace(*this), loop.step(),
                          loop.checkpoint_version()};
  switch (kind) {
    case TaskKind::pull: id_ = pull_task_id(origin, name, node->trigger_names); break;
    case TaskKind::push: id_ = push_task_id(origin, name, index); break;
    case TaskKind::call: id_ = call_task_id(origin, name, task_path(*parent), index); break;
    case TaskKind::error_handler: id_ = error_handler_task_id(origin, name, parent->id()); break;
  }
  return id_;
}

const std::string& TaskRun::checkpoint_ns() {
  if (checkpoint_ns_.empty()) {
    checkpoint_ns_ = task_checkpoint_ns(parent_namespace(*this), name, id());
  }
  return checkpoint_ns_;
}

const ExecutionInfo& TaskRun::execution_info() {
  const std::lock_guard lock(info_mutex_);
  if (!execution_info_) {
    execution_info_ = std::make_unique<ExecutionInfo>(ExecutionInfo{
        loop.scope().config.thread_id, loop.checkpoint_id(), checkpoint_ns(), id(), attempt});
  } else if (execution_info_->node_attempt != attempt) {
    execution_info_->node_attempt = attempt;
  }
  return *execution_info_;
}

const NodeOptions* TaskRun::entrypoint_options() const {
  const TaskRun* caller = this;
  while (caller->call) caller = caller->parent;
  return caller->node->is_entrypoint ? &caller->node->options : nullptr;
}

const std::vector<RetryPolicy>& TaskRun::retry_policies() const {
  if (!call) return node->options.retry_policy;
  const NodeOptions* around = entrypoint_options();
  return call->options.retry_policy.empty() && around ? around->retry_policy
                                                      : call->options.retry_policy;
}

const std::optional<CachePolicy>& TaskRun::cache_policy() const {
  if (!call) return node->options.cache_policy;
  const NodeOptions* around = entrypoint_options();
  return !call->options.cache_policy && around ? around->cache_policy : call->options.cache_policy;
}

Value TaskRun::triggers() const {
  return kind == TaskKind::pull ? node->trigger_list : list({kPush});
}

TaskWrites TaskRun::as_writes() {
  return {node, node ? Value() : Value(name), writes, kind == TaskKind::pull, true};
}

std::stop_token TaskRun::stop_token() const {
  return attempt_stop ? attempt_stop->get_token() : stop_around();
}

std::stop_token TaskRun::stop_around() const {
  return kind == TaskKind::call ? caller_stop : loop.scope().config.stop;
}

void TaskRun::check_stopped() const {
  loop.check_cancelled();
  // The caller's time limit: it is the caller who has failed.
  if (stop_around().stop_requested()) throw Cancelled("the caller of '" + name + "' was stopped");
  if (attempt_stop && attempt_stop->stop_requested()) throw_timeout();
}

void TaskRun::throw_timeout() const {
  throw NodeTimeout("node '" + name + "' took longer than " +
                    std::to_string(timeout()->run_timeout->count()) + " ms");
}

Value TaskRun::interrupt(Value question) {
  const std::size_t position = scratchpad.interrupts++;
  const auto answered = [&] {
    ListBuilder answers;
    for (std::size_t i = 0; i <= position; ++i) answers.push_back(scratchpad.resume[i]);
    writes.push_back({Value(kResume), std::move(answers).build(), kUnknown});
    return scratchpad.resume[position];
  };
  if (position < scratchpad.resume.size()) return answered();
  if (std::optional<Value> answer = loop.take_null_resume()) {
    scratchpad.resume.push_back(std::move(*answer));
    return answered();
  }
  throw GraphInterrupt{
      {{std::move(question),
        interrupt_id(checkpoint_ns(), static_cast<std::int64_t>(scratchpad.resume.size()))}}};
}

}  // namespace clew::pregel

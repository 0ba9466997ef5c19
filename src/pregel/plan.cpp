// What runs in the next super-step: pending Sends, and nodes whose triggers changed.
#include <algorithm>

#include <clew/extension.hpp>
#include <clew/json.hpp>

#include "pregel/errors.hpp"
#include "pregel/loop.hpp"
#include "pregel/recycled.hpp"
#include "pregel/task_status.hpp"

namespace clew::pregel {

std::shared_ptr<TaskRun> Loop::prepare_push(std::int64_t index, const Value& packet) {
  const Node* node = graph_->node_of_send(packet);
  if (!node) return nullptr;
  const Value& parts = packet.as_extension().payload;
  auto task = make_recycled<TaskRun>(*this, TaskKind::push, *node);
  task->index = index;
  task->input = parts[1];
  if (parts.size() > 2) task->send_timeout = packet.get<Send>().timeout;
  fill_scratchpad(*task);
  return task;
}

std::shared_ptr<TaskRun> Loop::prepare_pull(const Node& node) {
  if (!state_.is_due(node)) return nullptr;
  auto task = make_recycled<TaskRun>(*this, TaskKind::pull, node);
  task->writes.swap(spare_writes_);
  task->input = state_.read(node.selection, step_, stop_);
  fill_scratchpad(*task);
  return task;
}

std::shared_ptr<TaskRun> Loop::prepare_error_handler(TaskRun& failed, std::exception_ptr error,
                                                     std::string text) {
  const Node& handler = graph_->nodes[failed.node->error_handler];
  auto task = make_recycled<TaskRun>(*this, TaskKind::error_handler, handler);
  task->parent = &failed;
  task->input = failed.input;
  task->failure = std::make_unique<const NodeFailure>(
      NodeFailure{failed.name, std::move(error), std::move(text)});
  fill_scratchpad(*task);
  return task;
}

// The answers that belong to the task: those it had, and one given by interrupt id.
void Loop::fill_scratchpad(TaskRun& task) {
  if (pending_.empty()) return;
  for (const Pending& pending : pending_) {
    if (!pending.write.is(kResume) || pending.task_id() != task.id()) continue;
    const Value& answers = pending.write.value;
    if (answers.is_list()) {
      task.scratchpad.resume.assign(answers.begin(), answers.end());
    } else {
      task.scratchpad.resume.push_back(answers);
    }
    break;
  }
  if (scope_.resume_map.is_null()) return;
  const auto answered = static_cast<std::int64_t>(task.scratchpad.resume.size());
  const Value* answer = scope_.resume_map.find(interrupt_id(task.checkpoint_ns(), answered));
  // Older versions gave all questions of a task the id of the first.
  if (!answer) answer = scope_.resume_map.find(interrupt_id(task.checkpoint_ns(), 0));
  if (answer) task.scratchpad.resume.push_back(*answer);
}

// The tasks that the state asks for; `tasks` lends its memory.
std::vector<std::shared_ptr<TaskRun>> Loop::prepare_tasks(
    std::vector<std::shared_ptr<TaskRun>> tasks) {
  // First of all: a state that no task refers to any more is changed in place.
  if (!tasks.empty()) {
    spare_writes_.swap(tasks.front()->writes);
    spare_writes_.clear();
    tasks.clear();
  }
  const auto add = [&](std::shared_ptr<TaskRun> task) {
    if (task) tasks.push_back(std::move(task));
  };
  if (state_.is_available(graph_->tasks_channel)) {
    const Value sends = state_.get(graph_->tasks_channel);
    std::int64_t index = 0;
    for (const Value& send : sends) add(prepare_push(index++, send));
  }
  if (updated_ && !updated_->empty()) {
    candidates_.clear();
    for (Index channel : *updated_) {
      const std::vector<Index>& woken = graph_->channels[channel].triggers;
      candidates_.insert(candidates_.end(), woken.begin(), woken.end());
    }
    if (candidates_.size() > 1) {
      std::sort(candidates_.begin(), candidates_.end(),
                [this](Index a, Index b) { return graph_->by_name[a] < graph_->by_name[b]; });
      candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
    }
    for (Index node : candidates_) add(prepare_pull(graph_->nodes[node]));
  } else if (state_.has_versions()) {
    for (const Node& node : graph_->nodes) add(prepare_pull(node));
  }
  return tasks;
}

void Loop::plan() {
  tasks_ = prepare_tasks(std::move(tasks_));
  emit_checkpoint();
}

// Whether to stop at one of the tasks. What the run was given counts instead of
// what the graph was compiled with, for the root.
bool Loop::should_interrupt(const std::vector<std::string>& of_run,
                            const std::vector<std::string>& of_graph) {
  const std::vector<std::string>& nodes = scope_.parent || of_run.empty() ? of_graph : of_run;
  if (nodes.empty() || !state_.has_news_for(kInterrupt)) return false;
  const bool every_node = std::find(nodes.begin(), nodes.end(), "*") != nodes.end();
  return std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
    return every_node ? !task->is_hidden()
                      : std::find(nodes.begin(), nodes.end(), task->name) != nodes.end();
  });
}

// Gives tasks that finished in an earlier run of this step their writes back.
void Loop::reapply_writes(std::span<TaskRun* const> tasks) {
  if (pending_.empty()) return;
  for (TaskRun* task : tasks) {
    for (const Pending& pending : pending_) {
      if (pending.task_id() != task->id() || is_control_write(pending.write)) continue;
      task->writes.push_back(pending.write);
      reapplied_.emplace(pending.task_id());
    }
  }
}

// Tasks that failed in an earlier run and have a handler are not run again;
// their handler is.
void Loop::resume_error_handlers() {
  std::vector<std::shared_ptr<TaskRun>> handlers;
  for (const auto& task : tasks_) {
    if (!task->node || task->node->error_handler == kUnknown) continue;
    const Value* error = nullptr;
    bool is_routed = false;
    for (const Pending& pending : pending_) {
      if (pending.task_id() != task->id()) continue;
      if (pending.write.is(kError)) error = &pending.write.value;
      if (pending.write.is(kErrorSourceNode)) is_routed = true;
    }
    if (!error || !is_routed) continue;
    task->writes.push_back({Value(kError), *error, kUnknown});
    handlers.push_back(prepare_error_handler(*task, nullptr, error_text(*error)));
  }
  for (auto& handler : handlers) tasks_.push_back(std::move(handler));
}

bool Loop::tick() {
  plan();
  if (step_ > stop_) {
    is_out_of_steps_ = true;
    return false;
  }
  if (tasks_.empty()) return false;
  if (!is_replaying_ && !pending_.empty()) {
    std::vector<TaskRun*> tasks;
    for (const auto& task : tasks_) tasks.push_back(task.get());
    reapply_writes(tasks);
    resume_error_handlers();
  }
  if (should_interrupt(scope_.config.interrupt_before, graph_->options.interrupt_before))
    throw GraphInterrupt{};
  for (const auto& task : tasks_) emit_task(*task);
  for (const auto& task : tasks_) {
    if (!task->writes.empty()) output_writes(*task, task->writes, true);
  }
  return true;
}

void Loop::match_cached_writes() {
  if (!graph_->options.cache || scope_.parent) return;
  for (const auto& task : tasks_) find_in_cache(*task);
}

void Loop::find_in_cache(TaskRun& task) {
  Cache* cache = graph_->options.cache.get();
  if (!cache || scope_.parent || !task.cache_policy() || !task.writes.empty()) return;
  const auto found = cache->get(cache_namespace(*graph_, task.name), cache_key(task));
  if (!found) return;
  for (const ChannelWrite& write : *found) {
    task.writes.push_back(graph_->write_to(write.channel, write.value));
  }
  put_writes(task, task.writes, true);
}

}  // namespace clew::pregel

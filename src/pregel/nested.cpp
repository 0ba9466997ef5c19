// Graphs inside tasks.
#include <algorithm>

#include "pregel/loop.hpp"
#include "pregel/run_metadata.hpp"
#include "pregel/state_access.hpp"

namespace clew::pregel {

std::string namespace_without_ids(std::string_view ns) {
  std::string result;
  while (!ns.empty()) {
    const std::string_view segment = ns.substr(0, ns.find(kNamespaceSeparator));
    ns.remove_prefix(std::min(ns.size(), segment.size() + 1));
    if (!result.empty()) result += kNamespaceSeparator;
    result += segment.substr(0, segment.find(kNamespaceEnd));
  }
  return result;
}

std::string node_path(std::string_view ns) {
  std::string path;
  while (!ns.empty()) {
    const std::string_view segment = ns.substr(0, ns.find(kNamespaceSeparator));
    ns.remove_prefix(std::min(ns.size(), segment.size() + 1));
    if (segment.find_first_not_of("0123456789") == std::string_view::npos) continue;
    if (!path.empty()) path += kNamespaceSeparator;
    path += segment.substr(0, segment.find(kNamespaceEnd));
  }
  return path;
}

bool LoopAwaiter::await_suspend(std::coroutine_handle<> awaiter) {
  // The run may end before start() returns, and in another thread; whichever of
  // the two comes second lets the awaiter go on.
  loop->start([this, awaiter](std::exception_ptr outcome) {
    error = std::move(outcome);
    if (state.exchange(1, std::memory_order_acq_rel) == 2) awaiter.resume();
  });
  return state.exchange(2, std::memory_order_acq_rel) != 1;
}

Value LoopAwaiter::await_resume() const {
  if (error) std::rethrow_exception(error);
  return loop->result();
}

Scope Loop::scope_for(TaskRun& task, const Graph& child) {
  Scope scope;
  scope.config = scope_.config;
  scope.config.checkpoint_ns = task.checkpoint_ns();
  scope.config.checkpoint_id.clear();
  const Value& map = scope_.config.checkpoint_map;
  scope.config.checkpoint_map =
      (map.is_null() ? object() : map).set(scope_.config.checkpoint_ns, checkpoint_id());
  scope.config.interrupt_before.clear();
  scope.config.interrupt_after.clear();
  scope.config.output_keys.clear();
  // The time limit of a task is one of all that runs inside.
  scope.config.stop = task.stop_token();
  scope.parent = &task;
  scope.store = child.options.store ? child.options.store : scope_.store;
  if (scope_.sink && scope_.sink->subgraphs) scope.sink = scope_.sink;
  scope.name_checkpoint = scope_.name_checkpoint;
  scope.durability = scope_.durability;
  scope.metadata = task_metadata(task);
  scope.checkpoint_metadata = with_node_metadata(scope_.checkpoint_metadata, task);
  if (scope_.place.is_object()) {
    scope.place = place_of(scope.config).merge(task_place(task));
  }
  scope.resuming = task.is_retry ? std::optional(true) : scope_.resuming;
  scope.replay = scope_.replay;
  scope.resume_map = scope_.resume_map;
  scope.checkpointer_around =
      scope_.checkpointer ? scope_.checkpointer : scope_.checkpointer_around;
  switch (child.options.subgraph_persistence) {
    case SubgraphPersistence::off: break;
    case SubgraphPersistence::own:
      scope.config.checkpoint_ns = namespace_without_ids(scope.config.checkpoint_ns);
      [[fallthrough]];
    case SubgraphPersistence::inherit: scope.checkpointer = scope.checkpointer_around; break;
  }
  return scope;
}

Task<Value> Loop::run_subgraph(TaskRun& task) {
  const std::shared_ptr<const Graph> child = task.body().subgraph->shared();
  Scope scope = scope_for(task, *child);
  scope.hands_over = child->options.subgraph_persistence == SubgraphPersistence::inherit;
  LoopAwaiter run(Loop::make(child, std::move(scope), task.input));
  Value result = co_await run;
  co_return result;
}

std::optional<Value> Loop::take_null_resume() {
  {
    const std::lock_guard lock(mutex_);
    for (auto pending = pending_.begin(); pending != pending_.end(); ++pending) {
      if (pending->task_id() != kNullTaskId || !pending->write.is(kResume)) continue;
      Value answer = pending->write.value;
      pending_.erase(pending);
      return answer;
    }
  }
  return scope_.parent ? scope_.parent->loop.take_null_resume() : std::nullopt;
}

const std::string& Loop::checkpoint_id() {
  const std::lock_guard lock(id_mutex_);
  if (checkpoint_.id.empty()) checkpoint_.id = new_checkpoint_id(step_ - 1);
  return checkpoint_.id;
}

}  // namespace clew::pregel

#include "pregel/state_reader.hpp"

#include "pregel/state_access.hpp"
#include "pregel/task_view.hpp"

namespace clew::pregel {

StateSnapshot empty_state(Config config) {
  StateSnapshot snapshot;
  snapshot.values = object();
  snapshot.config = std::move(config);
  return snapshot;
}

// The step that follows -------------------------------------------------------

std::string StateReader::OpenTask::path_text() const {
  return kind == TaskKind::pull ? node->path_text : push_task_path_str(index);
}

Value StateReader::OpenTask::path() const {
  return kind == TaskKind::pull ? node->path : list({kPush, index, false});
}

void StateReader::load(const CheckpointTuple& saved) {
  if (!state_) state_.emplace(graph_, saver_.get());
  state_->load(saved);
  const Value& step = saved.metadata["step"];
  step_ = (step.is_int() ? step.as_int() : -1) + 1;
}

std::vector<StateReader::OpenTask> StateReader::open_tasks(const CheckpointTuple& saved) const {
  std::vector<OpenTask> tasks;
  if (state_->is_available(graph_->tasks_channel)) {
    const Value sends = state_->get(graph_->tasks_channel);
    std::int64_t index = 0;
    for (const Value& send : sends) {
      const Node* node = graph_->node_of_send(send);
      if (node) tasks.push_back({TaskKind::push, node, index});
      ++index;
    }
  }
  if (state_->has_versions()) {
    for (const Node& node : graph_->nodes) {
      if (state_->is_due(node)) tasks.push_back({TaskKind::pull, &node});
    }
  }
  if (!tasks.empty()) give_ids(tasks, saved);
  return tasks;
}

void StateReader::give_ids(std::vector<OpenTask>& tasks, const CheckpointTuple& saved) const {
  const TaskOrigin origin{Uuid::parse(saved.checkpoint.id), saved.key.checkpoint_ns, step_,
                          saved.checkpoint.v};
  for (OpenTask& task : tasks) {
    task.id = task.kind == TaskKind::pull
                  ? pull_task_id(origin, task.node->name, task.node->trigger_names)
                  : push_task_id(origin, task.node->name, task.index);
  }
}

// Snapshots -------------------------------------------------------------------

void StateReader::fill(StateSnapshot& snapshot, CheckpointTuple& saved, bool live, bool recurse) {
  load(saved);
  std::vector<OpenTask> tasks = open_tasks(saved);

  snapshot.tasks.clear();
  snapshot.interrupts.clear();
  snapshot.next.clear();
  snapshot.tasks.reserve(tasks.size());
  for (OpenTask& task : tasks) {
    TaskOutcome outcome = task_outcome(*graph_, task.id, saved.pending_writes);
    SnapshotTask& entry = snapshot.tasks.emplace_back(describe(task, outcome, saved, recurse));
    if (!live || !outcome.is_finished) entry.interrupts = std::move(outcome.interrupts);
    if (live && outcome.is_finished) task.writes = std::move(outcome.writes);
    snapshot.interrupts.insert(snapshot.interrupts.end(), entry.interrupts.begin(),
                               entry.interrupts.end());
    if (task.writes.empty()) snapshot.next.push_back(task.node->name);
  }
  preview(tasks, saved);

  snapshot.values = state_->read(graph_->stream, step_, step_ + 2);
  snapshot.created_at = std::move(saved.checkpoint.ts);
  const Value& parents = saved.metadata["parents"];
  if (saved.parent_id.empty()) {
    snapshot.parent_config.reset();
  } else {
    if (!snapshot.parent_config) snapshot.parent_config.emplace();
    set_address(*snapshot.parent_config, saved.key, std::move(saved.parent_id), parents);
  }
  set_address(snapshot.config, saved.key, std::move(saved.key.checkpoint_id), parents);
  snapshot.metadata = std::move(saved.metadata);
}

SnapshotTask StateReader::describe(const OpenTask& task, TaskOutcome& outcome,
                                   const CheckpointTuple& saved, bool recurse) const {
  SnapshotTask entry;
  entry.id = task.id;
  entry.name = task.node->name;
  entry.path = task.path();
  entry.error = std::move(outcome.error);
  entry.result = std::move(outcome.result);
  if (task.node->subgraphs.empty()) return entry;
  Config child;
  child.thread_id = saved.key.thread_id;
  child.checkpoint_ns = task_checkpoint_ns(saved.key.checkpoint_ns, task.node->name, task.id);
  if (recurse) {
    entry.state = std::make_shared<const StateSnapshot>(
        subgraph_state(task.node->subgraphs.front(), saver_, child));
  }
  entry.state_config = std::move(child);
  return entry;
}

// Applies what a Command wrote as input, and then what tasks have finished.
void StateReader::preview(std::vector<OpenTask>& tasks, const CheckpointTuple& saved) {
  std::vector<Write> null_writes;
  for (const PendingWrite& write : saved.pending_writes) {
    if (write.task_id != kNullTaskId) continue;
    null_writes.push_back(graph_->write_to(write.channel, write.value));
  }
  if (!null_writes.empty()) {
    const TaskWrites input = TaskWrites::of_input(null_writes);
    state_->preview({&input, 1});
  }
  std::vector<OpenTask*> finished;
  for (OpenTask& task : tasks) {
    if (!task.writes.empty()) finished.push_back(&task);
  }
  if (!finished.empty()) state_->preview(in_order(std::move(finished)));
}

StateSnapshot subgraph_state(const std::shared_ptr<const Graph>& graph,
                             const std::shared_ptr<Checkpointer>& saver, Config config) {
  if (graph->options.subgraph_persistence == SubgraphPersistence::own) {
    config.checkpoint_ns = namespace_without_ids(config.checkpoint_ns);
  }
  auto saved = saver->get_tuple({config.thread_id, config.checkpoint_ns, config.checkpoint_id});
  if (!saved) return empty_state(std::move(config));
  StateSnapshot snapshot;
  StateReader(graph, saver).fill(snapshot, *saved, config.checkpoint_id.empty(), true);
  return snapshot;
}

}  // namespace clew::pregel

#include "pregel/state_access.hpp"

#include <algorithm>

#include "checkpoint/delta_counters.hpp"
#include "pregel/loop.hpp"
#include "pregel/run_metadata.hpp"
#include "pregel/task_view.hpp"

namespace clew::pregel {

using internal::kDeltaCounters;

void set_address(Config& config, const CheckpointKey& place, std::string checkpoint_id,
                 const Value& parents) {
  config.thread_id = place.thread_id;
  config.checkpoint_ns = place.checkpoint_ns;
  const bool has_parents = parents.is_object() && !parents.empty();
  config.checkpoint_map = has_parents ? parents.set(place.checkpoint_ns, checkpoint_id) : Value();
  config.checkpoint_id = std::move(checkpoint_id);
}

Config checkpoint_config(const CheckpointKey& key, const Value& metadata) {
  Config config;
  set_address(config, key, key.checkpoint_id, metadata["parents"]);
  return config;
}

// A loop that stands at the checkpoint and is never started.
std::shared_ptr<Loop> StateAccess::open(const Config& config, const CheckpointTuple* saved) const {
  Scope scope;
  scope.checkpointer = saver_;
  scope.durability = Durability::sync;
  scope.store = graph_->options.store;
  auto loop = Loop::make(graph_, std::move(scope), Value());
  loop->scope_.config = config;
  loop->hides_untracked_ = false;  // an update is on record as it was given
  describe_run(loop->scope_);
  if (saved) {
    loop->adopt(*saved);
    loop->load_pending(saved->pending_writes);
  }
  loop->stand_still();
  return loop;
}

void Loop::stand_still() {
  updated_.reset();
  const Value& step = metadata_["step"];
  step_ = (step.is_int() ? step.as_int() : -1) + 1;
  stop_ = step_ + 2;
}

// Updates ---------------------------------------------------------------------

struct StateAccess::Base {
  std::optional<CheckpointTuple> saved;
  bool is_superseded = false;  // the thread moved past it: the update is a fork
  bool is_first = true;        // of several super-steps
  std::int64_t step = -1;
};

Config StateAccess::update(const Config& config, std::span<const StateUpdate> updates,
                           bool is_first) const {
  Base base;
  base.is_first = is_first;
  const CheckpointKey key{config.thread_id, config.checkpoint_ns, config.checkpoint_id};
  base.saved = saver_->get_tuple(key);
  const auto latest = config.checkpoint_id.empty()
                          ? base.saved
                          : saver_->get_tuple({key.thread_id, key.checkpoint_ns, {}});
  base.is_superseded = base.saved && latest && latest->checkpoint.id != base.saved->checkpoint.id;
  if (base.saved && base.saved->metadata["step"].is_int()) {
    base.step = base.saved->metadata["step"].as_int();
  }
  const std::shared_ptr<Loop> loop = open(config, base.saved ? &*base.saved : nullptr);
  loop->expected_head_ = latest ? latest->checkpoint.id : std::string();
  if (!base.saved) loop->checkpoint_.id = clew::checkpoint_id(-2);
  if (is_first) loop->force_pending(loop->pending_);
  if (!graph_->snapshot_channels.empty()) loop->known_writes_ = loop->loaded_writes_;

  const StateUpdate& first = updates.front();
  const auto expect_one = [&](const char* what) {
    if (updates.size() > 1) throw InvalidUpdateError(std::string("only one update can ") + what);
  };
  if (first.values.is_null() && first.as_node == kEnd) {
    expect_one("clear the tasks of a thread");
    return clear_tasks(*loop, base);
  }
  if (first.as_node == kInput) {
    expect_one("be given as input");
    return update_as_input(*loop, base, first.values);
  }
  if (first.as_node == "__copy__") {
    expect_one("copy a checkpoint");
    return copy(*loop, base, first.values);
  }
  return update_as_nodes(*loop, base, updates);
}

// Makes the checkpoint that the update results in.
Config StateAccess::save(Loop& loop, const Base& base, std::string_view source,
                         std::int64_t id_step, std::int64_t step,
                         const std::vector<Index>& updated) const {
  loop.updated_ = updated;
  const Value counters = base.saved ? loop.count_updates() : object();
  const Value parents = base.saved ? base.saved->metadata["parents"] : Value();
  loop.metadata_ = object(
      {{"source", source}, {"step", step}, {"parents", parents.is_object() ? parents : object()}});
  if (!counters.empty()) loop.metadata_ = loop.metadata_.set(kDeltaCounters, counters);
  std::vector<Index> snapshots;
  if (base.saved) {
    snapshots = loop.channels_to_snapshot(counters);
  } else {
    for (Index index : graph_->snapshot_channels) {
      if (!loop.state_.version(index).is_null()) snapshots.push_back(index);
    }
  }
  loop.updated_.reset();
  loop.checkpoint_.v = kCheckpointVersion;
  loop.checkpoint_.id = clew::checkpoint_id(id_step);
  loop.save_checkpoint(std::move(snapshots));
  loop.saves_.flush();
  CheckpointKey key{loop.scope_.config.thread_id, loop.scope_.config.checkpoint_ns,
                    loop.checkpoint_.id};
  return checkpoint_config(key, base.saved ? base.saved->metadata : Value());
}

// On the newest checkpoint an update is also on record as writes of the step it
// takes part in; a fork leaves the checkpoint it starts from as it is.
void StateAccess::store_writes(Loop& loop, const Base& base, const std::string& task_id,
                               const std::string& task_path, const std::string& node,
                               std::span<const Write> writes) const {
  if (!base.saved || writes.empty()) return;
  const bool is_fork = base.is_first && base.is_superseded;
  // What the task wrote itself, or a refused update, stays what is stored.
  const auto& stored = base.saved->pending_writes;
  const bool has_stored_writes =
      std::any_of(stored.begin(), stored.end(), [&](const PendingWrite& write) {
        return write.task_id == task_id && write_index(write.channel, 0) >= 0;
      });
  if (is_fork || has_stored_writes) {
    for (const Write& write : writes) {
      if (graph_->is_delta(write)) loop.force_snapshot(write.index);
    }
  }
  if (is_fork) return;
  loop.save_with_next(task_id, task_path, node, writes, base.saved->checkpoint.id);
}

Config StateAccess::clear_tasks(Loop& loop, const Base& base) const {
  std::vector<Index> updated;
  if (base.saved) {
    const std::vector<std::shared_ptr<TaskRun>> tasks = loop.prepare_tasks();
    std::vector<Write> null_writes;
    for (const auto& pending : loop.pending_) {
      if (pending.task_id() == kNullTaskId) null_writes.push_back(pending.write);
    }
    if (!null_writes.empty()) {
      const TaskWrites input = TaskWrites::of_input(null_writes);
      updated = loop.state_.apply({&input, 1});
    }
    std::vector<TaskRun*> all;
    for (const auto& task : tasks) {
      task->writes = task_outcome(*graph_, task->id(), base.saved->pending_writes).writes;
      all.push_back(task.get());
    }
    const std::vector<Index> cleared = loop.state_.apply(in_order(all));
    updated.insert(updated.end(), cleared.begin(), cleared.end());
  }
  return save(loop, base, "update", base.step, base.step + 1, updated);
}

Config StateAccess::update_as_input(Loop& loop, const Base& base, const Value& values) const {
  if (values.is_null()) throw InvalidUpdateError("there is no input to write");
  const std::vector<Write> writes{{{}, values, graph_->start_channel}};
  store_writes(loop, base, input_writes_id(Uuid::parse(loop.checkpoint_.id)), "", "", writes);
  const TaskWrites input = TaskWrites::of_input(writes);
  const std::vector<Index> updated = loop.state_.apply({&input, 1});
  const std::int64_t step = base.saved ? base.step + 1 : -1;
  return save(loop, base, "input", step, step, updated);
}

// A sibling of the checkpoint, under the same parent; then, if there are
// updates, a step on top of it that keeps the tasks' ids.
Config StateAccess::copy(Loop& loop, const Base& base, const Value& values) const {
  if (!base.saved) throw InvalidUpdateError("there is no checkpoint to copy");
  CheckpointPut put;
  put.key = {base.saved->key.thread_id, base.saved->key.checkpoint_ns, base.saved->parent_id};
  put.checkpoint = base.saved->checkpoint;
  put.checkpoint.v = kCheckpointVersion;
  put.checkpoint.id = clew::checkpoint_id(base.step);
  put.checkpoint.updated_channels = {};
  const Value& parents = base.saved->metadata["parents"];
  put.metadata = object({{"source", "fork"},
                         {"step", base.step + 1},
                         {"parents", parents.is_object() ? parents : object()}});
  if (const Value* counters = base.saved->metadata.find(kDeltaCounters)) {
    put.metadata = put.metadata.set(kDeltaCounters, *counters);
  }
  put.new_versions = object();
  put.expected_head = loop.expected_head_;
  saver_->put({&put, 1});
  CheckpointKey key = put.key;
  key.checkpoint_id = put.checkpoint.id;
  Config copied = checkpoint_config(key, base.saved->metadata);
  if (!values.is_list() || values.empty()) return copied;

  CheckpointTuple tuple{key, put.checkpoint, put.metadata, put.key.checkpoint_id,
                        base.saved->pending_writes};
  const std::shared_ptr<Loop> next = open(copied, &tuple);
  std::unordered_map<std::string, std::vector<std::string>> task_ids;
  for (const auto& task : next->prepare_tasks()) task_ids[task->name].push_back(task->id());
  std::vector<std::string> order;
  std::unordered_map<std::string, std::vector<StateUpdate>> by_node;
  for (const Value& item : values) {
    if (!item.is_list() || item.size() < 2) {
      throw InvalidUpdateError("updates of a copy are [values, node] pairs");
    }
    const std::string node = item.get<std::string>(1);
    std::vector<StateUpdate>& updates = by_node[node];
    if (updates.empty()) order.push_back(node);
    const std::vector<std::string>& ids = task_ids[node];
    updates.push_back({item[0], node, updates.size() < ids.size() ? ids[updates.size()] : ""});
  }
  std::vector<StateUpdate> all;
  for (const std::string& node : order) {
    std::move(by_node[node].begin(), by_node[node].end(), std::back_inserter(all));
  }
  return update(copied, all, false);
}

// The node that ran last: what an update without as_node acts for.
std::string StateAccess::infer_node(Loop& loop) const {
  if (graph_->nodes.size() == 1) return graph_->nodes.front().name;
  const Value seen = versions_seen_without_bumps(loop.state_.versions_seen());
  std::vector<std::pair<Value, std::string>> by_version;
  bool has_run = false;
  for (auto [node, versions] : seen.items()) {
    for (auto [channel, version] : versions.items()) {
      has_run = true;
      if (graph_->find_node(node) != kUnknown) by_version.emplace_back(version, node);
    }
  }
  if (!has_run) return START;
  std::sort(by_version.begin(), by_version.end());
  const std::size_t count = by_version.size();
  if (count == 1 || (count > 1 && by_version[count - 1].first != by_version[count - 2].first)) {
    return by_version.back().second;
  }
  throw AmbiguousUpdateError(
      "several nodes could have made this update; say which with as_node(\"...\")");
}

// The nodes that the updates act for.
std::vector<const Node*> StateAccess::updated_nodes(Loop& loop,
                                                    std::span<const StateUpdate> updates) const {
  std::vector<const Node*> nodes;
  for (const StateUpdate& update : updates) {
    if (update.as_node.empty() && updates.size() > 1) {
      throw InvalidUpdateError("each of several updates must say as_node");
    }
    const std::string name = update.as_node.empty() ? infer_node(loop) : update.as_node;
    const Index node = graph_->find_node(name);
    if (node == kUnknown) throw UnknownNodeError("node '" + name + "' does not exist");
    nodes.push_back(&graph_->nodes[node]);
  }
  return nodes;
}

Config StateAccess::update_as_nodes(Loop& loop, const Base& base,
                                    std::span<const StateUpdate> updates) const {
  std::unordered_map<std::string, std::vector<std::string>> prepared;  // node -> task ids
  if (base.saved) {
    for (const auto& task : loop.prepare_tasks()) prepared[task->name].push_back(task->id());
    for (auto& [node, ids] : prepared) std::reverse(ids.begin(), ids.end());
  }
  std::vector<std::shared_ptr<TaskRun>> tasks;
  std::vector<std::string> task_ids;
  std::vector<bool> replaces_task;
  // All are looked at before the branches of the first one run.
  const std::vector<const Node*> nodes = updated_nodes(loop, updates);
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const StateUpdate& update = updates[i];
    auto task = std::make_shared<TaskRun>(loop, TaskKind::pull, *nodes[i]);
    std::vector<std::string>& ids = prepared[nodes[i]->name];
    replaces_task.push_back(!update.task_id.empty() || !ids.empty());
    if (!update.task_id.empty()) {
      task_ids.push_back(update.task_id);
    } else if (!ids.empty()) {
      task_ids.push_back(std::move(ids.back()));
      ids.pop_back();
    } else {
      task_ids.push_back(
          update_task_id(Uuid::parse(loop.checkpoint_.id), static_cast<std::int64_t>(i)));
    }
    loop.write_result(*task->node, update.values, *task, task->writes);
    tasks.push_back(std::move(task));
  }

  std::vector<Index> updated;
  std::vector<TaskWrites> writes;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const Write& write : tasks[i]->writes) {
      if (write.index == kUnknown) continue;
      updated.push_back(write.index);
      if (graph_->channels[write.index].snapshots && overwritten(write.value)) {
        loop.force_snapshot(write.index);
      }
    }
    writes.push_back({tasks[i]->node, {}, tasks[i]->writes, false, true});
  }
  const auto store = [&](bool in_place_of_tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (replaces_task[i] != in_place_of_tasks) continue;
      store_writes(loop, base, task_ids[i],
                   task_path_str(TaskPath::update(static_cast<std::int64_t>(i))), tasks[i]->name,
                   tasks[i]->writes);
    }
  };
  // As in LangGraph an update is on record even if it is refused. In the place of
  // a task it must not be: the next run would take it for what the task wrote.
  store(false);
  loop.state_.apply(writes);
  store(true);
  return save(loop, base, "update", base.step + 1, base.step + 1, updated);
}

}  // namespace clew::pregel

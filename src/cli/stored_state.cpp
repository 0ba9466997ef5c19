#include "cli/stored_state.hpp"

#include <algorithm>

#include <clew/channels.hpp>

#include "channels/stored_history.hpp"
#include "checkpoint/delta_counters.hpp"
#include "checkpoint/join_writes.hpp"
#include "cli/step_tasks.hpp"
#include "pregel/names.hpp"
#include "pregel/state_access.hpp"
#include "pregel/task_status.hpp"
#include "pregel/task_view.hpp"

namespace clew::cli {
namespace {

// Channels that were written but store no value here: delta channels, and such as
// hold something for one step only.
std::vector<std::string> unstored_channels(const Checkpoint& checkpoint) {
  std::vector<std::string> channels;
  for (auto [channel, version] : checkpoint.channel_versions.items()) {
    const bool is_stored = checkpoint.channel_values.contains(channel);
    if (!is_stored && !is_reserved_channel(channel)) channels.emplace_back(channel);
  }
  return channels;
}

// Only delta channels are counted, have snapshots, or were never stored at all.
bool is_delta(const CheckpointTuple& tuple, const std::string& channel,
              const DeltaHistory& history) {
  if (tuple.metadata[internal::kDeltaCounters].contains(channel)) return true;
  return history.seed ? snapshot_value(*history.seed) != nullptr : !history.writes.empty();
}

std::optional<Value> joined(const DeltaHistory& history) {
  std::optional<Value> value = history.seed;
  if (value) {
    if (const Value* snapshot = snapshot_value(*value)) value = Value(*snapshot);
  }
  for (const PendingWrite& write : history.writes) {
    if (const Value* replacement = overwritten(write.value)) {
      value = *replacement;
    } else {
      value = value ? internal::join_writes(*value, write.value) : write.value;
    }
  }
  return value;
}

// States that are one value instead of keys.
Value without_only_key(Value values) {
  if (values.size() != 1) return values;
  const std::string_view key = values.items()[0].key;
  const bool is_whole = key == pregel::kRoot || key == pregel::kEnd;
  return is_whole ? values.items()[0].value : values;
}

class Snapshots {
 public:
  Snapshots(Checkpointer& saver, bool subgraphs) : saver_(saver), subgraphs_(subgraphs) {}

  StateSnapshot of(const CheckpointTuple& tuple) {
    const auto newest = saver_.get_tuple({tuple.key.thread_id, tuple.key.checkpoint_ns});
    const bool is_live = newest && newest->key == tuple.key;
    KnownGraph graph;
    graph.learn(tuple);
    if (newest) graph.learn(*newest);
    StateSnapshot snapshot;
    snapshot.values = stored_values(saver_, tuple);
    snapshot.config = pregel::checkpoint_config(tuple.key, tuple.metadata);
    snapshot.metadata = tuple.metadata;
    snapshot.created_at = tuple.checkpoint.ts;
    if (!tuple.parent_id.empty()) {
      CheckpointKey parent = tuple.key;
      parent.checkpoint_id = tuple.parent_id;
      snapshot.parent_config = pregel::checkpoint_config(parent, tuple.metadata);
    }
    for (const StepTask& step_task : step_tasks(tuple, graph)) {
      SnapshotTask task = task_of(tuple, step_task);
      const bool is_finished = task.result.has_value();
      if (is_live && is_finished) task.interrupts.clear();
      if (!is_live || !is_finished) snapshot.next.push_back(task.name);
      snapshot.interrupts.insert(snapshot.interrupts.end(), task.interrupts.begin(),
                                 task.interrupts.end());
      snapshot.tasks.push_back(std::move(task));
    }
    return snapshot;
  }

 private:
  SnapshotTask task_of(const CheckpointTuple& tuple, const StepTask& from) {
    SnapshotTask task;
    task.id = from.id;
    task.name = from.node;
    task.path = from.path;
    std::vector<std::pair<std::string_view, Value>> writes;
    for (const PendingWrite& write : tuple.pending_writes) {
      if (write.task_id != from.id) continue;
      if (write.channel == pregel::kInterrupt) {
        task.interrupts = pregel::stored_interrupts(write.value);
      } else if (write.channel == pregel::kError) {
        task.error = write.value;
      } else if (!pregel::is_control(write.channel)) {
        if (!task.result) task.result = object();
        if (!is_reserved_channel(write.channel)) writes.emplace_back(write.channel, write.value);
      }
    }
    if (!writes.empty()) task.result = without_only_key(pregel::folded_writes(writes));
    add_subgraph(tuple, task);
    return task;
  }

  // The namespace of the task's own, or one that all calls of the node share.
  void add_subgraph(const CheckpointTuple& around, SnapshotTask& task) {
    const std::string ns = task_checkpoint_ns(around.key.checkpoint_ns, task.name, task.id);
    auto inner = saver_.get_tuple({around.key.thread_id, ns});
    if (!inner) inner = shared_state(around, pregel::namespace_without_ids(ns));
    if (!inner) return;
    Config config;
    config.thread_id = inner->key.thread_id;
    config.checkpoint_ns = inner->key.checkpoint_ns;
    task.state_config = config;
    if (subgraphs_) task.state = std::make_shared<const StateSnapshot>(of(*inner));
  }

  // The newest checkpoint there that was made in the step of `around`.
  std::optional<CheckpointTuple> shared_state(const CheckpointTuple& around,
                                              const std::string& ns) {
    for (CheckpointTuple& tuple : saver_.list(around.key.thread_id, ns, {})) {
      const Value& id = tuple.metadata["parents"][around.key.checkpoint_ns];
      if (id == Value(around.key.checkpoint_id)) return std::move(tuple);
    }
    return std::nullopt;
  }

  Checkpointer& saver_;
  const bool subgraphs_;
};

}  // namespace

Value stored_values(Checkpointer& saver, const CheckpointTuple& tuple) {
  ObjectBuilder values;
  for (auto [channel, stored] : tuple.checkpoint.channel_values.items()) {
    if (is_reserved_channel(channel)) continue;
    const Value* snapshot = snapshot_value(stored);
    values.set(channel, snapshot ? *snapshot : stored);
  }
  const std::vector<std::string> unstored = unstored_channels(tuple.checkpoint);
  if (!unstored.empty()) {
    const auto histories = saver.get_delta_channel_history(tuple.key, unstored);
    for (std::size_t i = 0; i < unstored.size(); ++i) {
      if (!is_delta(tuple, unstored[i], histories[i])) continue;
      if (auto value = joined(histories[i])) values.set(unstored[i], std::move(*value));
    }
  }
  return without_only_key(std::move(values).build());
}

StateSnapshot stored_state(Checkpointer& saver, const CheckpointTuple& tuple, bool subgraphs) {
  return Snapshots(saver, subgraphs).of(tuple);
}

}  // namespace clew::cli

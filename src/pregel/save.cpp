// What a run stores: the writes of tasks as they finish, a checkpoint after
// every step, or everything at the end under durability `exit`.
#include <algorithm>

#include "channels/stored_history.hpp"
#include "checkpoint/delta_counters.hpp"
#include "pregel/loop.hpp"
#include "pregel/now.hpp"
#include "pregel/state_access.hpp"
#include "pregel/task_status.hpp"

namespace clew::pregel {

using internal::kDeltaCounters;

namespace {

// A delta channel that is never written to still gets a snapshot now and then,
// so that rebuilding it looks at a bounded number of checkpoints.
constexpr std::int64_t kMaxStepsWithoutSnapshot = 5000;

bool is_special(const Write& write) {
  return write.index == kUnknown && write_index(write.name.as_string(), 0) < 0;
}

// Of several writes to one control channel the last counts.
std::vector<Write> last_of_each(std::span<const Write> writes) {
  std::vector<Write> last;
  for (const Write& write : writes) {
    const auto same_channel = [&](const Write& other) { return same(other.name, write.name); };
    const auto earlier = std::find_if(last.begin(), last.end(), same_channel);
    if (earlier == last.end()) {
      last.push_back(write);
    } else {
      *earlier = write;
    }
  }
  return last;
}

}  // namespace

// Writes ----------------------------------------------------------------------

// A Send may carry state along; what is never stored is taken out of it.
Value Loop::sanitized(const Write& write) const {
  if (write.index != graph_->tasks_channel || !is_send(write.value)) return write.value;
  Send send = write.value.get<Send>();
  if (!send.arg.is_object()) return write.value;
  for (Index index = 0; index < graph_->channels.size(); ++index) {
    const ChannelInfo& channel = graph_->channels[index];
    if (channel.channel->is_untracked()) send.arg = send.arg.erase(channel.name);
  }
  return send;
}

bool Loop::is_untracked(const Write& write) const {
  return write.index != kUnknown && graph_->channels[write.index].channel->is_untracked();
}

// As they are stored; none if there is nothing to store.
std::optional<WritesPut> Loop::writes_put(std::string_view task_id, std::string_view task_path,
                                          std::string_view node, std::span<const Write> writes,
                                          const std::string& checkpoint_id) const {
  // The thread moved past the checkpoint: its other children are rebuilt from
  // its writes to delta channels, and must not see new ones.
  const bool has_children = is_superseded_ && checkpoint_id == loaded_id_;
  WritesPut put{.key = {scope_.config.thread_id, scope_.config.checkpoint_ns, checkpoint_id},
                .task_id = std::string(task_id),
                .task_path = std::string(task_path),
                .node = std::string(node)};
  put.writes.reserve(writes.size());
  // Parallel tasks may share the history of a subgraph; they overtake each other.
  const bool owns_history =
      !scope_.parent || graph_->options.subgraph_persistence == SubgraphPersistence::inherit;
  for (const Write& write : writes) {
    if (hides_untracked_ && is_untracked(write)) continue;
    if (has_children && graph_->is_delta(write)) {
      put.writes.push_back({std::string(kNoWrites), {}});
      continue;
    }
    put.writes.push_back({std::string(graph_->name_of(write)),
                          hides_untracked_ ? sanitized(write) : write.value,
                          owns_history && graph_->is_delta(write)});
  }
  if (put.writes.empty()) return std::nullopt;
  return put;
}

// Of a task of the open step. If others still run, its result must not wait for them.
void Loop::save_writes(TaskRun& task, std::span<const Write> writes) {
  const bool others_run = running_.load(std::memory_order_relaxed) > 0;
  if (auto put = writes_put(task.id(), task.path_text(), task.name, writes, checkpoint_.id)) {
    saves_.put_writes(std::move(*put), others_run);
  }
}

// Seen only if the next checkpoint is stored too.
void Loop::save_with_next(std::string_view task_id, std::string_view task_path,
                          std::string_view node, std::span<const Write> writes,
                          const std::string& checkpoint_id) {
  if (auto put = writes_put(task_id, task_path, node, writes, checkpoint_id)) {
    saves_.put_with_next(std::move(*put));
  }
}

bool Loop::saves_at_once() const {
  return scope_.checkpointer && scope_.durability != Durability::exit;
}

// What a Command given as input writes. Such writes add up; savers key them by
// position, so those that may be replaced come last.
void Loop::put_null_writes(std::vector<Write> writes) {
  std::vector<Write> all;
  std::erase_if(pending_, [&](const Pending& pending) {
    return pending.task_id() == kNullTaskId && is_special(pending.write);
  });
  for (const Pending& pending : pending_) {
    if (pending.task_id() == kNullTaskId) all.push_back(pending.write);
  }
  for (const bool special : {false, true}) {
    for (const Write& write : writes) {
      if (is_special(write) != special) continue;
      all.push_back(write);
      pending_.push_back({Value(kNullTaskId), write});
    }
  }
  if (scope_.durability == Durability::exit) written_tasks_.emplace(kNullTaskId);
  if (!saves_at_once()) return;
  if (auto put = writes_put(kNullTaskId, "", "", all, checkpoint_.id)) {
    saves_.put_writes(std::move(*put), true);
  }
}

void Loop::put_writes(TaskRun& task, std::span<const Write> writes, bool cached) {
  const bool are_special = std::all_of(writes.begin(), writes.end(), is_special);
  if (!are_special) return put_distinct_writes(task, writes, cached);
  const std::vector<Write> last = last_of_each(writes);
  if (!last.empty()) put_distinct_writes(task, last, cached);
}

void Loop::put_distinct_writes(TaskRun& task, std::span<const Write> writes, bool cached) {
  keep_pending(task, writes);
  // Told first: once the writes are stored the task does not run, nor tell, again.
  const bool is_told_later =
      &task == alone_ && !cached && !task.error && task.scratchpad.calls == 0;
  if (is_told_later) {
    is_alone_untold_ = true;
  } else {
    output_writes(task, writes, cached);
  }
  if (saves_at_once()) save_writes(task, writes);
  if (graph_->options.cache && !cached) store_in_cache(task, writes);
}

void Loop::keep_pending(TaskRun& task, std::span<const Write> writes) {
  has_written_.store(true, std::memory_order_relaxed);
  // Otherwise nobody is going to look at them.
  if (!scope_.checkpointer) return;
  const Value id(task.id());
  const std::lock_guard lock(mutex_);
  if (scope_.durability == Durability::exit) written_tasks_.insert(task.id());
  if (loaded_writes_ > 0) {
    std::erase_if(pending_, [&](const Pending& pending) { return same(pending.task, id); });
  }
  for (const Write& write : writes) pending_.push_back({id, write});
}

void Loop::store_in_cache(TaskRun& task, std::span<const Write> writes) {
  if (scope_.parent || !task.cache_policy()) return;
  const bool has_finished = std::none_of(writes.begin(), writes.end(), [](const Write& write) {
    return write.is(kInterrupt) || write.is(kError);
  });
  if (!has_finished) return;
  std::vector<ChannelWrite> result;
  for (const Write& write : task.writes) {
    result.push_back({std::string(graph_->name_of(write)), write.value});
  }

  graph_->options.cache->set(cache_namespace(*graph_, task.name), cache_key(task),
                             std::move(result), task.cache_policy()->ttl);
}

bool Loop::flush_with_others(GoOn go_on) {
  SaveGroup& group = *graph_->save_group;
  return saves_.flush_or_leave(group, [self = shared_from_this(), go_on = std::move(go_on)] {
    std::exception_ptr error;
    try {
      self->saves_.flush();
    } catch (...) {
      error = std::current_exception();
    }
    go_on(error);
  });
}

// Checkpoints -----------------------------------------------------------------

void Loop::put_checkpoint(std::string_view source) {
  if (!scope_.checkpointer) {
    checkpoint_.id.clear();
    ++step_;
    return;
  }
  const Value counters = count_updates();
  const Value& parents = scope_.config.checkpoint_map;
  metadata_ = object(
      {{"source", source}, {"step", step_}, {"parents", parents.is_null() ? object() : parents}});
  if (!counters.empty()) metadata_ = std::move(metadata_).set(kDeltaCounters, counters);
  checkpoint_.v = kCheckpointVersion;
  checkpoint_.id = new_checkpoint_id(step_);
  if (saves_at_once()) save_checkpoint(channels_to_snapshot(counters));
  ++step_;
}

std::string Loop::new_checkpoint_id(std::int64_t step) const {
  return scope_.name_checkpoint ? scope_.name_checkpoint(scope_.config.checkpoint_ns, step)
                                : clew::checkpoint_id(step);
}

void Loop::put_final_checkpoint() {
  if (checkpoint_.id == loaded_id_) return;  // nothing happened since it was loaded
  save_checkpoint(channels_to_snapshot(metadata_[kDeltaCounters]));
}

void Loop::save_checkpoint(std::vector<Index> snapshots) {
  for (Index index : forced_snapshots_) {
    if (std::find(snapshots.begin(), snapshots.end(), index) == snapshots.end()) {
      snapshots.push_back(index);
    }
  }
  forced_snapshots_.clear();
  set_counters(snapshots);
  bump_unwritten(snapshots);

  CheckpointPut put;
  put.key = {scope_.config.thread_id, scope_.config.checkpoint_ns, saved_id_};
  put.new_versions = state_.commit_versions();
  put.metadata = checkpoint_metadata(metadata_, scope_.checkpoint_metadata);
  if (scope_.place.is_object()) put.metadata = scope_.place.merge(put.metadata);
  put.expected_head = expected_head_;
  // Whoever leaves an open step has to know all that it wrote; see only_at_head.
  const auto known_writes = std::exchange(known_writes_, std::nullopt);
  if (expected_head_ == loaded_id_ && saved_id_ == loaded_id_) put.expected_writes = known_writes;
  put.checkpoint.v = checkpoint_.v;
  put.checkpoint.id = checkpoint_.id;
  put.checkpoint.ts = now_text();
  put.checkpoint.channel_versions = state_.channel_versions();
  put.checkpoint.versions_seen = state_.versions_seen();
  put.checkpoint.updated_channels = updated_ ? state_.updated_channels(*updated_) : Value();
  put.checkpoint.channel_values = scope_.checkpointer->stores_all_values()
                                      ? state_.all_channel_values()
                                      : state_.new_channel_values();
  for (Index index : snapshots) {
    put.checkpoint.channel_values = put.checkpoint.channel_values.set(
        graph_->channels[index].name,
        make_extension(ExtensionCode::delta_snapshot, state_.get(index)));
  }
  if (hides_untracked_) sanitize_sends(put.checkpoint.channel_values);
  if (saved_id_.empty()) {
    previous_id_.reset();
  } else {
    previous_id_ = saved_id_;
  }
  saved_id_ = checkpoint_.id;
  if (expected_head_) expected_head_ = checkpoint_.id;
  saves_.put(std::move(put));
}

void Loop::sanitize_sends(Value& channel_values) const {
  const Value* sends = channel_values.find(kTasks);
  if (!sends) return;
  ListBuilder clean;
  for (const Value& send : *sends) {
    clean.push_back(sanitized(graph_->write_to(kTasks, send)));
  }
  channel_values = channel_values.set(kTasks, std::move(clean).build());
}

// Delta channels --------------------------------------------------------------

void Loop::give_message_ids(std::span<Write> writes) const {
  if (graph_->snapshot_channels.empty()) return;
  for (Write& write : writes) {
    if (write.index == kUnknown) continue;
    const SnapshotChannel* channel = graph_->channels[write.index].snapshots;
    if (channel) write.value = channel->with_message_ids(write.value);
  }
}

// Updates and steps since the last snapshot of each delta channel, this step included.
Value Loop::count_updates() const {
  if (graph_->snapshot_channels.empty()) return object();
  ObjectBuilder counters;
  for (Index index : graph_->snapshot_channels) {
    const std::string& name = graph_->channels[index].name;
    const Value& before = metadata_[kDeltaCounters][name];
    const bool is_updated =
        updated_ && std::find(updated_->begin(), updated_->end(), index) != updated_->end();
    const std::int64_t updates = before.is_list() ? before[0].as_int() : 0;
    const std::int64_t steps = before.is_list() ? before[1].as_int() : 0;
    counters.set(name, list({updates + (is_updated ? 1 : 0), steps + 1}));
  }
  return std::move(counters).build();
}

std::vector<Index> Loop::channels_to_snapshot(const Value& counters) const {
  std::vector<Index> due;
  for (Index index : graph_->snapshot_channels) {
    const ChannelInfo& channel = graph_->channels[index];
    const Value& count = counters[channel.name];
    if (!count.is_list() || state_.version(index).is_null()) continue;
    if (count[0].as_int() >= channel.snapshots->snapshot_frequency() ||
        count[1].as_int() >= kMaxStepsWithoutSnapshot) {
      due.push_back(index);
    }
  }
  return due;
}

// The counters of what gets a snapshot now start anew.
void Loop::set_counters(const std::vector<Index>& snapshots) {
  Value counters = metadata_[kDeltaCounters];
  if (counters.is_null()) return;
  for (Index index : snapshots) counters = counters.erase(graph_->channels[index].name);
  metadata_ =
      counters.empty() ? metadata_.erase(kDeltaCounters) : metadata_.set(kDeltaCounters, counters);
}

// Values are stored by version, so a snapshot of a channel that was not written
// needs a new one. It must not wake anybody: whoever had seen the old version
// counts as having seen the new one, and what was really read is kept aside.
void Loop::bump_unwritten(const std::vector<Index>& snapshots) {
  if (snapshots.empty()) return;
  Value seen = state_.versions_seen();
  Value marks = seen[kSnapshotBumps];
  for (Index index : snapshots) {
    const ChannelInfo& channel = graph_->channels[index];
    const Value old = state_.version(index);
    if (!old.is_null() && state_.has_moved(index)) continue;
    const Value bumped = state_.next_version(old);
    state_.bump(index, bumped);
    if (old.is_null()) {
      for (Index node : channel.triggers) {
        const std::string& name = graph_->nodes[node].name;
        if (!seen.contains(name)) seen = seen.set(name, object());
      }
    }
    Value advanced_seen = seen;
    for (auto [node, versions] : seen.items()) {
      if (node == kSnapshotBumps) continue;
      const Value* read = versions.find(channel.name);
      if (old.is_null() ? read != nullptr : (!read || *read != old)) continue;
      const std::string advanced = std::string(node) + "|" + channel.name;
      if (!old.is_null() && marks[advanced] != old) {
        marks = marks.set(std::string(node) + ":" + channel.name, old);
      }
      marks = marks.set(advanced, bumped);
      advanced_seen = advanced_seen.set(node, versions.set(channel.name, bumped));
    }
    seen = advanced_seen;
  }
  if (!marks.empty()) seen = seen.set(kSnapshotBumps, marks);
  state_.set_versions_seen(std::move(seen));
}

Value versions_seen_without_bumps(const Value& versions_seen) {
  const Value* marks = versions_seen.find(kSnapshotBumps);
  if (!marks) return versions_seen;
  ObjectBuilder undone;
  for (auto [node, seen] : versions_seen.items()) {
    if (node == kSnapshotBumps) continue;
    ObjectBuilder read;
    for (auto [channel, version] : seen.items()) {
      const Value* advanced = marks->find(std::string(node) + "|" + std::string(channel));
      const Value* real = marks->find(std::string(node) + ":" + std::string(channel));
      if (!advanced || *advanced != version) {
        read.set(channel, version);
      } else if (real) {
        read.set(channel, *real);
      }
    }
    undone.set(node, std::move(read).build());
  }
  return std::move(undone).build();
}

// Once the step's writes are applied: which delta channels must start anew, and,
// under durability `exit`, what was written to them.
void Loop::note_step_deltas() {
  if (graph_->snapshot_channels.empty()) return;
  // What a step writes that is repeated where something is stored is not stored there.
  const bool is_repeated =
      checkpoint_.id == loaded_id_ && (is_superseded_ || (is_replaying_ && loaded_writes_ > 0));
  for (const auto& task : tasks_) {
    for (const Write& write : task->writes) {
      if (graph_->is_delta(write) && (is_repeated || overwritten(write.value)))
        force_snapshot(write.index);
    }
  }
  std::erase_if(resume_loaded_, [this](const Pending& pending) {
    return reapplied_.contains(std::string(pending.task_id()));
  });
  force_pending(resume_loaded_);
  resume_loaded_.clear();
  if (scope_.durability != Durability::exit || !scope_.checkpointer) return;

  const bool is_first = !exit_first_step_;
  if (is_first) {
    exit_first_step_ = step_;
    for (const Write& write : exit_command_writes_) {
      exit_writes_.push_back({step_, std::string(kNullTaskId), "", "", write});
    }
  }
  const auto tasks = tasks_by_id();
  for (const Pending& pending : pending_) {
    if (!graph_->is_delta(pending.write)) continue;
    const bool is_stored = pending.task_id() == kNullTaskId ||
                           std::find(stored_delta_writes_.begin(), stored_delta_writes_.end(),
                                     std::pair(std::string(pending.task_id()),
                                               pending.write.index)) != stored_delta_writes_.end();
    if (is_first && is_stored) continue;
    const auto task = tasks.find(pending.task_id());
    const bool is_known = task != tasks.end();
    exit_writes_.push_back({step_, std::string(pending.task_id()),
                            is_known ? task->second->path_text() : "",
                            is_known ? task->second->name : "", pending.write});
  }
}

// Durability `exit` -----------------------------------------------------------

// Another run may have stored writes meanwhile with the checkpoint that this one started
// from. They are not part of its state, so nothing is rebuilt from there.
void Loop::look_for_other_runs() {
  if (!known_writes_ || !has_parent_) return;
  const Config& config = scope_.config;
  const auto now =
      scope_.checkpointer->get_tuple({config.thread_id, config.checkpoint_ns, loaded_id_});
  if (!now || now->pending_writes.size() == *known_writes_) return;
  known_writes_ = now->pending_writes.size();
  for (Index index : graph_->snapshot_channels) force_snapshot(index);
}

// The run's writes to delta channels go to the checkpoint it started from, or
// on a new thread to a stub, so that they can be replayed from there.
void Loop::put_exit_delta_writes() {
  if (exit_writes_.empty()) return;
  if (has_parent_ && !loaded_latest_) {
    for (const ExitWrite& write : exit_writes_) force_snapshot(write.write.index);
  }
  const std::vector<Index> due = channels_to_snapshot(metadata_[kDeltaCounters]);
  std::erase_if(exit_writes_, [&](const ExitWrite& write) {
    const auto contains = [&](const std::vector<Index>& channels) {
      return std::find(channels.begin(), channels.end(), write.write.index) != channels.end();
    };
    return contains(due) || contains(forced_snapshots_);
  });
  if (exit_writes_.empty()) return;
  if (!has_parent_) put_stub();

  struct Task {
    std::string id;
    std::string path;
    std::string node;
    std::vector<Write> writes;
  };
  std::vector<Task> tasks;
  for (const ExitWrite& write : exit_writes_) {
    Task task{exit_delta_task_id(write.step, write.task_id), write.task_path, write.node, {}};
    if (write.task_id != kNullTaskId && write.step != exit_first_step_) {
      task.id = exit_delta_late_task_id(write.step, write.task_id);
      task.path = exit_delta_late_task_path(write.step, write.task_path);
    }
    const auto same_task = [&](const Task& other) {
      return other.id == task.id && other.path == task.path;
    };
    auto found = std::find_if(tasks.begin(), tasks.end(), same_task);
    if (found == tasks.end()) found = tasks.insert(found, std::move(task));
    found->writes.push_back(write.write);
  }
  for (const Task& task : tasks) {
    save_with_next(task.id, task.path, task.node, task.writes, loaded_id_);
  }
}

void Loop::put_stub() {
  CheckpointPut stub;
  stub.key = {scope_.config.thread_id, scope_.config.checkpoint_ns, {}};
  stub.checkpoint.id = loaded_id_;
  stub.checkpoint.ts = now_text();
  stub.checkpoint.channel_values = object();
  stub.checkpoint.channel_versions = object();
  stub.checkpoint.versions_seen = object();
  stub.metadata = checkpoint_metadata(Value{{"step", -2}}, scope_.checkpoint_metadata);
  stub.new_versions = object();
  stub.expected_head = expected_head_;
  if (expected_head_) expected_head_ = loaded_id_;
  saved_id_ = loaded_id_;
  saves_.put(std::move(stub));
}

// The writes of an unfinished step, which no checkpoint holds yet. LangGraph stores them
// here as they are.
void Loop::put_exit_writes() {
  hides_untracked_ = false;
  std::vector<std::string_view> order;
  std::unordered_map<std::string_view, std::vector<Write>> by_task;
  for (const Pending& pending : pending_) {
    if (!written_tasks_.contains(std::string(pending.task_id()))) continue;
    auto& writes = by_task[pending.task_id()];
    if (writes.empty()) order.push_back(pending.task_id());
    writes.push_back(pending.write);
  }
  const auto tasks = tasks_by_id();
  for (std::string_view task_id : order) {
    const auto task = tasks.find(task_id);
    const bool is_known = task != tasks.end();
    auto put = writes_put(task_id, is_known ? task->second->path_text() : "",
                          is_known ? task->second->name : "", by_task[task_id], checkpoint_.id);
    if (put) saves_.put_writes(std::move(*put), false);
  }
}

std::unordered_map<std::string_view, TaskRun*> Loop::tasks_by_id() const {
  std::unordered_map<std::string_view, TaskRun*> tasks;
  for (const auto& task : tasks_) tasks.emplace(task->id(), task.get());
  return tasks;
}

}  // namespace clew::pregel

// How a run begins: from a stored checkpoint or none, with new input, with an
// answer, or as a replay.
#include <algorithm>

#include <clew/extension.hpp>

#include "pregel/loop.hpp"
#include "pregel/recycled.hpp"
#include "pregel/task_status.hpp"

namespace clew::pregel {

// The input of a new thread; the step before it is that of the empty checkpoint.
constexpr std::int64_t kFirstStep = -1;

bool ReplayState::is_first_visit(std::string_view checkpoint_ns) {
  // Iterations of a loop differ in the task id only.
  const std::string_view stable = checkpoint_ns.substr(0, checkpoint_ns.rfind(kNamespaceEnd));
  const std::lock_guard lock(mutex);
  return visited.emplace(stable).second;
}

std::shared_ptr<Loop> Loop::make(std::shared_ptr<const Graph> graph, Scope&& scope, Value input) {
  return make_recycled<Loop>(std::move(graph), std::move(scope), std::move(input));
}

Loop::Loop(std::shared_ptr<const Graph> graph, Scope&& scope, Value input)
    : graph_(std::move(graph)),
      scope_(std::move(scope)),
      input_(std::move(input)),
      executor_(graph_->executor()),
      state_(graph_, scope_.checkpointer.get()),
      saves_(scope_.checkpointer, executor_, *graph_->watch, scope_.durability,
             scope_.parent ? &scope_.parent->loop.saves_ : nullptr),
      hides_untracked_(graph_->has_untracked) {
  // The checkpoint before a step is stored after it, with what the step did by then.
  if (scope_.durability == Durability::exit) state_.keep_part_of_refused();
  Config& config = scope_.config;
  if (scope_.parent) {
    // The second and later graphs that a task runs are told apart by a number.
    const std::int64_t count = scope_.parent->scratchpad.subgraphs++;
    if (count > 0) config.checkpoint_ns += kNamespaceSeparator + std::to_string(count);
  } else if (!config.checkpoint_ns.empty()) {
    // A run always starts at the root; the map says where.
    config.checkpoint_ns.clear();
    config.checkpoint_id.clear();
  }
  if (const Value* mapped = config.checkpoint_map.find(config.checkpoint_ns)) {
    config.checkpoint_id = mapped->as_string();
  }
  is_addressed_ = !config.checkpoint_id.empty() || scope_.replay;
  choose_output();
}

void Loop::choose_output() {
  if (scope_.config.output_keys.empty()) {
    output_index_ = scope_.is_stream ? graph_->stream : graph_->output;
    output_ = &graph_->selections[output_index_];
    return;
  }
  output_ = &own_output_;
  for (const std::string& key : scope_.config.output_keys) {
    const Index index = graph_->find_channel(key);
    if (index == kUnknown) {
      throw BadArgumentError("output_keys names '" + key +
                             "', which is not a channel of the graph");
    }
    own_output_.channels.push_back(index);
    if (graph_->channels[index].is_transient) own_output_.has_transient = true;
  }
  own_output_.index_members();
}

// The history of a subgraph belongs to the task that runs it. Without a resume
// the task is new, and what is there is of another run on the same thread.
bool Loop::starts_anew() const {
  return scope_.parent && !scope_.resuming.value_or(false) &&
         graph_->options.subgraph_persistence == SubgraphPersistence::inherit;
}

void Loop::load() {
  Checkpointer* saver = scope_.checkpointer.get();
  const Config& config = scope_.config;
  CheckpointKey key{config.thread_id, config.checkpoint_ns, config.checkpoint_id};
  std::optional<CheckpointTuple> saved;
  if (saver && !key.checkpoint_id.empty()) {
    saved = saver->get_tuple(key);
    if (saved) {
      const auto latest = saver->get_tuple({key.thread_id, key.checkpoint_ns, {}});
      is_superseded_ = latest && latest->checkpoint.id != saved->checkpoint.id;
      expected_head_ = latest ? latest->checkpoint.id : std::string();
    }
  } else if (saver && scope_.replay) {
    if (scope_.replay->is_first_visit(key.checkpoint_ns)) {
      ListOptions before;
      before.before = scope_.replay->checkpoint_id;
      before.limit = 1;
      auto found = saver->list(key.thread_id, key.checkpoint_ns, before);
      if (!found.empty()) saved = std::move(found.front());
    } else {
      saved = saver->get_tuple(key);
    }
    // The input is applied again, which recreates the routing that led here.
    scope_.resuming.reset();
  } else if (saver && !starts_anew()) {
    saved = saver->get_tuple(key);
    loaded_latest_ = true;
    expected_head_ = saved ? saved->checkpoint.id : std::string();
  }
  // Parallel tasks may share the history of a subgraph; only the root has one writer.
  if (scope_.parent) expected_head_.reset();

  has_parent_ = saved.has_value();
  if (!saved) {
    // Without a saver an id is made if somebody asks; see checkpoint_id().
    if (saver) loaded_id_ = checkpoint_.id = clew::checkpoint_id(-2);
    return;
  }
  adopt(*saved);
  load_pending(saved->pending_writes);
}

void Loop::load_pending(std::span<const PendingWrite> writes) {
  for (const PendingWrite& write : writes) {
    pending_.push_back({Value(write.task_id), graph_->write_to(write.channel, write.value)});
  }
  loaded_writes_ = writes.size();
}

void Loop::adopt(const CheckpointTuple& saved) {
  checkpoint_ = saved.checkpoint;
  metadata_ = saved.metadata;
  has_parent_ = true;
  loaded_id_ = saved_id_ = saved.checkpoint.id;
  if (!saved.parent_id.empty()) previous_id_ = saved.parent_id;
  state_.load(saved);
  previous_ = saved.checkpoint.channel_values[kPrevious];
  const Value& updated_channels = saved.checkpoint.updated_channels;
  if (!updated_channels.is_list() || updated_channels.empty()) return;
  updated_.emplace();
  for (const Value& name : updated_channels) {
    const Index index = graph_->find_channel(name.as_string());
    if (index != kUnknown) updated_->push_back(index);
  }
}

bool Loop::decide_resuming() const {
  if (!state_.has_versions()) return false;
  if (scope_.resuming) return *scope_.resuming;
  if (input_.is_null() || is_command(input_)) return true;
  const Value* run_id = scope_.metadata.find("run_id");
  const Value* loaded_run_id = metadata_.find("run_id");
  return !scope_.parent && run_id && loaded_run_id && *run_id == *loaded_run_id;
}

// Whether this run repeats a step instead of continuing it: then finished tasks
// run again and questions are asked again.
bool Loop::decide_time_travel() const {
  if (!is_addressed_) return false;
  const Config& config = scope_.config;
  if (scope_.parent && config.checkpoint_map.contains(config.checkpoint_ns)) return true;
  const bool answers = is_command(input_) && !input_.get<Command>().resume.is_null();
  return !answers && !scope_.resuming.value_or(false);
}

void Loop::force_snapshot(Index channel) {
  if (std::find(forced_snapshots_.begin(), forced_snapshots_.end(), channel) ==
      forced_snapshots_.end()) {
    forced_snapshots_.push_back(channel);
  }
}

// Pending writes of delta channels belong to the child that consumed them; a
// new branch must not walk through them, so it starts with a snapshot.
void Loop::force_pending(const std::vector<Pending>& writes) {
  for (const Pending& pending : writes) {
    if (graph_->is_delta(pending.write)) force_snapshot(pending.write.index);
  }
}

// Subgraphs go back to what they had before this checkpoint. A fork or an update was
// made after they ran, so it is the one before; a new input is where the run is now.
std::string Loop::bound_of_replay() {
  const Value& source = metadata_["source"];
  const bool is_fork = source == Value("update") || source == Value("fork");
  return is_fork && previous_id_ ? *previous_id_ : checkpoint_id();
}

void Loop::enter() {
  load();
  step_ = has_parent_ ? metadata_["step"].as_int() + 1 : kFirstStep;
  stop_ = step_ + scope_.config.recursion_limit + 1;
  for (const Pending& pending : pending_) {
    if (pending.task_id() != kNullTaskId && graph_->is_delta(pending.write)) {
      stored_delta_writes_.emplace_back(pending.task_id(), pending.write.index);
    }
  }

  const bool is_resuming = decide_resuming();
  const bool is_time_traveling = decide_time_travel();
  is_replaying_ = is_time_traveling || is_superseded_;
  if (is_time_traveling) {
    std::erase_if(pending_, [](const Pending& pending) { return pending.write.is(kResume); });
  }
  const Value* source = metadata_.find("source");
  const bool is_fork = source && (*source == Value("update") || *source == Value("fork"));
  const bool forks = is_resuming && is_time_traveling && (!is_fork || is_superseded_);
  if (is_resuming && !is_replaying_) {
    for (const Pending& pending : pending_) {
      if (pending.task_id() != kNullTaskId) resume_loaded_.push_back(pending);
    }
  } else {
    force_pending(pending_);
  }
  // Otherwise this run adds to them itself before it stores a checkpoint.
  const bool adds_later = scope_.durability == Durability::exit;
  const bool adds_none = forks || (!is_resuming && !is_command(input_));
  if ((adds_later || adds_none) && !graph_->snapshot_channels.empty()) {
    known_writes_ = loaded_writes_;
  }

  std::vector<Pending> carried;
  if (is_command(input_)) map_command_input(forks, carried);
  apply_null_writes(carried);

  const std::optional<std::string> parent_of_loaded = previous_id_;
  if (is_resuming) {
    resume_thread(forks);
  } else if (!input_.is_null()) {
    apply_input();
  } else if (!scope_.resuming) {
    throw EmptyInputError(
        "there is nothing to run: the thread has not started yet, so give it input");
  }

  if (!scope_.parent) {
    scope_.resuming = is_resuming;
    if (is_time_traveling) {
      scope_.replay = std::make_shared<ReplayState>();
      scope_.replay->checkpoint_id =
          forks && is_fork && parent_of_loaded ? *parent_of_loaded : bound_of_replay();
    }
  }
}

// A Command given as input: its parts become writes of the null task.
void Loop::map_command_input(bool forks, std::vector<Pending>& carried) {
  const Command command = input_.get<Command>();
  if (command.graph == Command::PARENT) throw NoParentGraphError("there is no parent graph");
  check_resume(command);
  const bool is_map = !scope_.resume_map.is_null() && !command.resume.is_null() &&
                      same(scope_.resume_map, command.resume);
  std::vector<Write> writes;
  for (const Goto& go : command.goto_) {
    if (is_send(go.target())) {
      writes.push_back(graph_->write_to(kTasks, go.target()));
    } else {
      writes.push_back(graph_->branch_to(go.target().as_string(), kStart));
    }
  }
  if (!command.resume.is_null() && !is_map) {
    writes.push_back({Value(kResume), command.resume, kUnknown});
  }
  for (auto& [key, value] : command_updates(command)) {
    writes.push_back(graph_->write_to(key, std::move(value)));
  }
  if (writes.empty() && !is_map) throw EmptyInputError("the Command has nothing to do");
  if (writes.empty()) return;
  give_message_ids(writes);
  if (forks) {
    for (Write& write : writes) carried.push_back({Value(kNullTaskId), std::move(write)});
    force_pending(carried);
    return;
  }
  for (const Write& write : writes) {
    if (graph_->is_delta(write)) exit_command_writes_.push_back(write);
  }
  put_null_writes(std::move(writes));
}

void Loop::check_resume(const Command& command) {
  if (command.resume.is_null()) return;
  if (!scope_.checkpointer) {
    throw NoCheckpointerError(
        "a Command with resume needs a checkpointer: compile the graph with one");
  }
  if (command.resume.is_object()) {
    bool are_ids = true;
    for (auto [key, answer] : command.resume.items()) are_ids = are_ids && is_interrupt_id(key);
    if (are_ids) {
      scope_.resume_map = command.resume;
      return;
    }
  }
  std::unordered_set<std::string> finished;
  for (const Pending& pending : pending_) {
    if (!is_control_write(pending.write)) finished.emplace(pending.task_id());
  }
  std::unordered_set<std::string> open;
  for (const Pending& pending : pending_) {
    if (!pending.write.is(kInterrupt) || finished.contains(std::string(pending.task_id())))
      continue;
    for (const Interrupt& interrupt : stored_interrupts(pending.write.value)) {
      open.insert(interrupt.id);
    }
  }
  if (open.size() > 1) {
    throw AmbiguousResumeError(
        "several interrupts are pending; resume with an object from interrupt id to answer");
  }
}

void Loop::apply_null_writes(const std::vector<Pending>& carried) {
  std::vector<Write> writes;
  const auto take = [&](const std::vector<Pending>& source) {
    for (const Pending& pending : source) {
      if (pending.task_id() == kNullTaskId) writes.push_back(pending.write);
    }
  };
  take(pending_);
  take(carried);
  if (writes.empty()) return;
  const TaskWrites input = TaskWrites::of_input(writes);
  const std::vector<Index> changed = state_.apply({&input, 1});
  if (!updated_) return;
  for (Index index : changed) {
    if (std::find(updated_->begin(), updated_->end(), index) == updated_->end()) {
      updated_->push_back(index);
    }
  }
}

void Loop::resume_thread(bool forks) {
  state_.see_all(kInterrupt);
  if (forks) {
    // The fork has a new id, so its tasks do too: old questions are nobody's.
    std::erase_if(pending_, [](const Pending& pending) { return pending.write.is(kInterrupt); });
    const auto updated = std::exchange(updated_, std::nullopt);
    put_checkpoint("fork");
    updated_ = updated;
  }
  emit_values();
}

void Loop::apply_input() {
  const Write input{{}, input_, graph_->start_channel};
  // Tasks that did not get to run are dropped: their triggers count as seen.
  const std::vector<std::shared_ptr<TaskRun>> discarded = prepare_tasks();
  std::vector<TaskWrites> tasks;
  tasks.reserve(discarded.size() + 1);
  for (const auto& task : discarded) tasks.push_back(task->as_writes());
  tasks.push_back(TaskWrites::of_input({&input, 1}));
  updated_ = state_.apply(tasks);
  put_checkpoint("input");
}

}  // namespace clew::pregel

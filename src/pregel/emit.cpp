// What a run tells: events for those who listen, and the state for its result.
#include <algorithm>
#include <map>

#include <clew/messages.hpp>

#include "checkpoint/reserved_metadata.hpp"
#include "pregel/loop.hpp"
#include "pregel/now.hpp"
#include "pregel/state_access.hpp"
#include "pregel/task_status.hpp"
#include "pregel/task_view.hpp"

namespace clew::pregel {
namespace {

std::vector<std::string> split_namespace(std::string_view ns) {
  std::vector<std::string> segments;
  while (!ns.empty()) {
    const std::string_view segment = ns.substr(0, ns.find(kNamespaceSeparator));
    segments.emplace_back(segment);
    ns.remove_prefix(std::min(ns.size(), segment.size() + 1));
  }
  return segments;
}

}  // namespace

bool EventSink::wants(StreamMode mode) const {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

void EventSink::tell(StreamEvent event, TaskRun* task) {
  emit(std::move(event), names_tasks && task ? std::string_view(task->id()) : std::string_view());
}

bool Loop::wants(StreamMode mode) const { return scope_.sink && scope_.sink->wants(mode); }

// Whether somebody listens to such events, if only as part of `debug`.
bool Loop::tells(StreamMode mode) const {
  const bool is_debugged = mode == StreamMode::tasks || mode == StreamMode::checkpoints;
  return wants(mode) || (is_debugged && wants(StreamMode::debug));
}

void Loop::emit(StreamMode mode, Value payload, TaskRun* task) {
  if (!tells(mode)) return;
  std::vector<std::string> ns = split_namespace(scope_.config.checkpoint_ns);
  const std::lock_guard lock(scope_.sink->mutex);
  const bool is_debugged = mode == StreamMode::tasks || mode == StreamMode::checkpoints;
  if (!is_debugged || !wants(StreamMode::debug)) {
    return scope_.sink->tell({mode, std::move(ns), std::move(payload)}, task);
  }
  if (wants(mode)) scope_.sink->tell({mode, ns, payload}, task);
  const bool is_checkpoint = mode == StreamMode::checkpoints;
  const char* type = is_checkpoint                ? "checkpoint"
                     : payload.contains("result") ? "task_result"
                                                  : "task";
  scope_.sink->tell({StreamMode::debug, ns,
                     object({{"step", is_checkpoint ? step_ - 1 : step_},
                             {"timestamp", now_text()},
                             {"type", type},
                             {"payload", payload}})},
                    task);
}

// The state -------------------------------------------------------------------

Value Loop::read_output() {
  return output_index_ == kUnknown ? read_output_now() : state_.read(output_index_, step_, stop_);
}

bool Loop::writes_output(const TaskRun& task) const {
  return std::any_of(task.writes.begin(), task.writes.end(),
                     [this](const Write& write) { return output_->contains(write.index); });
}

// The result is read once, at the end, unless it can change without an event.
bool Loop::needs_each_value() const { return output_->has_transient || wants(StreamMode::values); }

void Loop::emit_values() {
  has_latest_ = true;
  latest_is_current_ = needs_each_value();
  if (!latest_is_current_) return;
  latest_ = read_output();
  emit(StreamMode::values, latest_);
}

// Tasks -----------------------------------------------------------------------

void Loop::emit_custom(TaskRun& task, Value chunk) {
  if (!wants(StreamMode::custom)) return;
  std::vector<std::string> ns;
  if (scope_.sink->subgraphs) {
    ns = split_namespace(task.checkpoint_ns());
    ns.pop_back();
  }
  const std::lock_guard lock(scope_.sink->mutex);
  scope_.sink->tell({StreamMode::custom, std::move(ns), std::move(chunk)}, &task);
}

namespace {

// What a task's own fields say is not said again.
Value without_reserved(Value metadata) {
  for (const std::string_view key : internal::kReservedMetadata) {
    if (metadata.contains(key)) metadata = metadata.erase(key);
  }
  return metadata;
}

}  // namespace

void Loop::emit_task(TaskRun& task) {
  if (!tells(StreamMode::tasks) || task.is_hidden()) return;
  ObjectBuilder payload;
  payload.set("id", task.id());
  payload.set("name", task.name);
  payload.set("input",
              task.kind == TaskKind::call ? list({list({task.input}), object()}) : task.input);
  payload.set("triggers", task.triggers());
  const Value metadata = without_reserved(task_metadata(task));
  if (!metadata.empty()) payload.set("metadata", metadata);
  emit(StreamMode::tasks, std::move(payload).build(), &task);
}

Value Loop::task_metadata(TaskRun& task) const { return with_node_metadata(scope_.metadata, task); }

Value Loop::with_node_metadata(const Value& metadata, TaskRun& task) {
  const Value known = metadata.is_null() ? object() : metadata;
  const bool has_more = task.node && task.node->options.metadata.is_object();
  return has_more ? known.merge(task.node->options.metadata) : known;
}

void Loop::emit_task_result(TaskRun& task, std::span<const Write> writes) {
  if (!tells(StreamMode::tasks)) return;
  Value error;
  std::vector<Interrupt> interrupts;
  std::vector<std::pair<std::string_view, Value>> results;
  const Selection& stream = graph_->selections[graph_->stream];
  for (const Write& write : writes) {
    if (write.is(kError) && error.is_null()) error = write.value;
    if (write.is(kInterrupt)) {
      for (Interrupt& interrupt : stored_interrupts(write.value)) {
        interrupts.push_back(std::move(interrupt));
      }
    }
    if (stream.contains(write.index) || write.is(kReturn)) {
      results.emplace_back(graph_->name_of(write), write.value);
    }
  }
  emit(StreamMode::tasks,
       object({{"id", task.id()},
               {"name", task.name},
               {"error", error},
               {"result", folded_writes(results)},
               {"interrupts", interrupt_list(interrupts)}}),
       &task);
}

void Loop::emit_updates(TaskRun& task, std::span<const Write> writes, bool cached) {
  if (!wants(StreamMode::updates)) return;
  Value event = object({{task.name, task_update(*graph_, *output_, writes)}});
  if (cached) event = event.set("__metadata__", Value{{"cached", true}});
  emit(StreamMode::updates, std::move(event), &task);
}

// Tells what a task wrote; questions also become part of the result.
void Loop::output_writes(TaskRun& task, std::span<const Write> writes, bool cached) {
  if (task.is_hidden() || writes.empty()) return;
  const bool asks = writes.front().is(kInterrupt);
  // A call's questions are told by its caller.
  if (asks && task.kind == TaskKind::call) return;
  if (asks) output_questions(task, writes);
  if (!scope_.sink) return;
  if (!asks && !writes.front().is(kError)) emit_updates(task, writes, cached);
  if (!cached) emit_task_result(task, writes);
}

void Loop::output_questions(TaskRun& task, std::span<const Write> writes) {
  std::vector<Interrupt> interrupts;
  for (const Write& write : writes) {
    if (!write.is(kInterrupt)) continue;
    for (Interrupt& interrupt : stored_interrupts(write.value)) {
      interrupts.push_back(std::move(interrupt));
    }
  }
  const Value questions(interrupts);
  {
    const std::lock_guard lock(mutex_);
    interrupts_.insert(interrupts_.end(), interrupts.begin(), interrupts.end());
    // A question shows the state it was asked in.
    has_latest_ = true;
    if (output_->is_bare) {
      // Beside an object there is room for the question; it takes the place of anything else.
      const Value now = read_output_now();
      latest_ = now.is_object() ? now : Value();
      latest_is_current_ = true;
    } else if (output_->has_transient) {
      latest_ = read_output_now();
    }
  }
  emit(StreamMode::updates, object({{kInterrupt, questions}}), &task);
  if (!wants(StreamMode::values)) return;
  const Value now = read_output_now();
  emit(StreamMode::values,
       now.is_object() ? now.set(kInterrupt, questions) : object({{kInterrupt, questions}}), &task);
}

// While tasks run the state does not change, so this needs no lock; the cached
// views of read_output() would.
Value Loop::read_output_now() const {
  ObjectBuilder values;
  for (Index index : output_->channels) {
    if (output_->is_bare) return state_.is_available(index) ? state_.get(index) : Value();
    if (state_.is_available(index)) values.set(graph_->channels[index].name, state_.get(index));
  }
  return std::move(values).build();
}

// Checkpoints -----------------------------------------------------------------

void Loop::emit_checkpoint() {
  if (!scope_.checkpointer || !tells(StreamMode::checkpoints)) return;
  std::vector<PendingWrite> pending;
  for (const Pending& write : pending_) {
    pending.push_back({std::string(write.task_id()),
                       std::string(graph_->name_of(write.write)),
                       write.write.value,
                       {}});
  }
  ListBuilder next;
  ListBuilder tasks;
  for (const auto& task : tasks_) {
    next.push_back(task->name);
    tasks.push_back(checkpoint_task(*task, pending));
  }
  emit(StreamMode::checkpoints,
       object({{"config", config_of(checkpoint_.id)},
               {"parent_config", previous_id_ ? config_of(*previous_id_) : Value()},
               {"values", state_.read(graph_->stream, step_, stop_)},
               {"metadata", metadata_},
               {"next", std::move(next).build()},
               {"tasks", std::move(tasks).build()}}));
}

Value Loop::config_of(const std::string& id) const {
  const Config& config = scope_.config;
  return to_value(checkpoint_config({config.thread_id, config.checkpoint_ns, id}, metadata_));
}

Value Loop::checkpoint_task(TaskRun& task, const std::vector<PendingWrite>& pending) {
  const TaskOutcome outcome = task_outcome(*graph_, task.id(), pending);
  ObjectBuilder entry;
  entry.set("id", task.id());
  entry.set("name", task.name);
  if (outcome.error) {
    entry.set("error", *outcome.error);
  } else {
    if (outcome.result && !outcome.result->is_null() &&
        !((outcome.result->is_object() || outcome.result->is_list()) && outcome.result->empty())) {
      entry.set("result", *outcome.result);
    }
    entry.set("interrupts", interrupt_list(outcome.interrupts));
  }
  Value state;
  if (task.node && !task.node->subgraphs.empty()) {
    state = object({{"configurable", object({{"thread_id", scope_.config.thread_id},
                                             {"checkpoint_ns", task.checkpoint_ns()}})}});
  }
  entry.set("state", state);
  return std::move(entry).build();
}

// Messages --------------------------------------------------------------------

namespace {

template <class Visit>
void visit_messages(const Value& value, const Visit& visit) {
  if (is_message(value)) {
    visit(value);
  } else if (value.is_list()) {
    for (const Value& element : value) {
      if (is_message(element)) visit(element);
    }
  }
}

template <class Visit>
void visit_state_messages(const Value& state, const Visit& visit) {
  if (!state.is_object()) return visit_messages(state, visit);
  for (auto [key, value] : state.items()) visit_messages(value, visit);
}

}  // namespace

Value Loop::message_metadata(TaskRun& task) const {
  return task_metadata(task).merge(task_place(task));
}

Value Loop::task_place(TaskRun& task) const {
  return object({{"langgraph_node", task.name},
                 {"langgraph_step", step_},
                 {"langgraph_triggers", task.triggers()},
                 {"langgraph_path", task.path()},
                 {"langgraph_checkpoint_ns", task.checkpoint_ns()}});
}

// A message that a node streams, whole or in chunks of one id.
void Loop::emit_message(TaskRun& task, const Value& message, const Value& metadata) {
  const std::optional<std::string_view> id = message_id(message);
  if (!wants(StreamMode::messages)) return;
  const std::lock_guard lock(scope_.sink->mutex);
  if (id) scope_.sink->seen_messages.emplace(*id);
  const Value known = message_metadata(task).set("checkpoint_ns", task.checkpoint_ns());
  scope_.sink->tell({StreamMode::messages, split_namespace(scope_.config.checkpoint_ns),
                     list({message, metadata.is_object() ? known.merge(metadata) : known})},
                    &task);
}

// Messages that a node returned and that were not in its input.
void Loop::emit_messages(TaskRun& task, const Value& result) {
  if (!wants(StreamMode::messages) || task.is_hidden()) return;
  std::vector<std::string> ns = split_namespace(scope_.config.checkpoint_ns);
  const std::lock_guard lock(scope_.sink->mutex);
  auto& seen = scope_.sink->seen_messages;
  if (task.input.is_object()) {
    visit_state_messages(task.input, [&](const Value& message) {
      if (const auto id = message_id(message)) seen.emplace(*id);
    });
  }
  const auto emit_message = [&](const Value& message) {
    const auto id = message_id(message);
    if (id && !seen.emplace(*id).second) return;
    scope_.sink->tell({StreamMode::messages, ns, list({message, message_metadata(task)})}, &task);
  };
  const auto visit_result = [&](const Value& part) {
    visit_state_messages(is_command(part) ? part.get<Command>().update : part, emit_message);
  };
  if (result.is_list() && std::any_of(result.begin(), result.end(), is_command)) {
    for (const Value& part : result) visit_result(part);
  } else {
    visit_result(result);
  }
}

}  // namespace clew::pregel

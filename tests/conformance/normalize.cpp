#include "normalize.hpp"

#include <algorithm>
#include <utility>

#include <clew/extension.hpp>
#include <clew/ids.hpp>
#include <clew/messages.hpp>
#include <clew/types.hpp>

#include "error_kinds.hpp"
#include "expression.hpp"
#include "python.hpp"
#include "scenario.hpp"

namespace clew::conformance {
namespace {

Value sorted_by_text(std::vector<Value> values) {
  std::sort(values.begin(), values.end(),
            [](const Value& a, const Value& b) { return canonical_text(a) < canonical_text(b); });
  return values;
}

bool is_set(const Extension& extension) {
  return extension.is("builtins", "set") || extension.is("builtins", "frozenset");
}

// An interrupt, typed or as plain fields in an event.
bool looks_like_interrupt(const Value& value) {
  return value.contains("value") && value["id"].is_string() &&
         is_interrupt_id(value["id"].as_string());
}

const Value& interrupt_fields(const Value& interrupt) {
  return interrupt.is_extension() ? interrupt.as_extension().payload : interrupt;
}

Value interrupt_list(const std::vector<Interrupt>& interrupts) {
  ListBuilder result;
  for (const Interrupt& interrupt : interrupts) result.push_back(interrupt);
  return std::move(result).build();
}

void set_unless_null(ObjectBuilder& out, std::string_view key, const Value& value) {
  if (!value.is_null()) out.set(key, value);
}

}  // namespace

Value Normalizer::value(const Value& value) const {
  switch (value.kind()) {
    case Kind::string: {
      if (!is_uuid(value.as_string())) return value;
      return labels_.find_checkpoint(value.as_string()).value_or("<uuid>");
    }
    case Kind::list: {
      ListBuilder result;
      for (const Value& element : value) result.push_back(this->value(element));
      return std::move(result).build();
    }
    case Kind::object: {
      ObjectBuilder result;
      for (const auto& [key, entry] : value.items()) {
        result.set(key, key == "__interrupt__" ? interrupts(entry) : this->value(entry));
      }
      return std::move(result).build();
    }
    case Kind::extension: return extension(value);
    case Kind::bytes:
    case Kind::map: throw ScenarioError("cannot compare " + value.type_name());
    default: return value;
  }
}

Value Normalizer::extension(const Value& value) const {
  if (is_message(value)) return this->value(message_fields(value));
  if (is_interrupt(value)) return interrupt(value);
  if (is_command(value)) return command(value);
  if (is_send(value)) {
    const Send send = value.get<Send>();
    return object({{"$send", send.node}, {"arg", this->value(send.arg)}});
  }
  const Extension extension = value.as_extension();
  if (extension.is("langgraph.types", "Overwrite")) {
    return object({{"$overwrite", this->value(extension.payload["value"])}});
  }
  if (extension.code == ExtensionCode::delta_snapshot && !extension.is_raw) {
    return object({{"$delta_snapshot", this->value(extension.payload)}});
  }
  if (is_set(extension)) {
    std::vector<Value> elements;
    for (const Value& element : extension.payload) elements.push_back(this->value(element));
    return sorted_by_text(std::move(elements));
  }
  throw ScenarioError("cannot compare " + value.type_name());
}

Value Normalizer::command(const Value& value) const {
  const Value& fields = value.as_extension().payload;
  ObjectBuilder result;
  if (is_true(fields["update"])) result.set("update", this->value(fields["update"]));
  if (is_true(fields["goto"])) result.set("goto", this->value(fields["goto"]));
  if (!fields["resume"].is_null()) result.set("resume", this->value(fields["resume"]));
  if (const Value& graph = fields["graph"]; is_true(graph)) {
    result.set("graph", graph == Value(Command::PARENT) ? Value("parent") : graph);
  }
  return object({{"$command", std::move(result).build()}});
}

Value Normalizer::interrupt(const Value& interrupt) const {
  const Value& fields = interrupt_fields(interrupt);
  ObjectBuilder result;
  result.set("id", labels_.interrupt(fields["id"].is_string() ? fields["id"].as_string() : ""));
  result.set("value", value(fields["value"]));
  set_unless_null(result, "response_schema", fields["response_schema"]);
  return std::move(result).build();
}

Value Normalizer::interrupts(const Value& interrupts) const {
  std::vector<Value> result;
  for (const Value& one : interrupts) result.push_back(interrupt(one));
  std::sort(result.begin(), result.end(), [](const Value& a, const Value& b) {
    return std::pair(canonical_text(a["value"]), a["id"].as_string()) <
           std::pair(canonical_text(b["value"]), b["id"].as_string());
  });
  return result;
}

Value Normalizer::error(const Value& stored) const {
  return stored_error(stored, node_error_kinds_);
}

void Normalizer::add_metadata(ObjectBuilder& out, const Value& metadata) const {
  out.set("source", metadata["source"]);
  out.set("step", metadata["step"]);
  ObjectBuilder parents;
  for (const auto& [ns, id] : metadata["parents"].items()) {
    parents.set(labels_.ns(ns), labels_.checkpoint(id.as_string()));
  }
  if (!metadata["parents"].empty()) out.set("parents", std::move(parents).build());

  if (metadata.is_null()) return;
  const Value rest = metadata.erase("source").erase("step").erase("parents");
  if (!rest.empty()) out.set("metadata", value(rest));
}

// ---- Snapshots

Value Normalizer::snapshot(const StateSnapshot& snapshot) const {
  const bool exists = !snapshot.metadata.is_null();
  ObjectBuilder result;
  if (!snapshot.config.checkpoint_ns.empty()) {
    result.set("ns", labels_.ns(snapshot.config.checkpoint_ns));
  }
  const bool has_id = exists && !snapshot.config.checkpoint_id.empty();
  result.set("checkpoint",
             has_id ? Value(labels_.checkpoint(snapshot.config.checkpoint_id)) : Value());
  const auto& parent = snapshot.parent_config;
  const bool has_parent = parent && !parent->checkpoint_id.empty();
  result.set("parent", has_parent ? Value(labels_.checkpoint(parent->checkpoint_id)) : Value());
  result.set("values", value(snapshot.values));
  result.set("next", Value(snapshot.next));
  if (exists) add_metadata(result, snapshot.metadata);

  ListBuilder tasks;
  for (const SnapshotTask& task : snapshot.tasks) tasks.push_back(snapshot_task(task));
  result.set("tasks", std::move(tasks).build());
  if (!snapshot.interrupts.empty()) {
    result.set("interrupts", interrupts(interrupt_list(snapshot.interrupts)));
  }
  return std::move(result).build();
}

Value Normalizer::snapshot_task(const SnapshotTask& task) const {
  ObjectBuilder result;
  result.set("id", labels_.task(task.id, task.name));
  result.set("name", task.name);
  if (task.error && !task.error->is_null()) result.set("error", error(*task.error));
  if (!task.interrupts.empty()) {
    result.set("interrupts", interrupts(interrupt_list(task.interrupts)));
  }
  if (task.state) {
    result.set("state", snapshot(*task.state));
  } else if (task.state_config) {
    result.set("state", object({{"ns", labels_.ns(task.state_config->checkpoint_ns)}}));
  }
  if (task.result) set_unless_null(result, "result", value(*task.result));
  return std::move(result).build();
}

Value Normalizer::update_result(const Config& config) const {
  ObjectBuilder result;
  result.set("checkpoint", labels_.checkpoint(config.checkpoint_id));
  if (!config.checkpoint_ns.empty()) result.set("ns", labels_.ns(config.checkpoint_ns));
  return std::move(result).build();
}

// ---- Events

Value Normalizer::event(const StreamEvent& event) const {
  ObjectBuilder result;
  result.set("mode", Value(event.mode));
  std::string ns;
  for (const std::string& segment : event.ns) ns += (ns.empty() ? "" : "|") + segment;
  if (!ns.empty()) result.set("ns", labels_.ns(ns));
  switch (event.mode) {
    case StreamMode::tasks: result.set("data", task_event(event.data)); break;
    case StreamMode::checkpoints: result.set("data", checkpoint_event(event.data)); break;
    case StreamMode::debug: result.set("data", debug_event(event.data)); break;
    case StreamMode::messages: result.set("data", message_event(event.data)); break;
    default: result.set("data", value(event.data));
  }
  return std::move(result).build();
}

Value Normalizer::task_event(const Value& payload) const {
  return payload.contains("input") ? task_start(payload) : task_result(payload);
}

Value Normalizer::task_start(const Value& payload) const {
  Value input = payload["input"];
  // A functional task's input is stored as its positional and named arguments.
  const bool is_call = input.is_list() && input.size() == 2 && input[0].is_list() &&
                       input[1] == object() && payload["triggers"] == list({"__pregel_push"});
  if (is_call) input = input[0];

  std::vector<std::string> triggers = string_list(payload["triggers"]);
  std::sort(triggers.begin(), triggers.end());
  const std::string name = payload.get<std::string>("name");
  ObjectBuilder result;
  result.set("type", "start");
  result.set("id", labels_.task(payload.get<std::string>("id"), name));
  result.set("name", name);
  result.set("input", value(input));
  result.set("triggers", triggers);
  const Value metadata =
      payload["metadata"].is_null() ? Value() : payload["metadata"].erase("ls_integration");
  if (!metadata.empty()) result.set("metadata", value(metadata));
  return std::move(result).build();
}

Value Normalizer::task_result(const Value& payload) const {
  const std::string name = payload.get<std::string>("name");
  ObjectBuilder result;
  result.set("type", "result");
  result.set("id", labels_.task(payload.get<std::string>("id"), name));
  result.set("name", name);
  result.set("result", value(payload["result"]));
  if (!payload["error"].is_null()) result.set("error", error(payload["error"]));
  if (!payload["interrupts"].empty()) result.set("interrupts", interrupts(payload["interrupts"]));
  return std::move(result).build();
}

Value Normalizer::checkpoint_or_null(const Value& config) const {
  const Value& id = config["configurable"]["checkpoint_id"];
  return id.is_null() ? Value() : Value(labels_.checkpoint(id.as_string()));
}

Value Normalizer::state_reference(const Value& config) const {
  const Value& ns = config["configurable"]["checkpoint_ns"];
  return object({{"ns", ns.is_string() ? labels_.ns(ns.as_string()) : ""}});
}

Value Normalizer::checkpoint_event(const Value& payload) const {
  ObjectBuilder result;
  result.set("checkpoint", checkpoint_or_null(payload["config"]));
  result.set("parent", checkpoint_or_null(payload["parent_config"]));
  result.set("values", value(payload["values"]));
  result.set("next", payload["next"]);
  add_metadata(result, payload["metadata"]);
  ListBuilder tasks;
  for (const Value& task : payload["tasks"]) tasks.push_back(checkpoint_event_task(task));
  result.set("tasks", std::move(tasks).build());
  return std::move(result).build();
}

Value Normalizer::checkpoint_event_task(const Value& task) const {
  const std::string name = task.get<std::string>("name");
  ObjectBuilder result;
  result.set("id", labels_.task(task.get<std::string>("id"), name));
  result.set("name", name);
  if (!task["error"].is_null()) result.set("error", error(task["error"]));
  if (!task["interrupts"].empty()) result.set("interrupts", interrupts(task["interrupts"]));
  if (!task["state"].is_null()) result.set("state", state_reference(task["state"]));
  if (!task["result"].is_null()) result.set("result", value(task["result"]));
  return std::move(result).build();
}

Value Normalizer::debug_event(const Value& data) const {
  const Value& payload = data["payload"];
  const bool is_checkpoint = data["type"] == Value("checkpoint");
  return object({{"type", data["type"]},
                 {"step", data["step"]},
                 {"payload", is_checkpoint ? checkpoint_event(payload) : task_event(payload)}});
}

Value Normalizer::message_event(const Value& data) const {
  const Value& metadata = data.at(1);
  return object({{"message", value(data.at(0))},
                 {"node", metadata["langgraph_node"]},
                 {"step", metadata["langgraph_step"]}});
}

// ---- Interrupts

void InterruptFinder::look_in(const Value& value) {
  if (value.is_list()) {
    for (const Value& element : value) look_in(element);
  } else if (value.is_object()) {
    if (looks_like_interrupt(value)) found(value.get<std::string>("id"), value["value"]);
    for (const auto& [key, entry] : value.items()) look_in(entry);
  } else if (is_interrupt(value)) {
    const Interrupt interrupt = value.get<Interrupt>();
    found(interrupt.id, interrupt.value);
  }
}

void InterruptFinder::look_in(const StateSnapshot& snapshot) {
  for (const SnapshotTask& task : snapshot.tasks) {
    for (const Interrupt& interrupt : task.interrupts) found(interrupt.id, interrupt.value);
    if (task.state) look_in(*task.state);
    if (task.result) look_in(*task.result);
  }
  for (const Interrupt& interrupt : snapshot.interrupts) found(interrupt.id, interrupt.value);
}

void InterruptFinder::look_in(const CheckpointTuple& tuple) {
  for (const PendingWrite& write : tuple.pending_writes) look_in(write.value);
}

void InterruptFinder::label_new(Labels& labels, const Normalizer& normalizer) const {
  std::vector<std::pair<std::string, std::string>> fresh;  // question, id
  for (const auto& [id, question] : questions_) {
    if (labels.knows_interrupt(id)) continue;
    fresh.emplace_back(canonical_text(normalizer.value(question)), id);
  }
  std::sort(fresh.begin(), fresh.end());
  for (const auto& [question, id] : fresh) labels.add_interrupt(id);
}

}  // namespace clew::conformance

#include "server/run_events.hpp"

#include <algorithm>
#include <array>

#include <clew/json.hpp>

#include "server/shapes.hpp"

namespace clew::server {
namespace {

constexpr const char* kInterrupt = "__interrupt__";

constexpr std::array<std::string_view, 9> kModes = {"values",         "updates", "messages",
                                                    "messages-tuple", "tasks",   "checkpoints",
                                                    "events",         "debug",   "custom"};

std::string join(std::string_view name, const std::vector<std::string>& ns) {
  std::string joined(name);
  for (const std::string& segment : ns) joined += "|" + segment;
  return joined;
}

std::string_view mode_name(StreamMode mode) {
  switch (mode) {
    case StreamMode::values: return "values";
    case StreamMode::updates: return "updates";
    case StreamMode::custom: return "custom";
    case StreamMode::messages: return "messages";
    case StreamMode::tasks: return "tasks";
    case StreamMode::checkpoints: return "checkpoints";
    case StreamMode::debug: return "debug";
  }
  return "";
}

// The entries of a state or update, with interrupts as streams have them.
Value with_interrupts(const Value& data) {
  if (!data.is_object() || !data.contains(kInterrupt)) return plain(data);
  return plain(data.erase(kInterrupt)).set(kInterrupt, stream_interrupts(data[kInterrupt]));
}

bool is_chunk(const Value& message) {
  return message["type"].is_string() && message["type"].as_string().ends_with("Chunk");
}

Value joined_content(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) {
    return std::string(a.as_string()) + std::string(b.as_string());
  }
  const auto as_list = [](const Value& content) {
    if (content.is_list()) return content;
    if (content.is_string() && content.as_string().empty()) return list();
    return list({object({{"type", "text"}, {"text", content}})});
  };
  return as_list(a).concat(as_list(b));
}

std::string text_of(const Value& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  if (content.is_list()) {
    for (const Value& block : content) {
      if (block["text"].is_string()) text += block["text"].as_string();
    }
  }
  return text;
}

}  // namespace

bool RunEvents::is_mode(std::string_view name) {
  return std::find(kModes.begin(), kModes.end(), name) != kModes.end();
}

RunEvents::RunEvents(const Run& run, std::string graph_id)
    : run_id_(run.run_id),
      graph_id_(std::move(graph_id)),
      configurable_(run.kwargs["config"]["configurable"]),
      metadata_(run.kwargs["config"]["metadata"]),
      shows_subgraphs_(run.kwargs["subgraphs"] == Value(true)),
      is_of_protocol_(run.kwargs["__protocol__"] == Value(true)) {
  for (const Value& mode : run.kwargs["stream_mode"]) modes_.emplace(mode.as_string());
}

// The state is always told: it is the result, and the protocol shows it.
StreamOptions RunEvents::options() const {
  StreamOptions options{{StreamMode::values}, shows_subgraphs_ || is_of_protocol_};
  if (wants("updates")) options.modes.push_back(StreamMode::updates);
  if (wants("custom")) options.modes.push_back(StreamMode::custom);
  if (wants("messages") || wants("messages-tuple") || is_of_protocol_) {
    options.modes.push_back(StreamMode::messages);
  }
  if (wants("tasks")) options.modes.push_back(StreamMode::tasks);
  if (wants("checkpoints")) options.modes.push_back(StreamMode::checkpoints);
  if (wants("debug") || wants("events")) options.modes.push_back(StreamMode::debug);
  return options;
}

void RunEvents::add(std::string_view name, const std::vector<std::string>& ns, const Value& data) {
  made_.push_back({EventKind::run, join(name, ns), json_text(data), false});
}

void RunEvents::add_protocol(std::string_view method, const std::vector<std::string>& ns,
                             const Value& data) {
  made_.push_back({EventKind::protocol, join(method, ns), json_text(data), true});
}

void RunEvents::add_lifecycle(std::string_view event, const std::vector<std::string>& ns,
                              Value more) {
  std::string name = graph_id_;
  if (!ns.empty()) name = ns.back().substr(0, ns.back().find(':'));
  const Value data = object({{"event", event}, {"graph_name", name}});
  add_protocol("lifecycle", ns, merged(data, more));
}

std::vector<NewEvent> RunEvents::begin(std::int64_t attempt, const Value& input) {
  add_lifecycle("running", {}, {});
  add("metadata", {}, object({{"run_id", run_id_}, {"attempt", attempt}}));
  if (wants("events") && attempt == 1) {
    add_callback("on_chain_start", {.id = run_id_, .name = graph_id_}, object({{"input", input}}));
  }
  // Of no part of the run that a later attempt could repeat.
  for (NewEvent& event : made_) event.source = run_id_;
  return std::move(made_);
}

std::vector<NewEvent> RunEvents::take(const StreamEvent& event) {
  made_.clear();
  const bool is_shown = event.ns.empty() || shows_subgraphs_;
  switch (event.mode) {
    case StreamMode::values: take_values(event); break;
    case StreamMode::messages: take_message(event); break;
    case StreamMode::debug: take_debug(event); break;
    case StreamMode::updates:
      if (is_shown) add("updates", event.ns, with_interrupts(event.data));
      break;
    case StreamMode::checkpoints:
      if (is_shown) {
        Value data = as_first_told(plain(event.data));
        data = data.set("config", with_configurable(data["config"]));
        add("checkpoints", event.ns,
            data.set("parent_config", with_configurable(data["parent_config"])));
      }
      break;
    case StreamMode::custom:
    case StreamMode::tasks:
      if (is_shown) add(mode_name(event.mode), event.ns, plain(event.data));
      break;
  }
  return std::move(made_);
}

std::vector<NewEvent> RunEvents::end(std::string_view status, const Value& error) {
  made_.clear();
  if (wants("events") && status == "success") {
    add_callback("on_chain_end", {.id = run_id_, .name = graph_id_},
                 object({{"output", last_values_}}));
  }
  if (!error.is_null()) add("error", {}, error);
  if (status == "success" && has_said_interrupted_) {
    for (const auto& [name, ns] : children_) add_lifecycle("interrupted", ns, {});
  } else if (status == "success") {
    end_children();
    add_lifecycle("completed", {}, {});
  } else if (!error.is_null()) {
    add_lifecycle("failed", {}, object({{"error", error["message"]}}));
  } else {
    add_lifecycle("interrupted", {}, {});
  }
  made_.push_back({EventKind::run_done, "metadata",
                   json_text(object({{"status", "run_done"}, {"run_id", run_id_}})), false});
  return std::move(made_);
}

Value RunEvents::result(const Value& open) const {
  if (interrupts_.empty()) return last_values_.is_null() ? object() : last_values_;
  std::map<std::string_view, std::size_t> places;
  for (auto [task, questions] : open.items()) {
    for (const Value& question : questions)
      places.emplace(question["id"].as_string(), places.size());
  }
  std::vector<Value> ordered = interrupts_;
  std::stable_sort(ordered.begin(), ordered.end(), [&](const Value& a, const Value& b) {
    return places[a["id"].as_string()] < places[b["id"].as_string()];
  });
  const Value interrupts(ordered);
  if (interrupts_.size() > 1 || !asked_in_.is_object()) return object({{kInterrupt, interrupts}});
  return asked_in_.set(kInterrupt, interrupts);
}

// States ------------------------------------------------------------------------

void RunEvents::take_values(const StreamEvent& event) {
  const Value data = with_interrupts(event.data);
  const Value interrupts = data.is_object() ? data[kInterrupt] : Value();
  if (event.ns.empty()) {
    last_values_ = data.is_object() ? data.erase(kInterrupt) : data;
    for (const Value& interrupt : interrupts) interrupts_.push_back(interrupt);
    if (!interrupts.is_null()) asked_in_ = last_values_;
    if (interrupts.is_null()) end_children();
  }
  if (!interrupts.is_null()) ask(event.ns, interrupts);
  const bool is_shown = wants("values") && (event.ns.empty() || shows_subgraphs_);
  made_.push_back({is_shown ? EventKind::run : EventKind::protocol, join("values", event.ns),
                   json_text(data), true});
  if (event.ns.empty() || !children_.emplace(join("", event.ns), event.ns).second) return;
  const std::string& segment = event.ns.back();
  const std::size_t colon = segment.find(':');
  add_lifecycle("started", event.ns,
                object({{"namespace", event.ns},
                        {"trigger_call_id",
                         colon == std::string::npos ? segment : segment.substr(colon + 1)}}));
}

void RunEvents::ask(const std::vector<std::string>& ns, const Value& interrupts) {
  for (const Value& interrupt : interrupts) {
    if (!asked_.emplace(interrupt["id"].as_string()).second) continue;
    add_protocol("input.requested", ns,
                 object({{"interrupt_id", interrupt["id"]},
                         {"payload", interrupt["value"]},
                         {"value", interrupt["value"]}}));
  }
  if (!std::exchange(has_said_interrupted_, true)) add_lifecycle("interrupted", {}, {});
}

// The root has gone on, so what its tasks ran has come to an end.
void RunEvents::end_children() {
  for (const auto& [name, ns] : children_) add_lifecycle("completed", ns, {});
  children_.clear();
}

// Messages ----------------------------------------------------------------------

void RunEvents::take_message(const StreamEvent& event) {
  const Value data = plain(event.data);
  const Value& message = data[0];
  if (is_of_protocol_ && is_chunk(message)) take_protocol_chunk(event.ns, message);
  if (!event.ns.empty() && !shows_subgraphs_) return;
  if (wants("messages-tuple")) add("messages", event.ns, data);
  if (!wants("messages")) return;
  const std::string id = message["id"].is_string() ? message["id"].get<std::string>() : "";
  if (!messages_.contains(id)) {
    add("messages/metadata", event.ns, object({{id, object({{"metadata", data[1]}})}}));
  }
  const bool is_partial = is_chunk(message);
  const Value whole = accumulated(message);
  add(is_partial ? "messages/partial" : "messages/complete", event.ns, list({whole}));
}

// The message that the chunks so far make.
Value RunEvents::accumulated(const Value& message) {
  const std::string id = message["id"].is_string() ? message["id"].get<std::string>() : "";
  Value whole = message;
  if (is_chunk(message)) {
    const std::string type = message["type"].get<std::string>();
    whole = whole.set("type", type == "AIMessageChunk" ? "ai" : message["type"])
                .erase("tool_call_chunks")
                .erase("chunk_position");
    if (const auto before = messages_.find(id); before != messages_.end()) {
      whole = whole.set("content", joined_content(before->second["content"], message["content"]));
    }
  }
  messages_[id] = whole;
  return whole;
}

void RunEvents::take_protocol_chunk(const std::vector<std::string>& ns, const Value& chunk) {
  const std::string id = chunk["id"].is_string() ? chunk["id"].get<std::string>() : "";
  const std::string text = text_of(chunk["content"]);
  Value& whole = messages_["protocol:" + id];
  if (open_messages_.insert(id).second) {
    whole = "";
    add_protocol("messages", ns,
                 object({{"event", "message-start"}, {"role", "ai"}, {"id", chunk["id"]}}));
    add_protocol("messages", ns,
                 object({{"event", "content-block-start"},
                         {"index", 0},
                         {"content", object({{"type", "text"}, {"text", ""}})}}));
  }
  if (!text.empty()) {
    whole = std::string(whole.as_string()) + text;
    add_protocol("messages", ns,
                 object({{"event", "content-block-delta"},
                         {"index", 0},
                         {"delta", object({{"type", "text-delta"}, {"text", text}})}}));
  }
  if (chunk["chunk_position"] != Value("last")) return;
  add_protocol("messages", ns,
               object({{"event", "content-block-finish"},
                       {"index", 0},
                       {"content", object({{"type", "text"}, {"text", whole}})}}));
  add_protocol("messages", ns, object({{"event", "message-finish"}}));
}

// Debug and callback events -----------------------------------------------------

Value RunEvents::with_configurable(const Value& config) const {
  if (!config.is_object()) return config;
  return config.set("configurable", merged(configurable_, config["configurable"]));
}

// A checkpoint that a later attempt goes on from was stored with more metadata than
// its run had told.
Value RunEvents::as_first_told(const Value& checkpoint) const {
  const Value& metadata = checkpoint["metadata"];
  if (metadata["run_id"] != Value(run_id_)) return checkpoint;
  ObjectBuilder told;
  for (const std::string_view key :
       {"source", "step", "parents", "counters_since_delta_snapshot"}) {
    if (const Value* value = metadata.find(key)) told.set(key, *value);
  }
  return checkpoint.set("metadata", std::move(told).build());
}

Value RunEvents::checkpoint_payload(const Value& payload) const {
  const auto checkpoint = [](const Value& config) {
    return config.is_object() ? config["configurable"] : Value();
  };
  return payload.set("config", with_configurable(payload["config"]))
      .set("parent_config", with_configurable(payload["parent_config"]))
      .set("checkpoint", checkpoint(payload["config"]))
      .set("parent_checkpoint", checkpoint(payload["parent_config"]));
}

void RunEvents::take_debug(const StreamEvent& event) {
  if (!event.ns.empty() && !shows_subgraphs_) return;
  const Value data = plain(event.data);
  const Value& payload = data["payload"];
  if (wants("debug")) {
    const bool is_checkpoint = data["type"] == Value("checkpoint");
    add("debug", event.ns,
        is_checkpoint ? data.set("payload", checkpoint_payload(as_first_told(payload))) : data);
  }
  if (!wants("events") || data["type"] == Value("checkpoint")) return;
  const std::string id = payload["id"].get<std::string>();
  const std::string name = payload["name"].get<std::string>();
  if (data["type"] == Value("task")) {
    const Callback task{id, name, data["step"], payload["triggers"], event.ns};
    tasks_.insert_or_assign(id, StartedTask{task, payload["input"]});
    add_callback("on_chain_start", task, object({{"input", payload["input"]}}));
  } else if (const auto started = tasks_.find(id); started != tasks_.end()) {
    const auto& [task, input] = started->second;
    add_callback("on_chain_stream", task, object({{"chunk", payload["result"]}}));
    add_callback("on_chain_end", task, object({{"output", payload["result"]}, {"input", input}}));
    tasks_.erase(started);
  }
}

// Where in its graph a task is.
Value RunEvents::place_of(const Callback& task) {
  Value place = object(
      {{"langgraph_step", task.step},
       {"langgraph_node", task.name},
       {"langgraph_triggers", task.triggers},
       {"langgraph_checkpoint_ns",
        join("", task.ns).erase(0, 1) + (task.ns.empty() ? "" : "|") + task.name + ":" + task.id}});
  const bool is_pulled = task.triggers != list({"__pregel_push"});
  return is_pulled ? place.set("langgraph_path", list({"__pregel_pull", task.name})) : place;
}

void RunEvents::add_callback(std::string_view event, const Callback& of, const Value& data) {
  const bool is_root = of.id == run_id_;
  Value metadata = merged(metadata_, object({{"run_id", run_id_},
                                             {"thread_id", configurable_["thread_id"]},
                                             {"graph_id", graph_id_}}));
  if (!is_root) metadata = metadata.merge(place_of(of));
  const Value tags = is_root ? list() : list({"graph:step:" + std::to_string(of.step.as_int())});
  add("events", {},
      object({{"event", event},
              {"data", data},
              {"name", of.name},
              {"tags", tags},
              {"run_id", of.id},
              {"metadata", metadata},
              {"parent_ids", is_root ? list() : list({run_id_})}}));
}

}  // namespace clew::server

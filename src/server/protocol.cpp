#include "server/protocol.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

#include <clew/json.hpp>

#include "server/body.hpp"
#include "server/new_ids.hpp"
#include "server/shapes.hpp"
#include "server/watch.hpp"
#include "value/joined.hpp"

namespace clew::server {
namespace {

constexpr std::array<std::string_view, 9> kChannels = {"values", "updates", "messages",
                                                       "tools",  "custom",  "lifecycle",
                                                       "input",  "tasks",   "checkpoints"};

// How long a command waits to see whether the run before it asks something.
constexpr std::chrono::seconds kSettling{5};

bool is_channel(std::string_view name) {
  return std::find(kChannels.begin(), kChannels.end(), name) != kChannels.end() ||
         (name.starts_with("custom:") && name.size() > 7);
}

struct EventName {
  std::string_view method;
  std::vector<std::string> ns;
};

EventName split(std::string_view name) {
  EventName result{name.substr(0, name.find('|')), {}};
  while (name.find('|') != std::string_view::npos) {
    name.remove_prefix(name.find('|') + 1);
    result.ns.emplace_back(name.substr(0, name.find('|')));
  }
  return result;
}

std::string_view channel_of(std::string_view method) {
  return method == "input.requested" ? "input" : method;
}

// Messages without what is empty in them.
Value trimmed(const Value& value) {
  if (value.is_list()) {
    ListBuilder elements;
    for (const Value& element : value) elements.push_back(trimmed(element));
    return std::move(elements).build();
  }
  if (!value.is_object()) return value;
  const bool is_message =
      value["type"].is_string() && value.contains("content") && value.contains("response_metadata");
  ObjectBuilder entries;
  if (is_message) entries.set("type", value["type"]);
  for (auto [key, part] : value.items()) {
    const bool is_empty = part.is_null() || ((part.is_object() || part.is_list()) && part.empty());
    if (is_message && is_empty && key != "content") continue;
    entries.set(key, is_message ? part : trimmed(part));
  }
  return std::move(entries).build();
}

// What the server makes up itself has an id that follows from what it says.
std::string event_id(const Event& event, const EventName& name, const Value& data) {
  const std::string prefix = "synth:" + event.run_id + ":";
  if (name.method == "lifecycle") {
    return prefix + "lc|" + internal::joined(name.ns, "|") + "|" + data["event"].get<std::string>();
  }
  if (name.method == "input.requested") {
    return prefix + "input|" + internal::joined(name.ns, "|") + "|" +
           data["interrupt_id"].get<std::string>();
  }
  return std::to_string(event.ms) + "-" + std::to_string(event.protocol_seq);
}

// An answer of the protocol itself that says no.
struct Refusal {
  std::string code;
  std::string message;
};

Value success(const Value& id, const Value& result, std::int64_t seq) {
  return object({{"type", "success"},
                 {"id", id},
                 {"result", result},
                 {"meta", object({{"applied_through_seq", seq}})}});
}

Value failure(const Value& id, const std::string& code, const std::string& message) {
  return object({{"type", "error"}, {"id", id}, {"error", code}, {"message", message}});
}

}  // namespace

Value protocol_event(const Event& event) {
  const EventName name = split(event.name);
  Value data = parse_json(event.data);
  if (name.method == "values") data = trimmed(data.erase("__interrupt__"));
  return object({{"type", "event"},
                 {"event_id", event_id(event, name, data)},
                 {"seq", event.protocol_seq},
                 {"method", name.method},
                 {"params", object({{"namespace", name.ns.empty() ? list() : Value(name.ns)},
                                    {"timestamp", event.ms},
                                    {"data", data}})}});
}

// Events ------------------------------------------------------------------------

ProtocolFilter ProtocolFilter::of(const Value& json) {
  if (!json.is_object() || !json["channels"].is_list() || json["channels"].empty()) {
    throw ServiceError(400, "channels is required and must be a non-empty array");
  }
  ProtocolFilter filter;
  for (const Value& channel : json["channels"]) {
    if (!channel.is_string() || !is_channel(channel.as_string())) {
      throw ServiceError(400, "channels contains unsupported entries: " + json_text(channel) +
                                  ". Allowed: values, updates, messages, tools, custom, "
                                  "lifecycle, input, tasks, or any `custom:<name>`.");
    }
    filter.channels.push_back(channel.get<std::string>());
  }
  try {
    const Body body(json);
    for (const Value& prefix : body.list_field("namespaces")) {
      const auto segments = Body(object({{"namespaces", prefix}})).texts("namespaces");
      filter.namespaces.push_back(segments.value_or(std::vector<std::string>()));
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (const auto depth = body.integer("depth", 0, kMost)) {
      filter.depth = static_cast<std::size_t>(*depth);
    }
    filter.since = body.integer("since", 0, kMost).value_or(0);
  } catch (const ServiceError& error) {
    throw ServiceError(400, error.detail());
  }
  return filter;
}

bool ProtocolFilter::matches(const Event& event) const {
  const EventName name = split(event.name);
  const std::string_view channel = channel_of(name.method);
  if (std::find(channels.begin(), channels.end(), channel) == channels.end()) return false;
  const auto is_within = [&](const std::vector<std::string>& prefix) {
    if (prefix.size() > name.ns.size()) return false;
    if (!std::equal(prefix.begin(), prefix.end(), name.ns.begin())) return false;
    return !depth || name.ns.size() - prefix.size() <= *depth;
  };
  if (namespaces.empty()) return is_within({});
  return std::any_of(namespaces.begin(), namespaces.end(), is_within);
}

bool ProtocolFilter::only_watches() const {
  return std::all_of(channels.begin(), channels.end(), [](const std::string& channel) {
    return channel == "lifecycle" || channel == "input";
  });
}

std::unique_ptr<EventReader> ProtocolService::stream(const Caller& caller,
                                                     const std::string& thread_id,
                                                     const ProtocolFilter& filter) {
  const std::string id = checked_thread(caller, thread_id);
  auto events = log_.read_protocol(id, filter.since,
                                   [filter](const Event& event) { return filter.matches(event); });
  return filter.only_watches() ? watching(std::move(events)) : std::move(events);
}

std::unique_ptr<EventReader> ProtocolService::events(const Caller& caller,
                                                     const std::string& thread_id,
                                                     std::int64_t since) {
  return log_.read_protocol(checked_thread(caller, thread_id), since,
                            [](const Event&) { return true; });
}

std::string ProtocolService::checked_thread(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "thread");
  const bool is_hidden = parts_.repository->look([&](const Tables& tables) {
    return tables.threads().get(id, {}) && !tables.threads().get(id, caller.owner);
  });
  if (is_hidden) throw ServiceError(404, "Thread or assistant not found.");
  return id;
}

// Commands ----------------------------------------------------------------------

Value ProtocolService::command(const Caller& caller, const std::string& thread_id,
                               const Value& json, std::int64_t seq) {
  if (!json.is_object() || !json["id"].is_int() || !json["method"].is_string()) {
    throw ServiceError(400, "Protocol commands must include an integer id and string method.");
  }
  const Value& id = json["id"];
  const std::string method = json["method"].get<std::string>();
  const Value params = json["params"].is_object() ? json["params"] : object();
  try {
    const std::string thread = checked_thread(caller, thread_id);
    if (method == "run.start") return success(id, start_run(caller, thread, params), seq);
    if (method == "input.respond") return success(id, respond(caller, thread, params), seq);
    if (method == "agent.getTree") {
      return failure(id, "no_such_run", "No active run is bound to this thread.");
    }
    return failure(id, "unknown_command", "Unknown protocol command: " + method);
  } catch (const Refusal& refusal) {
    return failure(id, refusal.code, refusal.message);
  } catch (const ServiceError& error) {
    return failure(id, "unknown_error", std::to_string(error.status()) + ": " + error.detail());
  }
}

namespace {

// A place among those who wait, if one is free.
template <class Places>
class Place {
 public:
  explicit Place(Places& places) : places_(places), is_taken_(places.try_acquire()) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (is_taken_) places_.release();
  }

  bool is_taken() const { return is_taken_; }

 private:
  Places& places_;
  const bool is_taken_;
};

}  // namespace

// The questions of a thread when no run of it is on its way, or after a while.
Value ProtocolService::settled_interrupts(const std::string& thread_id, Places& places) {
  if (const Place place(places); place.is_taken()) wait_until_settled(thread_id);
  const auto thread = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().get(thread_id, {}); });
  return thread && thread->interrupts ? *thread->interrupts : object();
}

void ProtocolService::wait_until_settled(const std::string& thread_id) {
  struct Settling {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t open = 0;
  };
  const auto settling = std::make_shared<Settling>();
  const auto runs = parts_.repository->look(
      [&](const Tables& tables) { return tables.runs().unfinished(thread_id); });
  for (const Run& run : runs) {
    const std::lock_guard lock(settling->mutex);
    const bool is_open = log_.when_over(thread_id, run.run_id, [settling](const RunOutcome&) {
      const std::lock_guard guard(settling->mutex);
      --settling->open;
      settling->changed.notify_all();
    });
    if (is_open) ++settling->open;
  }
  std::unique_lock lock(settling->mutex);
  settling->changed.wait_for(lock, kSettling, [&] { return settling->open == 0; });
}

Value ProtocolService::start_run(const Caller& caller, const std::string& thread_id,
                                 const Value& params) {
  if (!params["assistant_id"].is_string()) {
    throw Refusal{"invalid_argument", "run.start requires an assistant_id."};
  }
  Value body = object({{"assistant_id", params["assistant_id"]},
                       {"input", params["input"]},
                       {"config", params["config"]},
                       {"metadata", params["metadata"]},
                       {"if_not_exists", "create"},
                       {"stream_mode", list({"values"})},
                       {"stream_resumable", true}});
  if (!params["multitaskStrategy"].is_null()) {
    body = body.set("multitask_strategy", params["multitaskStrategy"]);
  }
  const Value& fork = params["config"]["configurable"]["checkpoint_id"];
  if (!params["input"].is_null() && fork.is_null() &&
      !settled_interrupts(thread_id, starting_).empty()) {
    body = body.erase("input").set("command", object({{"resume", params["input"]}}));
  }
  const StartedRun run = runs_.create(caller, thread_id, body, {.is_of_protocol = true});
  return object({{"run_id", run.run_id}});
}

Value ProtocolService::respond(const Caller& caller, const std::string& thread_id,
                               const Value& params) {
  Value responses = params["responses"];
  if (!responses.is_list()) responses = list({params});
  const auto thread = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().get(thread_id, caller.owner); });
  if (!thread || !thread->metadata["assistant_id"].is_string()) {
    throw Refusal{"no_such_run", "No run has been started on this thread."};
  }
  const Value open = settled_interrupts(thread_id, responding_);
  ObjectBuilder answers;
  for (const Value& response : responses) {
    const Value& id = response["interrupt_id"];
    if (!id.is_string())
      throw Refusal{"invalid_argument", "input.respond requires an interrupt_id."};
    bool is_open = false;
    for (auto [task, questions] : open.items()) {
      for (const Value& question : questions) is_open = is_open || question["id"] == id;
    }
    if (!is_open) {
      throw Refusal{"no_such_interrupt",
                    "Unknown or already-consumed interrupt: " + id.get<std::string>()};
    }
    answers.set(id.as_string(), response["response"]);
  }
  Value command = object({{"resume", std::move(answers).build()}});
  for (const char* key : {"update", "goto"}) {
    if (!params[key].is_null()) command = command.set(key, params[key]);
  }
  const Value body = object({{"assistant_id", thread->metadata["assistant_id"]},
                             {"command", command},
                             {"config", params["config"]},
                             {"metadata", params["metadata"]},
                             {"stream_mode", list({"values"})},
                             {"stream_resumable", true}});
  runs_.create(caller, thread_id, body, {.is_of_protocol = true});
  return object();
}

}  // namespace clew::server

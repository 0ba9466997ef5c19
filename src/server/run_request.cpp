#include "server/run_request.hpp"

#include <cmath>

#include "server/body.hpp"
#include "server/new_ids.hpp"
#include "server/run_call.hpp"
#include "server/run_events.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

Value stream_modes(const Body& body) {
  const Value& mode = body["stream_mode"];
  if (mode.is_null()) return list({"values"});
  const Value modes = mode.is_string() ? list({mode}) : mode;
  if (!modes.is_list()) throw ServiceError(422, "\"stream_mode\" is no mode or list of modes");
  for (const Value& name : modes) {
    if (!name.is_string() || !RunEvents::is_mode(name.as_string())) {
      throw ServiceError(422, "\"stream_mode\" " + json_text(name) +
                                  " is not one of values, "
                                  "updates, messages, messages-tuple, tasks, checkpoints, events, "
                                  "debug, custom");
    }
  }
  return modes;
}

Value node_names(const Body& body, std::string_view key) {
  const Value& names = body[key];
  if (names.is_null() || names == Value("*")) return names;
  body.texts(key);
  return names;
}

Value checkpoint_of(const Body& body) {
  Value checkpoint = body.object_field("checkpoint");
  if (checkpoint.is_null()) checkpoint = object();
  if (const auto id = body.text("checkpoint_id")) checkpoint = checkpoint.set("checkpoint_id", *id);
  const Body fields(checkpoint);
  const auto id = fields.text("checkpoint_id");
  if (id && !is_uuid(*id)) throw ServiceError(422, "Invalid checkpoint ID");
  fields.text("checkpoint_ns");
  fields.object_field("checkpoint_map");
  return checkpoint.erase("thread_id");
}

void check_config(const Value& config) {
  const Body fields(config);
  fields.object_field("configurable");
  fields.texts("tags");
  fields.integer("recursion_limit", 1, std::numeric_limits<std::int32_t>::max());
  fields.integer("max_concurrency", 0, std::numeric_limits<std::int32_t>::max());
}

std::string durability_of(const Body& body) {
  const auto durability = body.choice("durability", {"sync", "async", "exit"});
  if (durability) return *durability;
  return body.flag("checkpoint_during").value_or(true) ? "async" : "exit";
}

bool is_reserved(std::string_view key) {
  return key.starts_with("__") || key.starts_with("langgraph_");
}

// What a caller may say: the rest is the server's.
Value without_reserved(const Value& configurable) {
  ObjectBuilder kept;
  if (configurable.is_object()) {
    for (auto [key, value] : configurable.items()) {
      if (!is_reserved(key)) kept.set(key, value);
    }
  }
  return std::move(kept).build();
}

Value without_place(Value configurable) {
  for (const char* key : {"checkpoint_id", "checkpoint_ns", "checkpoint_map", "thread_id"}) {
    configurable = configurable.erase(key);
  }
  return configurable;
}

Value run_metadata(const RunOrder& order) {
  const Value ours = merged(merged(order.request.config["metadata"], order.assistant.metadata),
                            order.is_stateless ? order.caller.owner : order.thread.metadata);
  return merged(merged(merged(ours, order.request.metadata),
                       object({{"assistant_id", order.assistant.assistant_id}})),
                order.caller.owner);
}

Value run_configurable(const RunOrder& order, const Value& given, const Run& run) {
  const Caller& caller = order.caller;
  const Value permissions = caller.permissions.empty() ? list() : Value(caller.permissions);
  const double after = order.request.after_seconds;
  const Value server =
      object({{"langgraph_auth_user", caller.user},
              {"langgraph_auth_user_id", caller.identity},
              {"langgraph_auth_permissions", permissions},
              {"langgraph_request_id", caller.request_id},
              {"__request_start_time_ms__", run.created_at.time_since_epoch().count() / 1000},
              {"__after_seconds__",
               std::floor(after) == after ? Value(static_cast<std::int64_t>(after)) : Value(after)},
              {"run_id", run.run_id},
              {"thread_id", run.thread_id},
              {"graph_id", order.assistant.graph_id},
              {"assistant_id", order.assistant.assistant_id},
              {"user_id", caller.identity}});
  Value configurable =
      merged(merged(merged(given, order.request.checkpoint), caller.configurable), server);
  if (!order.cron_id.empty()) configurable = configurable.set("cron_id", order.cron_id);
  return configurable;
}

}  // namespace

RunRequest RunRequest::of(const Value& json, const WebhookPolicy& policy) {
  const Body body(json);
  RunRequest request;
  request.assistant_id = body.required_text("assistant_id");
  request.input = body["input"];
  request.command = body.object_field("command");
  if (!request.command.is_null()) command_of(request.command);
  request.config = merged(object(), body.object_field("config"));
  check_config(request.config);
  request.context = body.object_field("context");
  if (!request.context.empty() && !request.config["configurable"].empty()) {
    throw ServiceError(400, "Cannot specify both configurable and context; prefer context alone.");
  }
  request.metadata = merged(object(), body.object_field("metadata"));
  request.checkpoint = checkpoint_of(body);
  request.stream_mode = stream_modes(body);
  request.stream_subgraphs = body.flag("stream_subgraphs").value_or(false);
  request.stream_resumable = body.flag("stream_resumable").value_or(false);
  request.interrupt_before = node_names(body, "interrupt_before");
  request.interrupt_after = node_names(body, "interrupt_after");
  request.multitask_strategy =
      body.choice("multitask_strategy", {"reject", "rollback", "interrupt", "enqueue"})
          .value_or("enqueue");
  request.creates_thread = body.choice("if_not_exists", {"create", "reject"}) == "create";
  request.cancels_on_disconnect = body.choice("on_disconnect", {"cancel", "continue"}) == "cancel";
  request.keeps_thread = body.choice("on_completion", {"delete", "keep"}) == "keep";
  request.after_seconds = std::min(body.number("after_seconds", 0).value_or(0), 1e9);
  request.durability = durability_of(body);
  if (const auto url = body.text("webhook")) {
    check_webhook(*url, policy);
    request.webhook = *url;
  }
  request.feedback_keys = body.list_field("feedback_keys");
  return request;
}

Run new_run(const RunOrder& order, Time now) {
  const RunRequest& request = order.request;
  Run run;
  run.run_id = new_uuid7();
  run.thread_id = order.thread.thread_id;
  run.assistant_id = order.assistant.assistant_id;
  run.multitask_strategy = request.multitask_strategy;
  run.created_at = run.updated_at = now;
  run.due_at =
      now + std::chrono::microseconds(static_cast<std::int64_t>(request.after_seconds * 1e6));
  run.metadata = run_metadata(order);

  // Configurable and context feed each other; the assistant's are beneath.
  const Value given = without_reserved(request.config["configurable"]);
  const Value said = request.context.empty() ? without_place(given) : request.context;
  const Value configurable =
      merged(merged(order.assistant.config["configurable"], given), without_reserved(said));
  const Value config = merged(order.assistant.config, request.config)
                           .set("configurable", run_configurable(order, configurable, run))
                           .set("metadata", run.metadata);
  run.kwargs = object({{"input", request.input},
                       {"command", request.command},
                       {"config", config},
                       {"context", merged(order.assistant.context, said)},
                       {"stream_mode", request.stream_mode},
                       {"interrupt_before", request.interrupt_before},
                       {"interrupt_after", request.interrupt_after},
                       {"webhook", request.webhook},
                       {"feedback_keys", request.feedback_keys},
                       {"temporary", order.is_stateless && !request.keeps_thread},
                       {"subgraphs", request.stream_subgraphs},
                       {"resumable", request.stream_resumable},
                       {"checkpoint_during", request.durability != "exit"},
                       {"durability", request.durability}});
  if (order.is_of_protocol) run.kwargs = run.kwargs.set("__protocol__", true);
  return run;
}

}  // namespace clew::server

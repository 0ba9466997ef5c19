#include "server/run_call.hpp"

#include "server/service_error.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

Goto goto_of(const Value& target) {
  if (target.is_string()) return Goto(target.get<std::string>());
  if (target.is_object() && target["node"].is_string()) {
    return Goto(Send{target["node"].get<std::string>(), target["input"]});
  }
  throw ServiceError(422,
                     "command.goto is a node's name, {\"node\", \"input\"}, or a list of these");
}

std::vector<std::string> names(const Value& value) {
  std::vector<std::string> result;
  if (value.is_string()) return {value.get<std::string>()};
  if (value.is_list()) {
    for (const Value& name : value) result.push_back(name.get<std::string>());
  }
  return result;
}

Durability durability_of(const Value& name) {
  if (name == Value("sync")) return Durability::sync;
  if (name == Value("exit")) return Durability::exit;
  return Durability::async;
}

std::string text(const Value& value) { return value.is_string() ? value.get<std::string>() : ""; }

}  // namespace

Value command_of(const Value& command) {
  Command result;
  result.update = command["update"];
  result.resume = command["resume"];
  const Value& go = command["goto"];
  if (go.is_list()) {
    for (const Value& target : go) result.goto_.push_back(goto_of(target));
  } else if (!go.is_null()) {
    result.goto_.push_back(goto_of(go));
  }
  return result;
}

RunCall run_call(const Run& run, const HostedGraph& graph) {
  const Value& kwargs = run.kwargs;
  const Value& configurable = kwargs["config"]["configurable"];
  RunCall call;
  call.input = kwargs["command"].is_object() ? command_of(kwargs["command"]) : kwargs["input"];
  Config& config = call.config;
  config.thread_id = run.thread_id;
  config.checkpoint_id = text(configurable["checkpoint_id"]);
  config.checkpoint_ns = text(configurable["checkpoint_ns"]);
  config.checkpoint_map = configurable["checkpoint_map"];
  config.configurable =
      configurable.erase("checkpoint_id").erase("checkpoint_ns").erase("checkpoint_map");
  config.context = graph.run_context(kwargs["context"]);
  config.metadata = kwargs["config"]["metadata"];
  config.tags = names(kwargs["config"]["tags"]);
  if (const Value& limit = kwargs["config"]["recursion_limit"]; limit.is_int()) {
    config.recursion_limit = static_cast<int>(limit.as_int());
  }
  if (const Value& most = kwargs["config"]["max_concurrency"]; most.is_int()) {
    config.max_concurrency = static_cast<std::size_t>(most.as_int());
  }
  config.durability = durability_of(kwargs["durability"]);
  config.interrupt_before = names(kwargs["interrupt_before"]);
  config.interrupt_after = names(kwargs["interrupt_after"]);
  return call;
}

}  // namespace clew::server

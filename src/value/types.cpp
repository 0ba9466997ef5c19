#include <clew/types.hpp>

#include <clew/extension.hpp>
#include <clew/time.hpp>

namespace clew {
namespace {

constexpr std::string_view kModule = "langgraph.types";

const Value& payload_of(const Value& value, std::string_view name) {
  if (!is_instance(value, kModule, name)) {
    throw ValueError("expected " + std::string(name) + ", found " + value.type_name());
  }
  return value.as_extension().payload;
}

Value timeout_value(const TimeoutPolicy& policy) {
  const Value run_timeout = policy.run_timeout
                                ? Value(static_cast<double>(policy.run_timeout->count()) / 1000.0)
                                : Value();
  return make_extension(
      ExtensionCode::construct_kwargs, kModule, "TimeoutPolicy",
      object({{"run_timeout", run_timeout}, {"idle_timeout", nullptr}, {"refresh_on", "auto"}}));
}

}  // namespace

bool is_send(const Value& value) { return is_instance(value, kModule, "Send"); }
bool is_command(const Value& value) { return is_instance(value, kModule, "Command"); }
bool is_interrupt(const Value& value) { return is_instance(value, kModule, "Interrupt"); }

Goto::Goto(Send send) : target_(to_value(send)) {}

Value to_value(const Send& send) {
  Value arguments = list({send.node, send.arg});
  if (send.timeout) arguments = arguments.append(timeout_value(*send.timeout));
  return make_extension(ExtensionCode::construct_args, kModule, "Send", std::move(arguments));
}

void from_value(const Value& value, Send& send) {
  const Value& arguments = payload_of(value, "Send");
  send.node = arguments.get<std::string>(0);
  send.arg = arguments[1];
  send.timeout.reset();
  if (arguments[2].is_extension()) {
    const Value& seconds = arguments[2].as_extension().payload["run_timeout"];
    if (seconds.is_double() || seconds.is_int()) {
      send.timeout = TimeoutPolicy{
          std::chrono::milliseconds(static_cast<std::int64_t>(seconds.as_double() * 1000))};
    }
  }
}

Value to_value(const Interrupt& interrupt) {
  return make_extension(
      ExtensionCode::construct_kwargs, kModule, "Interrupt",
      object({{"value", interrupt.value}, {"id", interrupt.id}, {"response_schema", nullptr}}));
}

void from_value(const Value& value, Interrupt& interrupt) {
  const Value& fields = value.is_object() ? value : payload_of(value, "Interrupt");
  interrupt.value = fields["value"];
  interrupt.id = fields["id"].is_string() ? std::string(fields["id"].as_string()) : std::string();
}

Value to_value(const Overwrite& overwrite) {
  return make_extension(ExtensionCode::construct_kwargs, kModule, "Overwrite",
                        object({{"value", overwrite.value}, {"type", "__overwrite__"}}));
}

void from_value(const Value& value, Overwrite& overwrite) {
  overwrite.value = payload_of(value, "Overwrite")["value"];
}

const Value* overwritten(const Value& value) {
  if (value.is_extension()) {
    const Extension extension = value.as_extension();
    return extension.is("langgraph.types", "Overwrite") ? extension.payload.find("value") : nullptr;
  }
  if (!value.is_object() || value.size() > 2) return nullptr;
  if (value.size() == 1) return value.find("__overwrite__");
  return value["type"] == Value("__overwrite__") ? value.find("value") : nullptr;
}

Value to_value(const Command& command) {
  ListBuilder targets;
  for (const Goto& go : command.goto_) targets.push_back(go.target());
  return make_extension(ExtensionCode::construct_kwargs, kModule, "Command",
                        object({{"graph", command.graph.empty() ? Value() : Value(command.graph)},
                                {"update", command.update},
                                {"resume", command.resume},
                                {"goto", std::move(targets).build()}}));
}

void from_value(const Value& value, Command& command) {
  const Value& fields = payload_of(value, "Command");
  command = {};
  if (fields["graph"].is_string()) command.graph = fields["graph"].as_string();
  command.update = fields["update"];
  command.resume = fields["resume"];
  const auto add = [&](const Value& target) {
    if (is_send(target)) {
      command.goto_.emplace_back(target.get<Send>());
    } else {
      command.goto_.emplace_back(target.get<std::string>());
    }
  };
  const Value& targets = fields["goto"];
  if (targets.is_list()) {
    for (const Value& target : targets) add(target);
  } else if (!targets.is_null()) {
    add(targets);
  }
}

}  // namespace clew

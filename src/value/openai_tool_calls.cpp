#include "value/openai_tool_calls.hpp"

#include <clew/json.hpp>

namespace clew::internal {

namespace {

// As lenient as Python's json.loads.
Value parse_arguments(std::string_view text) {
  return parse_json(text, {.allow_non_finite = true, .lone_surrogates = LoneSurrogates::replace});
}

std::optional<std::string> optional_text(const Value& value) {
  return value.is_string() ? std::optional(std::string(value.as_string())) : std::nullopt;
}

void adopt(const Value& call, AIMessage& message) {
  const Value& function = call["function"];
  const std::optional<std::string> name = optional_text(function["name"]);
  const std::optional<std::string> arguments = optional_text(function["arguments"]);
  const std::optional<std::string> id = optional_text(call["id"]);
  try {
    const Value args = parse_arguments(arguments.value_or(""));
    if (args.is_object() || args.is_null()) {
      message.tool_calls.push_back(
          {.name = name.value_or(""), .args = args.is_null() ? object() : args, .id = id});
      return;
    }
  } catch (const SerdeError&) {
    // Kept as an invalid call, which the model may be asked to mend.
  }
  message.invalid_tool_calls.push_back({.name = name, .args = arguments, .id = id});
}

}  // namespace

Value from_openai_tool_call(const Value& call) {
  if (!call["function"].is_object()) return call;
  Value args = call.at("function", "arguments");
  if (args.is_string()) {
    try {
      args = parse_arguments(args.as_string());
    } catch (const SerdeError& error) {
      throw ValueError("$.function.arguments", std::string("expected JSON; ") + error.what());
    }
  }
  return object({{"name", call.at("function", "name")},
                 {"args", args},
                 {"id", call["id"]},
                 {"type", "tool_call"}});
}

void adopt_openai_tool_calls(AIMessage& message) {
  if (!message.tool_calls.empty() || !message.invalid_tool_calls.empty()) return;
  const Value& calls = message.additional_kwargs["tool_calls"];
  if (!calls.is_list()) return;
  for (const Value& call : calls) {
    if (call["function"].is_object()) adopt(call, message);
  }
}

}  // namespace clew::internal

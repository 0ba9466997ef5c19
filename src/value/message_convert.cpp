// convert_to_message(): what LangChain's convert_to_messages makes of it, field
// by field, so that a state is the same whichever language a message came in by.
#include <algorithm>
#include <array>
#include <utility>

#include <clew/messages.hpp>

#include "value/message_class.hpp"
#include "value/openai_tool_calls.hpp"

namespace clew {

namespace {

struct Role {
  std::string_view name;
  MessageClass message_class;
};

constexpr auto kRoles = std::to_array<Role>({
    {"human", MessageClass::human},
    {"user", MessageClass::human},
    {"ai", MessageClass::ai},
    {"assistant", MessageClass::ai},
    {"system", MessageClass::system},
    {"developer", MessageClass::system},
    {"tool", MessageClass::tool},
    {"function", MessageClass::function},
    {"remove", MessageClass::remove},
});

const Role& find_role(const Value& name) {
  if (!name.is_string()) detail::throw_expected("a role", name);
  const auto found = std::find_if(kRoles.begin(), kRoles.end(),
                                  [&](const Role& role) { return role.name == name.as_string(); });
  if (found != kRoles.end()) return *found;
  throw ValueError("there is no role '" + std::string(name.as_string()) +
                   "'; use human, user, ai, assistant, system, developer, tool, function or "
                   "remove, or make a ChatMessage for any other");
}

bool is_falsy(const Value& value) {
  switch (value.kind()) {
    case Kind::null: return true;
    case Kind::boolean: return !value.as_bool();
    case Kind::integer: return value.as_int() == 0;
    case Kind::floating: return value.as_double() == 0;
    case Kind::string: return value.as_string().empty();
    case Kind::list:
    case Kind::object: return value.empty();
    default: return false;
  }
}

// The value of `key`, which is taken out of `object`.
Value take(Value& object, std::string_view key) {
  Value value = object[key];
  object = object.erase(key);
  return value;
}

// Each element of `list`, converted; a mistake names the element.
template <class Convert>
Value convert_elements(const Value& list, Convert convert) {
  ListBuilder converted;
  for (const Value& element : list) {
    try {
      converted.push_back(convert(element));
    } catch (ValueError& error) {
      error.prepend(path_step(converted.size()));
      throw;
    }
  }
  return std::move(converted).build();
}

Value convert_tool_calls(const Value& calls) {
  try {
    if (!calls.is_list()) detail::throw_expected("list", calls);
    return convert_elements(calls, internal::from_openai_tool_call);
  } catch (ValueError& error) {
    error.prepend(path_step("tool_calls"));
    throw;
  }
}

// `rest` is what an object holds besides role and content.
Value create(const Role& role, const Value& content, Value rest) {
  ObjectBuilder arguments;
  const auto set_unless_null = [&](std::string_view key, const Value& value) {
    if (!value.is_null()) arguments.set(key, value);
  };
  // What a removal says beside its id is ignored, as in LangChain.
  if (role.message_class != MessageClass::remove) arguments.set("content", content);
  set_unless_null("name", take(rest, "name"));
  set_unless_null("tool_call_id", take(rest, "tool_call_id"));
  set_unless_null("response_metadata", take(rest, "response_metadata"));
  set_unless_null("id", take(rest, "id"));
  if (const Value calls = take(rest, "tool_calls"); !calls.is_null()) {
    arguments.set("tool_calls", convert_tool_calls(calls));
  }

  const Value given = take(rest, "additional_kwargs");
  Value additional = rest.merge(given);
  if (role.message_class == MessageClass::human || role.message_class == MessageClass::ai) {
    const Value example = take(additional, "example");
    if (!is_falsy(example)) arguments.set("example", example);
  }
  if (role.message_class == MessageClass::tool) {
    arguments.set("artifact", take(additional, "artifact"));
    set_unless_null("status", take(additional, "status"));
  }
  if (role.name == "developer") additional = additional.set("__openai_role__", "developer");
  arguments.set("additional_kwargs", additional);
  return internal::message_class_info(role.message_class).construct(std::move(arguments).build());
}

// A message that LangChain serialized as {"lc": 1, "type": "constructor", ...}
// is an object with its keyword arguments.
Value unwrap_constructor(const Value& message) {
  constexpr std::string_view kChunk = "Chunk";
  const Value& id = message["id"];
  const Value& kwargs = message["kwargs"];
  const bool is_constructor = message["lc"] == Value(1) &&
                              message["type"] == Value("constructor") && id.is_list() &&
                              !id.empty() && kwargs.is_object();
  if (!is_constructor || !id[id.size() - 1].is_string()) return message;
  std::string_view name = id[id.size() - 1].as_string();
  if (name.ends_with(kChunk)) name.remove_suffix(kChunk.size());
  const internal::MessageClassInfo* info = internal::find_message_class(name);
  return info == nullptr ? message : kwargs.set("type", info->type);
}

Value convert_object(const Value& message) {
  Value rest = unwrap_constructor(message);
  const bool has_role = rest.contains("role") || rest.contains("type");
  if (!has_role || !rest.contains("content")) {
    throw ValueError("a message needs 'role' (or 'type') and 'content'");
  }
  const Value role = take(rest, rest.contains("role") ? "role" : "type");
  const Value content = take(rest, "content");
  return create(find_role(role), is_falsy(content) ? Value("") : content, std::move(rest));
}

}  // namespace

Value convert_to_message(const Value& message) {
  if (is_message(message)) return message;
  if (message.is_string()) return create(kRoles.front(), message, object());
  if (message.is_object()) return convert_object(message);
  if (message.is_list() && message.size() == 2) {
    return create(find_role(message[0]), message[1], object());
  }
  detail::throw_expected("a message, text, [role, content] or an object with role and content",
                         message);
}

Value convert_to_messages(const Value& messages) {
  if (!messages.is_list()) detail::throw_expected("a list of messages", messages);
  return convert_elements(messages, convert_to_message);
}

}  // namespace clew

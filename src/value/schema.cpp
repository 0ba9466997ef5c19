#include <clew/schema.hpp>

#include <algorithm>
#include <cctype>

#include <clew/add_messages.hpp>

namespace clew::detail {
namespace {

constexpr std::string_view kDefinitions = "$defs";

Value text_schema() { return {{"type", "string"}}; }
Value optional_text() { return any_of(list({text_schema(), object({{"type", "null"}})})); }
Value any_object() { return {{"additionalProperties", true}, {"type", "object"}}; }

// Fields that a class has besides those of every message.
struct MessageFields {
  std::string_view name;
  std::string_view type;
  Value fields = object();
  Value required = list();
};

std::vector<MessageFields> message_classes() {
  const Value calls = list_schema(any_object());
  return {
      {"AIMessage", "ai",
       object({{"tool_calls", calls},
               {"invalid_tool_calls", calls},
               {"usage_metadata", any_of(list({any_object(), object({{"type", "null"}})}))}})},
      {"HumanMessage", "human"},
      {"ChatMessage", "chat", object({{"role", text_schema()}}), list({"role"})},
      {"SystemMessage", "system"},
      {"FunctionMessage", "function", object({{"name", text_schema()}}), list({"name"})},
      {"ToolMessage", "tool",
       object({{"tool_call_id", text_schema()},
               {"artifact", object()},
               {"status", object({{"enum", list({"success", "error"})}, {"type", "string"}})}}),
       list({"tool_call_id"})},
  };
}

Value message_class_schema(const MessageFields& message) {
  const Value block = any_of(list({text_schema(), any_object()}));
  Value fields{{"content", any_of(list({text_schema(), list_schema(block)}))},
               {"additional_kwargs", any_object()},
               {"response_metadata", any_object()},
               {"type", object({{"const", message.type}, {"type", "string"}})},
               {"name", optional_text()},
               {"id", optional_text()}};
  fields = fields.merge(message.fields);
  ObjectBuilder properties;
  for (auto [name, schema] : fields.items()) properties.set(name, property_schema(name, schema));
  return object_schema(message.name, std::move(properties).build(),
                       list({"content"}).concat(message.required))
      .set("additionalProperties", true);
}

}  // namespace

std::string schema_title(std::string_view name) {
  std::string title;
  bool begins = true;
  for (const char c : name) {
    if (c == '_') {
      if (!begins) title += ' ';
      begins = true;
    } else {
      const auto letter = static_cast<unsigned char>(c);
      title += static_cast<char>(begins ? std::toupper(letter) : std::tolower(letter));
      begins = false;
    }
  }
  return title;
}

std::string_view unqualified(std::string_view type) {
  const std::size_t colon = type.rfind(':');
  return colon == std::string_view::npos ? type : type.substr(colon + 1);
}

Value property_schema(std::string_view name, const Value& schema) {
  // A reference is all there is to say: the title is that of what it refers to.
  return schema.contains("$ref") ? schema : schema.set("title", schema_title(name));
}

Value object_schema(std::string_view title, const Value& properties, const Value& required) {
  Value definitions = object();
  ObjectBuilder bare;
  for (auto [name, schema] : properties.items()) {
    if (const Value* own_definitions = schema.find(kDefinitions)) {
      definitions = definitions.merge(*own_definitions);
    }
    bare.set(name, schema.erase(kDefinitions));
  }
  ObjectBuilder result;
  if (!definitions.empty()) result.set(kDefinitions, definitions);
  result.set("properties", std::move(bare).build());
  if (!required.empty()) result.set("required", required);
  result.set("title", title);
  result.set("type", "object");
  return std::move(result).build();
}

Value list_schema(const Value& items) { return object({{"items", items}, {"type", "array"}}); }

Value tuple_schema(const Value& elements) {
  return object({{"maxItems", elements.size()},
                 {"minItems", elements.size()},
                 {"prefixItems", elements},
                 {"type", "array"}});
}

Value any_of(const Value& alternatives) { return object({{"anyOf", alternatives}}); }

Value with_definitions(const Value& schema, const SchemaDefinitions& definitions) {
  if (definitions.value().empty()) return schema;
  return object({{kDefinitions, definitions.value()}}).merge(schema);
}

Value message_schema(SchemaDefinitions& definitions) {
  ListBuilder alternatives;
  for (const MessageFields& message : message_classes()) {
    definitions.set(message.name, message_class_schema(message));
    alternatives.push_back(object({{"$ref", "#/$defs/" + std::string(message.name)}}));
  }
  return object({{"oneOf", std::move(alternatives).build()}});
}

Value reduced_schema(const Value& schema, const Reducer& reducer) {
  using Function = Value (*)(const Value&, const Value&);
  const Function* function = reducer.target<Function>();
  if (!function || *function != reducers::add_messages) return schema;
  SchemaDefinitions definitions;
  const Value messages = list_schema(message_schema(definitions));
  return with_definitions(messages, definitions);
}

Value value_schema(const Value& example) {
  switch (example.kind()) {
    case Kind::boolean: return {{"type", "boolean"}};
    case Kind::integer: return {{"type", "integer"}};
    case Kind::floating: return {{"type", "number"}};
    case Kind::string: return {{"type", "string"}};
    case Kind::list: return list_schema(object());
    case Kind::object: return any_object();
    default: return object();
  }
}

}  // namespace clew::detail

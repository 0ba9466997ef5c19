#include <clew/messages.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <clew/extension.hpp>

#include "value/message_class.hpp"
#include "value/openai_tool_calls.hpp"

namespace clew {

namespace {

using detail::TypeTag;

constexpr std::string_view kMethod = "model_validate_json";
constexpr std::string_view kModulePrefix = "langchain_core.messages.";

// The fields of each struct, in the order in which LangChain writes them. Both
// directions follow these lists: Writer and Reader are the visitors.

template <class Visitor>
void list_fields(TypeTag<ToolCall>, Visitor& visitor) {
  visitor.required("name", &ToolCall::name);
  visitor.required("args", &ToolCall::args);
  visitor.field("id", &ToolCall::id);
  visitor.constant("type", "tool_call");
}

template <class Visitor>
void list_fields(TypeTag<InvalidToolCall>, Visitor& visitor) {
  visitor.constant("type", "invalid_tool_call");
  visitor.field("id", &InvalidToolCall::id);
  visitor.field("name", &InvalidToolCall::name);
  visitor.field("args", &InvalidToolCall::args);
  visitor.field("error", &InvalidToolCall::error);
}

template <class Visitor>
void list_fields(TypeTag<ToolCallChunk>, Visitor& visitor) {
  visitor.field("name", &ToolCallChunk::name);
  visitor.field("args", &ToolCallChunk::args);
  visitor.field("id", &ToolCallChunk::id);
  visitor.field("index", &ToolCallChunk::index);
  visitor.constant("type", "tool_call_chunk");
}

template <class Visitor>
void list_fields(TypeTag<UsageMetadata>, Visitor& visitor) {
  visitor.field("input_tokens", &UsageMetadata::input_tokens);
  visitor.field("output_tokens", &UsageMetadata::output_tokens);
  visitor.field("total_tokens", &UsageMetadata::total_tokens);
  visitor.field_unless_null("input_token_details", &UsageMetadata::input_token_details);
  visitor.field_unless_null("output_token_details", &UsageMetadata::output_token_details);
}

template <MessageStruct T, class Visitor>
void list_fields(TypeTag<T>, Visitor& visitor) {
  visitor.content("content", &T::content);
  visitor.field("additional_kwargs", &T::additional_kwargs);
  visitor.field("response_metadata", &T::response_metadata);
  visitor.constant("type", internal::message_class_info(T::kClass).type);
  visitor.field("name", &T::name);
  visitor.identifier("id", &T::id);
  if constexpr (requires { &T::tool_calls; }) {
    visitor.field("tool_calls", &T::tool_calls);
    visitor.field("invalid_tool_calls", &T::invalid_tool_calls);
    visitor.field("usage_metadata", &T::usage_metadata);
  }
  if constexpr (requires { &T::tool_call_chunks; }) {
    visitor.field("tool_call_chunks", &T::tool_call_chunks);
    visitor.field("chunk_position", &T::chunk_position);
  }
  if constexpr (requires { &T::tool_call_id; }) {
    visitor.identifier("tool_call_id", &T::tool_call_id);
    visitor.field("artifact", &T::artifact);
    visitor.field("status", &T::status);
  }
  if constexpr (requires { &T::role; }) {
    visitor.required("role", &T::role);
  }
}

template <class T>
class Writer {
 public:
  explicit Writer(const T& object) : object_(object) {}

  template <class M>
  void field(std::string_view name, M T::* member) {
    fields_.set(name, Value(object_.*member));
  }
  template <class M>
  void required(std::string_view name, M T::* member) {
    field(name, member);
  }
  template <class M>
  void identifier(std::string_view name, M T::* member) {
    field(name, member);
  }
  void content(std::string_view name, Value T::* member) { field(name, member); }
  void field_unless_null(std::string_view name, Value T::* member) {
    if (!(object_.*member).is_null()) field(name, member);
  }
  void constant(std::string_view name, std::string_view text) { fields_.set(name, text); }

  Value build() && {
    for (const auto& [name, value] : object_.extra.items()) fields_.set(name, value);
    return std::move(fields_).build();
  }

 private:
  const T& object_;
  ObjectBuilder fields_;
};

template <class T>
class Reader {
 public:
  Reader(const Value& fields, T& object) : fields_(fields), object_(object) {
    if (!fields.is_object()) detail::throw_expected("object", fields);
  }

  template <class M>
  bool field(std::string_view name, M T::* member) {
    known_.push_back(name);
    const Value* value = fields_.find(name);
    if (value == nullptr) return false;
    detail::read_field(*value, name, object_.*member);
    return true;
  }
  template <class M>
  void required(std::string_view name, M T::* member) {
    if (!field(name, member)) detail::throw_missing(name, detail::expectation<M>());
  }
  // Some providers count instead of naming; LangChain turns their numbers into text.
  void identifier(std::string_view name, std::optional<std::string> T::* member) {
    const Value& value = fields_[name];
    if (!value.is_int()) {
      field(name, member);
      return;
    }
    known_.push_back(name);
    object_.*member = value.integer_text();
  }
  void identifier(std::string_view name, std::string T::* member) {
    const Value& value = fields_[name];
    if (!value.is_int()) {
      required(name, member);
      return;
    }
    known_.push_back(name);
    object_.*member = value.integer_text();
  }
  void content(std::string_view name, Value T::* member) {
    required(name, member);
    const Value& content = object_.*member;
    if (content.is_string() || content.is_list()) return;
    throw ValueError("$" + path_step(name),
                     "expected text or a list of blocks, found " + content.type_name());
  }
  void field_unless_null(std::string_view name, Value T::* member) { field(name, member); }
  void constant(std::string_view name, std::string_view text) {
    known_.push_back(name);
    const Value* value = fields_.find(name);
    if (value == nullptr || *value == Value(text)) return;
    const std::string found =
        value->is_string() ? "'" + std::string(value->as_string()) + "'" : value->type_name();
    throw ValueError("$" + path_step(name), "expected '" + std::string(text) + "', found " + found);
  }

  void keep_unknown() {
    for (const auto& [name, value] : fields_.items()) {
      if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
        object_.extra = object_.extra.set(name, value);
      }
    }
  }

 private:
  const Value& fields_;
  T& object_;
  std::vector<std::string_view> known_;
};

template <class T>
Value write_fields(const T& object) {
  Writer<T> writer(object);
  list_fields(TypeTag<T>{}, writer);
  return std::move(writer).build();
}

template <class T>
void read_fields(const Value& fields, T& object) {
  object = T{};
  Reader<T> reader(fields, object);
  list_fields(TypeTag<T>{}, reader);
  reader.keep_unknown();
}

void check_removal(RemoveMessage& message) {
  const Value& content = message.content;
  const bool is_empty = content.is_string() ? content.as_string().empty() : content.empty();
  if (!is_empty) throw ValueError("$.content", "a RemoveMessage cannot have content");
  message.content = "";
}

template <MessageStruct T>
void read_message_fields(const Value& fields, T& message) {
  if constexpr (T::kClass == MessageClass::remove) {
    // LangChain's own JavaScript leaves the content out or writes an empty list.
    read_fields(fields.contains("content") ? fields : fields.set("content", ""), message);
    check_removal(message);
  } else {
    read_fields(fields, message);
  }
  if constexpr (T::kClass == MessageClass::function) {
    if (!message.name) detail::throw_missing("name", "string");
  }
}

template <MessageStruct T>
Value construct(const Value& arguments) {
  T message;
  read_message_fields(arguments, message);
  if constexpr (T::kClass == MessageClass::ai) internal::adopt_openai_tool_calls(message);
  return to_value(message);
}

using internal::MessageClassInfo;

// In the order of MessageClass.
constexpr auto kClasses = std::to_array<MessageClassInfo>({
    {MessageClass::human, "langchain_core.messages.human", "HumanMessage", "human",
     construct<HumanMessage>},
    {MessageClass::system, "langchain_core.messages.system", "SystemMessage", "system",
     construct<SystemMessage>},
    {MessageClass::ai, "langchain_core.messages.ai", "AIMessage", "ai", construct<AIMessage>},
    {MessageClass::tool, "langchain_core.messages.tool", "ToolMessage", "tool",
     construct<ToolMessage>},
    {MessageClass::remove, "langchain_core.messages.modifier", "RemoveMessage", "remove",
     construct<RemoveMessage>},
    {MessageClass::chat, "langchain_core.messages.chat", "ChatMessage", "chat",
     construct<ChatMessage>},
    {MessageClass::function, "langchain_core.messages.function", "FunctionMessage", "function",
     construct<FunctionMessage>},
    {MessageClass::human_chunk, "langchain_core.messages.human", "HumanMessageChunk",
     "HumanMessageChunk", construct<HumanMessageChunk>},
    {MessageClass::system_chunk, "langchain_core.messages.system", "SystemMessageChunk",
     "SystemMessageChunk", construct<SystemMessageChunk>},
    {MessageClass::ai_chunk, "langchain_core.messages.ai", "AIMessageChunk", "AIMessageChunk",
     construct<AIMessageChunk>},
    {MessageClass::tool_chunk, "langchain_core.messages.tool", "ToolMessageChunk",
     "ToolMessageChunk", construct<ToolMessageChunk>},
    {MessageClass::chat_chunk, "langchain_core.messages.chat", "ChatMessageChunk",
     "ChatMessageChunk", construct<ChatMessageChunk>},
    {MessageClass::function_chunk, "langchain_core.messages.function", "FunctionMessageChunk",
     "FunctionMessageChunk", construct<FunctionMessageChunk>},
});

}  // namespace

namespace internal {

const MessageClassInfo& message_class_info(MessageClass message_class) {
  return kClasses[static_cast<std::size_t>(message_class)];
}

const MessageClassInfo* find_message_class(std::string_view name) {
  const auto found = std::find_if(kClasses.begin(), kClasses.end(),
                                  [&](const MessageClassInfo& info) { return info.name == name; });
  return found == kClasses.end() ? nullptr : &*found;
}

}  // namespace internal

template <MessageStruct T>
Value to_value(const T& message) {
  const MessageClassInfo& info = internal::message_class_info(T::kClass);
  return make_extension(ExtensionCode::pydantic_v2, info.module, info.name, write_fields(message),
                        kMethod);
}

template <MessageStruct T>
void from_value(const Value& value, T& message) {
  const MessageClassInfo& info = internal::message_class_info(T::kClass);
  if (is_instance(value, info.module, info.name)) {
    read_message_fields(value.as_extension().payload, message);
  } else if (value.is_object()) {
    read_message_fields(value, message);
  } else {
    detail::throw_expected(info.name, value);
  }
}

#define CLEW_INSTANTIATE_MESSAGE(Type)  \
  template Value to_value(const Type&); \
  template void from_value(const Value&, Type&);
CLEW_INSTANTIATE_MESSAGE(HumanMessage)
CLEW_INSTANTIATE_MESSAGE(SystemMessage)
CLEW_INSTANTIATE_MESSAGE(AIMessage)
CLEW_INSTANTIATE_MESSAGE(ToolMessage)
CLEW_INSTANTIATE_MESSAGE(RemoveMessage)
CLEW_INSTANTIATE_MESSAGE(ChatMessage)
CLEW_INSTANTIATE_MESSAGE(FunctionMessage)
CLEW_INSTANTIATE_MESSAGE(HumanMessageChunk)
CLEW_INSTANTIATE_MESSAGE(SystemMessageChunk)
CLEW_INSTANTIATE_MESSAGE(AIMessageChunk)
CLEW_INSTANTIATE_MESSAGE(ToolMessageChunk)
CLEW_INSTANTIATE_MESSAGE(ChatMessageChunk)
CLEW_INSTANTIATE_MESSAGE(FunctionMessageChunk)
#undef CLEW_INSTANTIATE_MESSAGE

Value to_value(const ToolCall& call) { return write_fields(call); }
void from_value(const Value& value, ToolCall& call) { read_fields(value, call); }
Value to_value(const InvalidToolCall& call) { return write_fields(call); }
void from_value(const Value& value, InvalidToolCall& call) { read_fields(value, call); }
Value to_value(const ToolCallChunk& chunk) { return write_fields(chunk); }
void from_value(const Value& value, ToolCallChunk& chunk) { read_fields(value, chunk); }
Value to_value(const UsageMetadata& usage) { return write_fields(usage); }
void from_value(const Value& value, UsageMetadata& usage) { read_fields(value, usage); }

namespace {

const Value& message_fields(const Value& message) {
  if (!is_message(message)) detail::throw_expected("a message", message);
  return message.as_extension().payload;
}

}  // namespace

bool is_message(const Value& value) noexcept {
  if (!value.is_extension()) return false;
  const Extension extension = value.as_extension();
  return !extension.is_raw && extension.module.starts_with(kModulePrefix) &&
         extension.payload.is_object();
}

std::string_view message_type(const Value& message) {
  return message_fields(message).at("type").as_string();
}

std::optional<std::string_view> message_id(const Value& message) {
  const Value& id = message_fields(message)["id"];
  return id.is_null() ? std::nullopt : std::optional(id.as_string());
}

const Value& message_content(const Value& message) { return message_fields(message)["content"]; }

std::string message_text(const Value& message) {
  const Value& content = message_content(message);
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  for (const Value& block : content) {
    const bool is_text = block["type"] == Value("text") && block["text"].is_string();
    if (block.is_string()) text += block.as_string();
    if (is_text) text += block["text"].as_string();
  }
  return text;
}

std::vector<ToolCall> message_tool_calls(const Value& message) {
  const Value& calls = message_fields(message)["tool_calls"];
  if (calls.is_null()) return {};
  return message_fields(message).get<std::vector<ToolCall>>("tool_calls");
}

}  // namespace clew

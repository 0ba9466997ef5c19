// Chat messages as LangChain has them: the same classes, the same field names,
// and in stored values the same bytes.
//
//   Value question = HumanMessage{.content = "What is 6 times 7?", .id = "h-1"};
//   Value answer = AIMessage{
//       .tool_calls = {{.name = "multiply", .args = {{"a", 6}, {"b", 7}}, .id = "c"}}};
//   Value result = ToolMessage{.content = "42", .tool_call_id = "c"};
//
//   message_type(answer);                    // "ai"
//   AIMessage ai = answer.get<AIMessage>();
//   ai.tool_calls[0].args["a"].as_int();     // 6
//
// A message in a state is a Value. The message_...() functions look into one
// without knowing its class; get<T>() copies it into the struct of its class,
// also from a plain object with the same fields. A `content` is text or a list
// of blocks such as {"type": "text", "text": "hi"}. Fields that Clew does not
// know are kept in `extra`.
//
// All functions may be called from any thread; the structs are plain values.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew {

// A model's request to call a tool.
struct ToolCall {
  std::string name{};
  Value args = object();
  std::optional<std::string> id{};
  Value extra = object();

  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

// A request whose arguments are not valid JSON.
struct InvalidToolCall {
  std::optional<std::string> name{};
  std::optional<std::string> args{};
  std::optional<std::string> id{};
  std::optional<std::string> error{};
  Value extra = object();

  friend bool operator==(const InvalidToolCall&, const InvalidToolCall&) = default;
};

// A part of a request that is still being streamed.
struct ToolCallChunk {
  std::optional<std::string> name{};
  std::optional<std::string> args{};
  std::optional<std::string> id{};
  // A number; some providers send text.
  Value index = nullptr;
  Value extra = object();

  friend bool operator==(const ToolCallChunk&, const ToolCallChunk&) = default;
};

struct UsageMetadata {
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t total_tokens = 0;
  // Objects such as {"cache_read": 100}; null if the model does not say.
  Value input_token_details = nullptr;
  Value output_token_details = nullptr;
  Value extra = object();

  friend bool operator==(const UsageMetadata&, const UsageMetadata&) = default;
};

enum class MessageClass {
  human,
  system,
  ai,
  tool,
  remove,
  chat,
  function,
  human_chunk,
  system_chunk,
  ai_chunk,
  tool_chunk,
  chat_chunk,
  function_chunk,
};

// The messages that have no fields of their own; see the names below.
template <MessageClass Class>
struct BasicMessage {
  static constexpr MessageClass kClass = Class;

  Value content = "";
  std::optional<std::string> name{};
  std::optional<std::string> id{};
  Value additional_kwargs = object();
  Value response_metadata = object();
  Value extra = object();

  friend bool operator==(const BasicMessage&, const BasicMessage&) = default;
};

using HumanMessage = BasicMessage<MessageClass::human>;
using HumanMessageChunk = BasicMessage<MessageClass::human_chunk>;
using SystemMessage = BasicMessage<MessageClass::system>;
using SystemMessageChunk = BasicMessage<MessageClass::system_chunk>;
// `name` is the function's; required.
using FunctionMessage = BasicMessage<MessageClass::function>;
using FunctionMessageChunk = BasicMessage<MessageClass::function_chunk>;
// Asks add_messages to take out the message with this id, or all of them. Its
// content must be empty.
using RemoveMessage = BasicMessage<MessageClass::remove>;

// RemoveMessage{.id = REMOVE_ALL_MESSAGES}
inline constexpr char REMOVE_ALL_MESSAGES[] = "__remove_all__";

struct AIMessage {
  static constexpr MessageClass kClass = MessageClass::ai;

  Value content = "";
  std::optional<std::string> name{};
  std::optional<std::string> id{};
  std::vector<ToolCall> tool_calls{};
  std::vector<InvalidToolCall> invalid_tool_calls{};
  std::optional<UsageMetadata> usage_metadata{};
  Value additional_kwargs = object();
  Value response_metadata = object();
  Value extra = object();

  friend bool operator==(const AIMessage&, const AIMessage&) = default;
};

// A part of an AIMessage. Unlike Python's, it does not derive tool_calls from
// tool_call_chunks or the reverse: whoever makes one sets both.
struct AIMessageChunk {
  static constexpr MessageClass kClass = MessageClass::ai_chunk;

  Value content = "";
  std::optional<std::string> name{};
  std::optional<std::string> id{};
  std::vector<ToolCall> tool_calls{};
  std::vector<InvalidToolCall> invalid_tool_calls{};
  std::optional<UsageMetadata> usage_metadata{};
  std::vector<ToolCallChunk> tool_call_chunks{};
  // "last" for the final one of a stream.
  std::optional<std::string> chunk_position{};
  Value additional_kwargs = object();
  Value response_metadata = object();
  Value extra = object();

  friend bool operator==(const AIMessageChunk&, const AIMessageChunk&) = default;
};

template <MessageClass Class>
struct BasicToolMessage {
  static constexpr MessageClass kClass = Class;

  Value content = "";
  std::optional<std::string> name{};
  std::optional<std::string> id{};
  // The ToolCall::id that this answers; required.
  std::string tool_call_id{};
  // What the tool made that is not for the model.
  Value artifact = nullptr;
  // "success" or "error".
  std::string status = "success";
  Value additional_kwargs = object();
  Value response_metadata = object();
  Value extra = object();

  friend bool operator==(const BasicToolMessage&, const BasicToolMessage&) = default;
};

using ToolMessage = BasicToolMessage<MessageClass::tool>;
using ToolMessageChunk = BasicToolMessage<MessageClass::tool_chunk>;

// A message of a speaker with any role.
template <MessageClass Class>
struct BasicChatMessage {
  static constexpr MessageClass kClass = Class;

  Value content = "";
  std::optional<std::string> name{};
  std::optional<std::string> id{};
  std::string role{};
  Value additional_kwargs = object();
  Value response_metadata = object();
  Value extra = object();

  friend bool operator==(const BasicChatMessage&, const BasicChatMessage&) = default;
};

using ChatMessage = BasicChatMessage<MessageClass::chat>;
using ChatMessageChunk = BasicChatMessage<MessageClass::chat_chunk>;

// One of the structs above.
template <class T>
concept MessageStruct = std::same_as<decltype(T::kClass), const MessageClass>;

template <MessageStruct T>
Value to_value(const T& message);
// Throws ValueError if `value` is a message of another class or lacks a field
// that LangChain requires.
template <MessageStruct T>
void from_value(const Value& value, T& message);

Value to_value(const ToolCall& call);
void from_value(const Value& value, ToolCall& call);
Value to_value(const InvalidToolCall& call);
void from_value(const Value& value, InvalidToolCall& call);
Value to_value(const ToolCallChunk& chunk);
void from_value(const Value& value, ToolCallChunk& chunk);
Value to_value(const UsageMetadata& usage);
void from_value(const Value& value, UsageMetadata& usage);

// Whether `value` is an object of one of LangChain's message classes.
bool is_message(const Value& value) noexcept;

// What a message of any class holds. Each throws ValueError if `message` is
// none. Views and references live as long as `message`.
std::string_view message_type(const Value& message);  // "human", "ai", "AIMessageChunk", ...
std::optional<std::string_view> message_id(const Value& message);
const Value& message_content(const Value& message);
// The content if it is text, else the text of all its text blocks, joined.
std::string message_text(const Value& message);
std::vector<ToolCall> message_tool_calls(const Value& message);

// A message from what LangChain takes for one: a message as it is; text (said
// by a human); a pair of role and content; an object with "role" (or "type"),
// "content" and other fields, also as OpenAI writes it. Roles are human, user,
// ai, assistant, system, developer, tool, function and remove. Fields that the
// class does not expect in this form go to additional_kwargs. Throws ValueError.
Value convert_to_message(const Value& message);
// The same for each element of a list.
Value convert_to_messages(const Value& messages);

}  // namespace clew

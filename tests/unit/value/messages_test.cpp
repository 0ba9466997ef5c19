#include <clew/messages.hpp>

#include <string>
#include <variant>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/extension.hpp>
#include <clew/json.hpp>

namespace clew {
namespace {

// "module.Class {fields in order}".
std::string render(const Value& message) {
  const Extension extension = message.as_extension();
  EXPECT_EQ(extension.code, ExtensionCode::pydantic_v2);
  EXPECT_EQ(extension.method, "model_validate_json");
  return extension.type_name() + " " + to_json(extension.payload, {.spaced = true});
}

// Renders `message`, after checking that it reads back equal.
template <class T>
std::string written(const T& message) {
  const Value value = message;
  EXPECT_EQ(value.get<T>(), message);
  return render(value);
}

// What converting `message`, given as JSON, makes.
std::string converted(std::string_view message) {
  return render(convert_to_message(parse_json(message)));
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
    return "no error";
  } catch (const ValueError& error) {
    return error.what();
  }
}

TEST(Messages, AreWrittenAsLangChainWritesThem) {
  EXPECT_EQ(written(HumanMessage{.content = "hi"}),
            R"(langchain_core.messages.human.HumanMessage {"content": "hi", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "human", )"
            R"("name": null, "id": null})");
  EXPECT_EQ(written(HumanMessage{.content = "hi", .name = "ann", .id = "h-1"}),
            R"(langchain_core.messages.human.HumanMessage {"content": "hi", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "human", )"
            R"("name": "ann", "id": "h-1"})");
  EXPECT_EQ(written(SystemMessage{.content = "be brief", .id = "s-1"}),
            R"(langchain_core.messages.system.SystemMessage {"content": "be brief", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "system", )"
            R"("name": null, "id": "s-1"})");
  EXPECT_EQ(written(RemoveMessage{.id = REMOVE_ALL_MESSAGES}),
            R"(langchain_core.messages.modifier.RemoveMessage {"content": "", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "remove", )"
            R"("name": null, "id": "__remove_all__"})");
  EXPECT_EQ(written(ChatMessage{.content = "hey", .id = "c-1", .role = "critic"}),
            R"(langchain_core.messages.chat.ChatMessage {"content": "hey", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "chat", )"
            R"("name": null, "id": "c-1", "role": "critic"})");
  EXPECT_EQ(written(FunctionMessage{.content = "r", .name = "f", .id = "f-1"}),
            R"(langchain_core.messages.function.FunctionMessage {"content": "r", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "function", )"
            R"("name": "f", "id": "f-1"})");
}

TEST(Messages, CarryBlocksAsContent) {
  const Value blocks = list({object({{"type", "text"}, {"text", "see"}}),
                             object({{"type", "image_url"}, {"image_url", "http://x/y.png"}})});
  EXPECT_EQ(written(HumanMessage{.content = blocks, .id = "h-2"}),
            R"(langchain_core.messages.human.HumanMessage {"content": )"
            R"([{"type": "text", "text": "see"}, )"
            R"({"type": "image_url", "image_url": "http://x/y.png"}], )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "human", )"
            R"("name": null, "id": "h-2"})");
}

TEST(Messages, AIMessageHasToolCallsAndUsage) {
  const AIMessage message{
      .content = "ok",
      .id = "a-4",
      .tool_calls = {{.name = "search", .args = {{"q", "cats"}, {"n", 2}}, .id = "call_1"},
                     {.name = "list"}},
      .invalid_tool_calls = {{.name = "s", .args = "{bad", .id = "call_2", .error = "json"}},
      .usage_metadata = UsageMetadata{.input_tokens = 3,
                                      .output_tokens = 4,
                                      .total_tokens = 7,
                                      .input_token_details = object({{"cache_read", 1}})},
      .additional_kwargs = object({{"refusal", nullptr}}),
      .response_metadata = object({{"model_name", "m"}, {"finish_reason", "stop"}})};
  EXPECT_EQ(
      written(message),
      R"(langchain_core.messages.ai.AIMessage {"content": "ok", )"
      R"("additional_kwargs": {"refusal": null}, )"
      R"("response_metadata": {"model_name": "m", "finish_reason": "stop"}, )"
      R"("type": "ai", "name": null, "id": "a-4", "tool_calls": [)"
      R"({"name": "search", "args": {"q": "cats", "n": 2}, "id": "call_1", "type": "tool_call"}, )"
      R"({"name": "list", "args": {}, "id": null, "type": "tool_call"}], )"
      R"("invalid_tool_calls": [{"type": "invalid_tool_call", "id": "call_2", "name": "s", )"
      R"("args": "{bad", "error": "json"}], )"
      R"("usage_metadata": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7, )"
      R"("input_token_details": {"cache_read": 1}}})");
}

TEST(Messages, ToolMessageHasIdArtifactAndStatus) {
  EXPECT_EQ(written(ToolMessage{
                .content = "42", .name = "search", .id = "t-1", .tool_call_id = "call_1"}),
            R"(langchain_core.messages.tool.ToolMessage {"content": "42", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "tool", )"
            R"("name": "search", "id": "t-1", "tool_call_id": "call_1", )"
            R"("artifact": null, "status": "success"})");
  EXPECT_EQ(written(ToolMessage{.content = "42",
                                .id = "t-2",
                                .tool_call_id = "call_1",
                                .artifact = object({{"rows", {1, 2}}}),
                                .status = "error"}),
            R"(langchain_core.messages.tool.ToolMessage {"content": "42", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "tool", )"
            R"("name": null, "id": "t-2", "tool_call_id": "call_1", )"
            R"("artifact": {"rows": [1, 2]}, "status": "error"})");
}

TEST(Messages, ChunksSayTheirClassAsType) {
  EXPECT_EQ(written(HumanMessageChunk{.content = "hi", .id = "hc"}),
            R"(langchain_core.messages.human.HumanMessageChunk {"content": "hi", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "HumanMessageChunk", )"
            R"("name": null, "id": "hc"})");
  EXPECT_EQ(written(SystemMessageChunk{.content = "s", .id = "sc"}),
            R"(langchain_core.messages.system.SystemMessageChunk {"content": "s", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "SystemMessageChunk", )"
            R"("name": null, "id": "sc"})");
  EXPECT_EQ(written(ToolMessageChunk{.content = "t", .id = "tc", .tool_call_id = "c1"}),
            R"(langchain_core.messages.tool.ToolMessageChunk {"content": "t", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "ToolMessageChunk", )"
            R"("name": null, "id": "tc", "tool_call_id": "c1", )"
            R"("artifact": null, "status": "success"})");
  EXPECT_EQ(
      written(AIMessageChunk{
          .id = "ac2",
          .tool_calls = {{.name = "f", .id = "c1"}},
          .tool_call_chunks = {{.name = "f", .args = "{\"a\":", .id = "c1", .index = 0}},
          .chunk_position = "last"}),
      R"(langchain_core.messages.ai.AIMessageChunk {"content": "", )"
      R"("additional_kwargs": {}, "response_metadata": {}, "type": "AIMessageChunk", )"
      R"("name": null, "id": "ac2", )"
      R"("tool_calls": [{"name": "f", "args": {}, "id": "c1", "type": "tool_call"}], )"
      R"("invalid_tool_calls": [], "usage_metadata": null, "tool_call_chunks": )"
      R"([{"name": "f", "args": "{\"a\":", "id": "c1", "index": 0, "type": "tool_call_chunk"}], )"
      R"("chunk_position": "last"})");
  EXPECT_EQ(render(ChatMessageChunk{.content = "x", .role = "r"}),
            R"(langchain_core.messages.chat.ChatMessageChunk {"content": "x", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "ChatMessageChunk", )"
            R"("name": null, "id": null, "role": "r"})");
  EXPECT_EQ(render(FunctionMessageChunk{.content = "x", .name = "f"}),
            R"(langchain_core.messages.function.FunctionMessageChunk {"content": "x", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "FunctionMessageChunk", )"
            R"("name": "f", "id": null})");
}

TEST(Messages, KeepWhatClewDoesNotKnow) {
  const Value stored = make_extension(
      ExtensionCode::pydantic_v2, "langchain_core.messages.ai", "AIMessage",
      parse_json(R"({"content": "x", "additional_kwargs": {}, "response_metadata": {},
        "type": "ai", "name": null, "id": null,
        "tool_calls": [{"name": "f", "args": {}, "id": null, "type": "tool_call", "zone": 1}],
        "invalid_tool_calls": [],
        "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3, "cost": 4},
        "example": true, "later": [5]})"),
      "model_validate_json");
  const AIMessage message = stored.get<AIMessage>();
  EXPECT_EQ(to_json(message.extra), R"({"example":true,"later":[5]})");
  EXPECT_EQ(to_json(message.tool_calls.at(0).extra), R"({"zone":1})");
  EXPECT_EQ(to_json(message.usage_metadata->extra), R"({"cost":4})");
  EXPECT_EQ(to_json(canonical(message)), to_json(canonical(stored)));
}

TEST(Messages, AreReadFromPlainObjectsToo) {
  const auto message =
      parse_json(R"({"type": "human", "content": "x", "id": 5})").get<HumanMessage>();
  EXPECT_EQ(message.content, Value("x"));
  EXPECT_EQ(message.id, "5");
  EXPECT_EQ(parse_json(R"({"content": "x", "tool_call_id": 7})").get<ToolMessage>().tool_call_id,
            "7");
}

TEST(Messages, RefuseWhatTheyAreNot) {
  const Value human = HumanMessage{.content = "hi"};
  EXPECT_EQ(error_of([&] { human.get<AIMessage>(); }),
            "$: expected AIMessage, found langchain_core.messages.human.HumanMessage");
  EXPECT_EQ(error_of([] { Value(5).get<AIMessage>(); }), "$: expected AIMessage, found int");
  EXPECT_EQ(error_of([] { parse_json(R"({"type":"ai","content":""})").get<HumanMessage>(); }),
            "$.type: expected 'human', found 'ai'");
  EXPECT_EQ(error_of([] { object().get<HumanMessage>(); }),
            "$.content: missing (expected a value)");
  EXPECT_EQ(error_of([] { parse_json(R"({"content":5})").get<HumanMessage>(); }),
            "$.content: expected text or a list of blocks, found int");
  EXPECT_EQ(error_of([] { parse_json(R"({"content":"x"})").get<ToolMessage>(); }),
            "$.tool_call_id: missing (expected string)");
  EXPECT_EQ(error_of([] { parse_json(R"({"content":"x"})").get<ChatMessage>(); }),
            "$.role: missing (expected string)");
  EXPECT_EQ(error_of([] { parse_json(R"({"content":"x"})").get<FunctionMessage>(); }),
            "$.name: missing (expected string)");
  EXPECT_EQ(error_of([] { parse_json(R"({"content":"x","id":"1"})").get<RemoveMessage>(); }),
            "$.content: a RemoveMessage cannot have content");
  EXPECT_EQ(error_of([] {
              parse_json(R"({"content":"x","tool_calls":[{"name":"f","args":{}},{"args":{}}]})")
                  .get<AIMessage>();
            }),
            "$.tool_calls[1].name: missing (expected string)");
}

TEST(Messages, AlternativesAreToldApart) {
  using AnyMessage = std::variant<HumanMessage, AIMessage>;
  const Value messages =
      std::vector<AnyMessage>{HumanMessage{.content = "q"}, AIMessage{.content = "a"}};
  const auto back = messages.get<std::vector<AnyMessage>>();
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(std::get<HumanMessage>(back[0]).content, Value("q"));
  EXPECT_EQ(std::get<AIMessage>(back[1]).content, Value("a"));
}

TEST(Messages, AreSeenWithoutKnowingTheirClass) {
  const Value ai = AIMessage{.content = list({"a", object({{"type", "text"}, {"text", "b"}}),
                                              object({{"type", "image"}, {"text", "no"}}), "c"}),
                             .id = "1",
                             .tool_calls = {{.name = "f", .id = "c1"}}};
  EXPECT_TRUE(is_message(ai));
  EXPECT_EQ(message_type(ai), "ai");
  EXPECT_EQ(message_id(ai), "1");
  EXPECT_EQ(message_content(ai).size(), 4U);
  EXPECT_EQ(message_text(ai), "abc");
  ASSERT_EQ(message_tool_calls(ai).size(), 1U);
  EXPECT_EQ(message_tool_calls(ai)[0].name, "f");

  const Value human = HumanMessage{.content = "hi"};
  EXPECT_EQ(message_type(human), "human");
  EXPECT_EQ(message_id(human), std::nullopt);
  EXPECT_EQ(message_text(human), "hi");
  EXPECT_TRUE(message_tool_calls(human).empty());
  EXPECT_EQ(message_type(AIMessageChunk{}), "AIMessageChunk");
}

TEST(Messages, OtherValuesAreNone) {
  const Value decimal = make_extension(ExtensionCode::construct, "decimal", "Decimal", "1");
  for (const Value& value : {Value(), Value("hi"), Value{{"type", "human"}, {"content", "x"}},
                             decimal, make_raw_extension(5, "x"), wrap(5)}) {
    EXPECT_FALSE(is_message(value)) << value;
  }
  EXPECT_EQ(error_of([&] { message_type(decimal); }),
            "$: expected a message, found decimal.Decimal");
}

TEST(ConvertToMessage, TakesTextPairsAndMessages) {
  const std::string hi = R"(langchain_core.messages.human.HumanMessage {"content": "hi", )"
                         R"("additional_kwargs": {}, "response_metadata": {}, "type": "human", )"
                         R"("name": null, "id": null})";
  EXPECT_EQ(converted(R"("hi")"), hi);
  EXPECT_EQ(converted(R"(["user", "hi"])"), hi);
  EXPECT_EQ(converted(R"({"role": "user", "content": "hi"})"), hi);
  EXPECT_EQ(converted(R"({"type": "human", "content": "hi"})"), hi);
  const Value message = AIMessage{.content = "x"};
  EXPECT_TRUE(same(convert_to_message(message), message));
}

TEST(ConvertToMessage, KnowsTheRoles) {
  const auto type = [](std::string_view role) {
    return std::string(message_type(convert_to_message(
        object({{"role", role}, {"content", "x"}, {"tool_call_id", "c"}, {"name", "n"}}))));
  };
  EXPECT_EQ(type("human") + type("user") + type("ai") + type("assistant"), "humanhumanaiai");
  EXPECT_EQ(type("system") + type("developer"), "systemsystem");
  EXPECT_EQ(type("tool") + type("function") + type("remove"), "toolfunctionremove");
}

TEST(ConvertToMessage, PutsOtherFieldsWhereLangChainDoes) {
  EXPECT_EQ(converted(R"({"role": "user", "content": "x", "id": "1", "q": 3,
                          "response_metadata": {"a": 1}, "additional_kwargs": {"b": 2}})"),
            R"(langchain_core.messages.human.HumanMessage {"content": "x", )"
            R"("additional_kwargs": {"q": 3, "b": 2}, "response_metadata": {"a": 1}, )"
            R"("type": "human", "name": null, "id": "1"})");
  EXPECT_EQ(converted(R"({"role": "user", "content": "x", "example": true, "tool_calls": []})"),
            R"(langchain_core.messages.human.HumanMessage {"content": "x", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "human", )"
            R"("name": null, "id": null, "tool_calls": [], "example": true})");
  EXPECT_EQ(converted(R"({"role": "developer", "content": "d", "name": "n", "foo": 1})"),
            R"(langchain_core.messages.system.SystemMessage {"content": "d", )"
            R"("additional_kwargs": {"foo": 1, "__openai_role__": "developer"}, )"
            R"("response_metadata": {}, "type": "system", "name": "n", "id": null})");
  EXPECT_EQ(
      converted(R"({"role": "tool", "content": "d", "tool_call_id": "t", "artifact": [1],
                          "status": "error", "x": 1})"),
      R"(langchain_core.messages.tool.ToolMessage {"content": "d", )"
      R"("additional_kwargs": {"x": 1}, "response_metadata": {}, "type": "tool", )"
      R"("name": null, "id": null, "tool_call_id": "t", "artifact": [1], "status": "error"})");
  EXPECT_EQ(converted(R"({"type": "ai", "content": null, "usage_metadata": {"a": 1}})"),
            R"(langchain_core.messages.ai.AIMessage {"content": "", )"
            R"("additional_kwargs": {"usage_metadata": {"a": 1}}, "response_metadata": {}, )"
            R"("type": "ai", "name": null, "id": null, )"
            R"("tool_calls": [], "invalid_tool_calls": [], "usage_metadata": null})");
}

TEST(ConvertToMessage, ReadsOpenAIToolCalls) {
  const std::string call = R"({"id": "c", "function": {"name": "f", "arguments": "{\"a\": 1}"}})";
  const std::string expected =
      R"([{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}])";
  const auto calls = [](const std::string& message) {
    const Value value = convert_to_message(parse_json(message));
    return to_json(value.as_extension().payload["tool_calls"], {.spaced = true});
  };
  EXPECT_EQ(calls(R"({"role": "assistant", "content": "", "tool_calls": [)" + call + "]}"),
            expected);
  EXPECT_EQ(calls(R"({"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [)" +
                  call + "]}}"),
            expected);
  EXPECT_EQ(calls(R"({"role": "ai", "content": "", "tool_calls": )" + expected + "}"), expected);
}

TEST(ConvertToMessage, KeepsCallsThatAreNotJsonAsInvalid) {
  const Value value = convert_to_message(parse_json(
      R"({"role": "ai", "content": "", "additional_kwargs": {"tool_calls":
          [{"id": "c", "function": {"name": "f", "arguments": "{\"a\":"}}, {"id": "d"}]}})"));
  EXPECT_EQ(to_json(value.as_extension().payload["invalid_tool_calls"], {.spaced = true}),
            R"([{"type": "invalid_tool_call", "id": "c", "name": "f", "args": "{\"a\":", )"
            R"("error": null}])");
  EXPECT_TRUE(message_tool_calls(value).empty());
}

TEST(ConvertToMessage, UnwrapsSerializedMessages) {
  EXPECT_EQ(converted(R"({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages",
                          "AIMessageChunk"], "kwargs": {"content": "x", "id": "1"}})"),
            R"(langchain_core.messages.ai.AIMessage {"content": "x", )"
            R"("additional_kwargs": {}, "response_metadata": {}, "type": "ai", )"
            R"("name": null, "id": "1", )"
            R"("tool_calls": [], "invalid_tool_calls": [], "usage_metadata": null})");
}

TEST(ConvertToMessage, SaysWhatIsWrong) {
  const auto error = [](std::string_view message) {
    return error_of([&] { convert_to_message(parse_json(message)); });
  };
  EXPECT_EQ(error("5"),
            "$: expected a message, text, [role, content] or an object with role and content, "
            "found int");
  EXPECT_EQ(error(R"({"content": "x"})"), "a message needs 'role' (or 'type') and 'content'");
  EXPECT_EQ(error(R"({"role": "user"})"), "a message needs 'role' (or 'type') and 'content'");
  EXPECT_EQ(error(R"(["boss", "x"])"),
            "there is no role 'boss'; use human, user, ai, assistant, system, developer, tool, "
            "function or remove, or make a ChatMessage for any other");
  EXPECT_EQ(error(R"({"role": "tool", "content": "x"})"),
            "$.tool_call_id: missing (expected string)");
  EXPECT_EQ(error(R"({"role": "ai", "content": "", "tool_calls":
                      [{"id": "c", "function": {"name": "f"}}]})"),
            "$.tool_calls[0].function.arguments: missing");
  EXPECT_EQ(error(R"({"role": "ai", "content": "", "tool_calls": 5})"),
            "$.tool_calls: expected list, found int");
  EXPECT_EQ(error_of([] { convert_to_messages(list({"hi", 5})); }),
            "$[1]: expected a message, text, [role, content] or an object with role and content, "
            "found int");
}

TEST(ConvertToMessage, ConvertsLists) {
  const Value messages = convert_to_messages(parse_json(R"(["hi", ["ai", "yo"]])"));
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(message_type(messages[0]), "human");
  EXPECT_EQ(message_type(messages[1]), "ai");
}

}  // namespace
}  // namespace clew

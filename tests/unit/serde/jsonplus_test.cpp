#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/json.hpp>
#include <clew/serde.hpp>

namespace clew {
namespace {

std::string refusal(const JsonPlusSerializer& serializer, std::string_view tag,
                    std::string_view bytes) {
  try {
    serializer.loads_typed(tag, bytes);
  } catch (const SerdeError& error) {
    return error.what();
  }
  return "no error";
}

JsonPlusSerializer with_dialect(Dialect dialect) {
  JsonPlusOptions options;
  options.json_dialect = dialect;
  return JsonPlusSerializer(options);
}

// What a row of tag "json" loads as, described.
std::string loaded(std::string_view json, Dialect dialect = Dialect::python) {
  return to_json(canonical(with_dialect(dialect).loads_typed("json", json)));
}

TEST(JsonPlus, TheTagSaysWhatTheValueIs) {
  const JsonPlusSerializer serializer;
  const auto stored = [&](const Value& value) { return serializer.dumps_typed(value); };
  EXPECT_EQ(stored(nullptr), (TypedBytes{"null", ""}));
  EXPECT_EQ(stored(Value::bytes(std::string("\0a", 2))),
            (TypedBytes{"bytes", std::string("\0a", 2)}));
  EXPECT_EQ(stored(make_extension(ExtensionCode::bytearray, Value::bytes("abc"))),
            (TypedBytes{"bytearray", "abc"}));
  EXPECT_EQ(stored(true), (TypedBytes{"msgpack", "\xC3"}));
  EXPECT_EQ(stored("a"), (TypedBytes{"msgpack",
                                     "\xA1"
                                     "a"}));
  EXPECT_EQ(stored(list({nullptr})), (TypedBytes{"msgpack", "\x91\xC0"}));
}

TEST(JsonPlus, LoadsWhatItStored) {
  const JsonPlusSerializer serializer;
  const Value values[] = {
      nullptr,
      Value::bytes("x"),
      make_extension(ExtensionCode::bytearray, Value::bytes("abc")),
      object({{"a", list({1, 2.5, nullptr})}}),
      Value::map(std::vector<std::pair<Value, Value>>{{1, "a"}, {list({1, 2}), "b"}}),
      make_extension(ExtensionCode::construct, "decimal", "Decimal", "1.10"),
      std::numeric_limits<std::uint64_t>::max(),
  };
  for (const Value& value : values) {
    EXPECT_EQ(serializer.loads_typed(serializer.dumps_typed(value)), value);
  }
}

TEST(JsonPlus, ByteArraysInsideAnotherValueAreBytes) {
  const JsonPlusSerializer serializer;
  const Value value = list({make_extension(ExtensionCode::bytearray, Value::bytes("q"))});
  EXPECT_EQ(serializer.loads_typed(serializer.dumps_typed(value)), list({Value::bytes("q")}));
}

TEST(JsonPlus, NullAndBytesInMsgpackAreWhatTheyAre) {
  const JsonPlusSerializer serializer;
  EXPECT_TRUE(serializer.loads_typed("msgpack", "\xC0").is_null());
  EXPECT_EQ(serializer.loads_typed("msgpack", std::string("\xC4\x01q")), Value::bytes("q"));
}

TEST(JsonPlus, APickleStaysOpaqueAndIdentical) {
  const JsonPlusSerializer serializer;
  // A pickle that would call os.system when executed.
  const std::string pickle("cos\nsystem\n(S'false'\ntR.\x00\xFF", 24);
  const Value value = serializer.loads_typed("pickle", pickle);
  EXPECT_EQ(value.type_name(), "pickle");
  EXPECT_EQ(value.as_extension().payload, Value::bytes(pickle));
  EXPECT_EQ(serializer.dumps_typed(value), (TypedBytes{"pickle", pickle}));
  EXPECT_THROW(serializer.dumps_typed(list({value})), SerdeError);
}

TEST(JsonPlus, AnUnknownTagIsRefused) {
  const JsonPlusSerializer serializer;
  EXPECT_EQ(refusal(serializer, "yaml", "a: 1"),
            "unknown tag 'yaml'; known are msgpack, null, bytes, bytearray, json and pickle");
  EXPECT_EQ(refusal(serializer, "msgpack+aes", "?"),
            "the value is encrypted (its tag is 'msgpack+aes'): open it with an "
            "EncryptedSerializer and the key, LANGGRAPH_AES_KEY");
  EXPECT_NE(refusal(serializer, "", ""), "no error");
  EXPECT_NE(refusal(serializer, "msgpack+aes", "\xC0"), "no error");
  EXPECT_NE(refusal(serializer, "Msgpack", "\xC0"), "no error");
}

TEST(JsonPlus, DamagedRowsAreRefusedWithTheirPlace) {
  const JsonPlusSerializer serializer;
  EXPECT_EQ(refusal(serializer, "msgpack", "\x92\xC0"),
            "msgpack at byte 0: a list of 2 needs more than the 1 bytes that are left");
  EXPECT_NE(refusal(serializer, "msgpack", "").find("at byte 0"), std::string::npos);
  EXPECT_NE(refusal(serializer, "json", "{\"a\": }").find("at byte 6"), std::string::npos);
  EXPECT_NE(refusal(serializer, "json", ""), "no error");
}

TEST(JsonPlus, WhatCannotBeStoredIsRefusedWithItsPath) {
  const JsonPlusSerializer serializer;
  try {
    serializer.dumps_typed(object({{"a", list({0, Value::integer("18446744073709551616")})}}));
    FAIL();
  } catch (const SerdeError& error) {
    EXPECT_NE(std::string(error.what()).find("$.a[1]"), std::string::npos) << error.what();
  }
}

TEST(JsonPlus, TheDepthIsAnOption) {
  JsonPlusOptions options;
  options.max_depth = 2;
  const JsonPlusSerializer serializer(options);
  EXPECT_NO_THROW(serializer.dumps_typed(list({list()})));
  EXPECT_THROW(serializer.dumps_typed(list({list({list({1})})})), SerdeError);
  EXPECT_NE(refusal(serializer, "msgpack", "\x91\x91\x90"), "no error");
  EXPECT_NE(refusal(serializer, "json", "[[[]]]"), "no error");
  EXPECT_EQ(refusal(serializer, "json", "[[]]"), "no error");
}

// ---- tag "json"

TEST(JsonPlus, ReadsJsonAsPythonDoes) {
  EXPECT_EQ(loaded(R"({"a": [1, 2.5, null, "x"], "a": [true]})"), R"({"a":[true]})");
  EXPECT_EQ(loaded("[NaN, -Infinity, 1e400]"),
            R"([{"$float":"nan"},{"$float":"-inf"},{"$float":"inf"}])");
  EXPECT_EQ(loaded(R"("a\ud800b")"), R"("a?b")");
  EXPECT_EQ(loaded("123456789012345678901"), R"({"$int":"123456789012345678901"})");
}

TEST(JsonPlus, RevivesWhatOldPythonWrote) {
  EXPECT_EQ(loaded(R"({"lc":2,"type":"constructor","id":["builtins","set"],"args":[[1]]})"),
            R"({"$ext":0,"module":"builtins","name":"set","arg":[1]})");
  EXPECT_EQ(
      loaded(R"([{"lc":2,"type":"constructor","id":["uuid","UUID"],)"
             R"("args":["00000000000000000000000000000001"]}])"),
      R"([{"$ext":0,"module":"uuid","name":"UUID","arg":"00000000000000000000000000000001"}])");
  const Value human = JsonPlusSerializer().loads_typed(
      "json", R"({"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],)"
              R"("kwargs":{"content":"hi","type":"human"}})");
  EXPECT_TRUE(is_instance(human, "langchain_core.messages.human", "HumanMessage"));
  EXPECT_EQ(human.as_extension().payload["content"], Value("hi"));
}

TEST(JsonPlus, AMarkerOfTheOtherDialectStaysAPlainObject) {
  constexpr std::string_view kJsSet =
      R"({"lc":2,"type":"constructor","id":["Set"],"method":null,"args":[[1,2]],"kwargs":{}})";
  EXPECT_EQ(loaded(kJsSet), kJsSet);
  EXPECT_EQ(loaded(kJsSet, Dialect::javascript),
            R"({"$ext":0,"module":"builtins","name":"set","arg":[1,2]})");

  constexpr std::string_view kJsUndefined = R"({"lc":2,"type":"undefined"})";
  EXPECT_EQ(loaded(kJsUndefined), kJsUndefined);
  EXPECT_EQ(loaded(kJsUndefined, Dialect::javascript), "null");

  constexpr std::string_view kJsSend = R"({"node":"n","args":{"x":1}})";
  EXPECT_EQ(loaded(kJsSend), kJsSend);
  EXPECT_EQ(loaded(kJsSend, Dialect::javascript),
            R"({"$ext":1,"module":"langgraph.types","name":"Send","args":["n",{"x":1}]})");
}

TEST(JsonPlus, WhatWasJsonIsStoredAsMsgpack) {
  const JsonPlusSerializer serializer = with_dialect(Dialect::javascript);
  const Value value = serializer.loads_typed("json", R"({"b":[1,{"lc":2,"type":"undefined"}]})");
  const TypedBytes stored = serializer.dumps_typed(value);
  EXPECT_EQ(stored.tag, "msgpack");
  EXPECT_EQ(serializer.loads_typed(stored), object({{"b", list({1, nullptr})}}));
}

}  // namespace
}  // namespace clew

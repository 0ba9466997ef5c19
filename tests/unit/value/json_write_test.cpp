#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>

namespace app {
struct Point {
  int x = 0;
};
}  // namespace app

namespace clew {
namespace {

using namespace std::string_literals;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string shown(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

// The message of the error with which `action` ends.
template <class ErrorType = SerdeError>
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ErrorType& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const Value& value, const JsonWriteOptions& options = {}) {
  return error_of([&] { to_json(value, options); });
}

Value nested(std::size_t depth) {
  Value value = 1;
  for (std::size_t i = 0; i < depth; ++i) value = list({value});
  return value;
}

TEST(JsonWrite, Scalars) {
  EXPECT_EQ(to_json(nullptr), "null");
  EXPECT_EQ(to_json(true), "true");
  EXPECT_EQ(to_json(false), "false");
  EXPECT_EQ(to_json(0), "0");
  EXPECT_EQ(to_json(-12), "-12");
  EXPECT_EQ(to_json(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(to_json(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(to_json(Value::integer("-123456789012345678901234567890")),
            "-123456789012345678901234567890");
  EXPECT_EQ(to_json("text"), "\"text\"");
}

TEST(JsonWrite, DoublesAsPythonWritesThem) {
  EXPECT_EQ(
      to_json(list({1.0, -0.0, 0.1, 1e16, 1e15, 1e-5, 0.0001, 1.7976931348623157e308, 5e-324})),
      "[1.0,-0.0,0.1,1e+16,1000000000000000.0,1e-05,0.0001,1.7976931348623157e+308,5e-324]");
}

TEST(JsonWrite, NonFiniteNumbers) {
  const Value values = list({1, object({{"a b", list({kNan})}}), kInfinity, -kInfinity});
  EXPECT_EQ(to_json(values, {.non_finite = NonFinite::literal}),
            R"([1,{"a b":[NaN]},Infinity,-Infinity])");
  EXPECT_EQ(to_json(values, {.non_finite = NonFinite::null}), R"([1,{"a b":[null]},null,null])");
  EXPECT_EQ(refusal(values),
            "cannot write JSON: $[1][\"a b\"][0]: NaN has no JSON form; choose one by "
            "JsonWriteOptions::non_finite");
  EXPECT_EQ(refusal(-kInfinity),
            "cannot write JSON: $: -Infinity has no JSON form; choose one by "
            "JsonWriteOptions::non_finite");
}

TEST(JsonWrite, Escapes) {
  EXPECT_EQ(to_json("\" \\ / \b\f\n\r\t"), R"("\" \\ / \b\f\n\r\t")");
  EXPECT_EQ(to_json("a\0\x01\x1F\x7F"s), "\"a\\u0000\\u0001\\u001f\x7F\"");
  EXPECT_EQ(to_json("\u00e9\u20ac\U0001F600\u2028"), "\"\u00e9\u20ac\U0001F600\u2028\"");
  EXPECT_EQ(to_json("\u00e9\u20ac\U0001F600\u2028\x7F\U0010FFFF", {.ascii_only = true}),
            R"("\u00e9\u20ac\ud83d\ude00\u2028\u007f\udbff\udfff")");
  EXPECT_EQ(to_json(object({{"\n\u00e9", 1}}), {.ascii_only = true}), R"({"\n\u00e9":1})");
}

TEST(JsonWrite, EscapesAtEveryPositionOfALongString) {
  for (std::size_t before = 0; before < 40; ++before) {
    const std::string plain(before, 'x');
    for (std::size_t after : {0, 1, 7, 8, 9}) {
      const std::string rest(after, 'y');
      EXPECT_EQ(to_json(plain + "\"" + rest), "\"" + plain + "\\\"" + rest + "\"");
      EXPECT_EQ(to_json(plain + "\x1F" + rest), "\"" + plain + "\\u001f" + rest + "\"");
      EXPECT_EQ(to_json(plain + " !#[]\x7F~\u00ff" + rest),
                "\"" + plain + " !#[]\x7F~\u00ff" + rest + "\"");
      EXPECT_EQ(to_json(plain + "\u00e9" + rest, {.ascii_only = true}),
                "\"" + plain + "\\u00e9" + rest + "\"");
    }
  }
}

TEST(JsonWrite, EveryAsciiCharacterReadsBack) {
  for (int c = 0; c < 128; ++c) {
    const Value text = std::string(3, static_cast<char>(c)) + "z";
    EXPECT_EQ(parse_json(to_json(text)), text);
    EXPECT_EQ(parse_json(to_json(text, {.ascii_only = true})), text);
  }
}

TEST(JsonWrite, KeyOrderAndLayout) {
  const Value value =
      object({{"b", list({1, list(), object(), list({2})})}, {"a", object({{"c", nullptr}})}});
  EXPECT_EQ(to_json(value), R"({"b":[1,[],{},[2]],"a":{"c":null}})");
  EXPECT_EQ(to_json(value, {.spaced = true}), R"({"b": [1, [], {}, [2]], "a": {"c": null}})");
  EXPECT_EQ(to_json(value, {.sort_keys = true}), R"({"a":{"c":null},"b":[1,[],{},[2]]})");
  EXPECT_EQ(to_json(value, {.indent = 2}),
            "{\n"
            "  \"b\": [\n"
            "    1,\n"
            "    [],\n"
            "    {},\n"
            "    [\n"
            "      2\n"
            "    ]\n"
            "  ],\n"
            "  \"a\": {\n"
            "    \"c\": null\n"
            "  }\n"
            "}");
  EXPECT_EQ(to_json(value, {.indent = 0, .spaced = true}),
            "{\n\"b\": [\n1,\n[],\n{},\n[\n2\n]\n],\n\"a\": {\n\"c\": null\n}\n}");
  EXPECT_EQ(to_json(list(), {.indent = 2}), "[]");
  EXPECT_EQ(to_json(object(), {.indent = 2}), "{}");
}

TEST(JsonWrite, SortsKeysByCodePoint) {
  EXPECT_EQ(
      to_json(object({{"b", 1}, {"\U0001F600", 2}, {"\uffff", 3}, {"", 4}, {"ab", 5}, {"B", 6}}),
              {.sort_keys = true}),
      "{\"\":4,\"B\":6,\"ab\":5,\"b\":1,\"\uffff\":3,\"\U0001F600\":2}");
}

TEST(JsonWrite, LargeObjectsKeepTheirOrder) {
  ObjectBuilder builder;
  std::string expected;
  for (int i = 99; i >= 0; --i) {
    builder.set("k" + std::to_string(i), i);
    expected += (i == 99 ? "{\"k" : ",\"k") + std::to_string(i) + "\":" + std::to_string(i);
  }
  EXPECT_EQ(to_json(std::move(builder).build()), expected + "}");
}

TEST(JsonWrite, BytesAsBase64) {
  EXPECT_EQ(to_json(Value::bytes("")), "\"\"");
  EXPECT_EQ(to_json(Value::bytes("f")), "\"Zg==\"");
  EXPECT_EQ(to_json(Value::bytes("fo")), "\"Zm8=\"");
  EXPECT_EQ(to_json(Value::bytes("foo")), "\"Zm9v\"");
  EXPECT_EQ(to_json(Value::bytes("\xFF\xFE\xFD\xFC"s)), "\"//79/A==\"");
  EXPECT_EQ(to_json(Value::bytes("\0\x10\x83\xFB\xEF"s)), "\"ABCD++8=\"");
}

TEST(JsonWrite, MapKeysAsPythonTurnsThemIntoText) {
  const std::vector<std::pair<Value, Value>> entries = {
      {3, "int"},
      {true, "bool"},
      {nullptr, "null"},
      {1.0, "float"},
      {Value::integer("18446744073709551616"), "big"},
      {"s", "string"},
      {list({1, "a"}), "list"}};
  const Value map = Value::map(entries);
  EXPECT_EQ(to_json(map), R"({"3":"int","true":"bool","null":"null","1.0":"float",)"
                          R"("18446744073709551616":"big","s":"string","[1,\"a\"]":"list"})");
  EXPECT_EQ(to_json(Value::map(entries), {.indent = 1}).substr(0, 12), "{\n \"3\": \"int");
}

TEST(JsonWrite, SortsMapKeysAsNumbersWhereTheyAre) {
  const std::vector<std::pair<Value, Value>> entries = {
      {"b", 0}, {10, 1}, {kNan, 2},    {9.5, 3}, {Value::integer("-18446744073709551616"), 4},
      {9, 5},   {-1, 6}, {nullptr, 7}, {"a", 8}, {true, 9}};
  EXPECT_EQ(to_json(Value::map(entries), {.sort_keys = true, .non_finite = NonFinite::literal}),
            R"({"-18446744073709551616":4,"-1":6,"true":9,"9":5,"9.5":3,"10":1,)"
            R"("null":7,"NaN":2,"a":8,"b":0})");
}

// Every level of keys within keys escapes the quotes of the one below again.
TEST(JsonWrite, KeysWithinKeysAreLimited) {
  const auto keyed_by = [](const Value& key) {
    const std::vector<std::pair<Value, Value>> entry = {{key, 1}};
    return Value::map(entry);
  };
  EXPECT_EQ(to_json(keyed_by(keyed_by(keyed_by(2)))), R"({"{\"{\\\"2\\\":1}\":1}":1})");
  Value deep = 2;
  for (int i = 0; i < 900; ++i) deep = keyed_by(deep);
  EXPECT_EQ(refusal(list({deep})),
            "cannot write JSON: $[0]: keys made of maps with such keys are too deep");
  EXPECT_LT(shown(deep).size(), 100U);
}

TEST(JsonWrite, NonFiniteMapKeys) {
  const std::vector<std::pair<Value, Value>> entries = {{kInfinity, 1}};
  EXPECT_EQ(to_json(Value::map(entries), {.non_finite = NonFinite::literal}), R"({"Infinity":1})");
  EXPECT_EQ(refusal(list({Value::map(entries)})),
            "cannot write JSON: $[0]: Infinity has no JSON form; choose one by "
            "JsonWriteOptions::non_finite");
}

TEST(JsonWrite, ExtensionsAsTheirPlainContent) {
  using enum ExtensionCode;
  EXPECT_EQ(to_json(make_extension(construct, "decimal", "Decimal", "1.10")), "\"1.10\"");
  EXPECT_EQ(to_json(make_extension(call_method, "datetime", "datetime", "2024-01-02T03:04:05",
                                   "fromisoformat")),
            "\"2024-01-02T03:04:05\"");
  EXPECT_EQ(to_json(make_extension(construct, "uuid", "UUID", "00112233445566778899aabbccddeeff")),
            "\"00112233-4455-6677-8899-aabbccddeeff\"");
  EXPECT_EQ(to_json(make_extension(construct, "uuid", "UUID", "short")), "\"short\"");
  EXPECT_EQ(to_json(make_extension(construct, "builtins", "set", list({1, 2}))), "[1,2]");
  EXPECT_EQ(to_json(make_extension(construct_args, "datetime", "timedelta", list({1, 2, 3}))),
            "[1,2,3]");
  EXPECT_EQ(to_json(make_extension(construct_kwargs, "app", "Point", object({{"x", 1}}))),
            R"({"x":1})");
  EXPECT_EQ(to_json(make_extension(pydantic_v2, "langchain_core.messages.human", "HumanMessage",
                                   object({{"content", "hi"}, {"id", nullptr}}))),
            R"({"content":"hi","id":null})");
  EXPECT_EQ(
      to_json(make_extension(ndarray, list({"<f4", list({1}), "C", Value::bytes("\0\0\x80?"s)}))),
      R"({"dtype":"<f4","shape":[1],"order":"C","data":"AACAPw=="})");
  EXPECT_EQ(to_json(make_extension(delta_snapshot, list({"a"}))), R"(["a"])");
  EXPECT_EQ(to_json(make_extension(ExtensionCode::bytearray, Value::bytes("foo"))), "\"Zm9v\"");
  EXPECT_EQ(to_json(make_extension(pickle, Value::bytes("fo"))), "\"Zm8=\"");
  EXPECT_EQ(to_json(make_raw_extension(99, "f")), "\"Zg==\"");
  EXPECT_EQ(to_json(make_raw_extension(6, "f")), "\"Zg==\"");
  EXPECT_EQ(to_json(wrap(app::Point{})), "\"<app::Point>\"");
  EXPECT_EQ(to_json(list({make_extension(construct, "builtins", "set", list({1}))}), {.indent = 1}),
            "[\n [\n  1\n ]\n]");
}

TEST(JsonWrite, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(
      refusal(object({{"a", list({1, "ok", "ab\xFF"})}})),
      "cannot write JSON: $.a[2]: the text is not valid UTF-8 at its byte 2; keep binary data "
      "as Value::bytes");
  EXPECT_EQ(refusal(list({object({{"\xC3", 1}})}), {.sort_keys = true}),
            "cannot write JSON: $[0]: a key is not valid UTF-8 at its byte 0; keep binary data as "
            "Value::bytes");
  EXPECT_EQ(
      refusal(
          make_extension(ExtensionCode::construct_kwargs, "m", "N", object({{"field", "\x80"}}))),
      "cannot write JSON: $.field: the text is not valid UTF-8 at its byte 0; keep binary data "
      "as Value::bytes");
}

TEST(JsonWrite, DepthIsLimited) {
  EXPECT_EQ(to_json(nested(3), {.max_depth = 3}), "[[[1]]]");
  EXPECT_EQ(
      refusal(nested(4), {.max_depth = 3}),
      "cannot write JSON: $[0][0][0]: nested deeper than 3 levels; JsonWriteOptions::max_depth "
      "allows more");
  EXPECT_EQ(to_json(nested(1000)).size(), 2001U);
  EXPECT_THROW(to_json(nested(1001)), SerdeError);
  EXPECT_THROW(to_json(nested(200'000)), SerdeError);
}

// Extensions open no bracket, but a chain of them must not exhaust the stack.
TEST(JsonWrite, DepthCountsExtensionsToo) {
  Value value = 1;
  for (int i = 0; i < 200'000; ++i) value = make_extension(ExtensionCode::delta_snapshot, value);
  EXPECT_THROW(to_json(value), SerdeError);
  EXPECT_EQ(shown(value), "\"...\"");
}

TEST(JsonWrite, StreamsInPieces) {
  const std::string long_text(20'000, 'x');
  const Value value =
      list({long_text, Value::bytes(long_text), std::string(9000, '\n'), nested(20)});
  std::string streamed;
  std::size_t pieces = 0;
  std::size_t largest = 0;
  write_json(value, [&](std::string_view piece) {
    streamed += piece;
    largest = std::max(largest, piece.size());
    ++pieces;
  });
  EXPECT_EQ(streamed, to_json(value));
  EXPECT_LE(largest, 8192U);
  EXPECT_EQ(pieces, (streamed.size() + 8191) / 8192);
}

TEST(JsonWrite, ASinkMayThrow) {
  const JsonSink full = [](std::string_view) { throw std::runtime_error("disk full"); };
  EXPECT_EQ(error_of<std::runtime_error>([&] { write_json(list({1}), full); }), "disk full");
}

TEST(JsonWrite, ShowsEverythingOnAStream) {
  EXPECT_EQ(shown(object({{"a", list({1, 2.5, nullptr, "x"})}})), R"({"a":[1,2.5,null,"x"]})");
  EXPECT_EQ(shown(list({kNan, kInfinity, -kInfinity})), "[NaN,Infinity,-Infinity]");
  EXPECT_EQ(shown("a\xFF\xE2\x82z\u00e9"), "\"a\uFFFD\uFFFD\uFFFDz\u00e9\"");
  EXPECT_EQ(shown(object({{"\x80", Value::bytes("f")}})), "{\"\uFFFD\":\"Zg==\"}");
  EXPECT_EQ(shown(wrap(app::Point{})), "\"<app::Point>\"");
  EXPECT_EQ(shown(nested(1001)), std::string(1000, '[') + "\"...\"" + std::string(1000, ']'));
}

// Writes the same document as one value and piece by piece, in the given layout.
void expect_same_layout(const JsonWriteOptions& options) {
  std::string text;
  JsonWriter writer([&](std::string_view piece) { text += piece; }, options);
  writer.begin_object()
      .key("empty list")
      .begin_list()
      .end_list()
      .key("empty")
      .begin_object()
      .end_object()
      .key("list")
      .begin_list()
      .value(1)
      .begin_list()
      .value("a")
      .value(nullptr)
      .end_list()
      .value(object({{"x", list({1, 2})}}))
      .end_list()
      .key("last")
      .value(2.5)
      .end_object();
  writer.finish();
  const Value same =
      object({{"empty list", list()},
              {"empty", object()},
              {"list", list({1, list({"a", nullptr}), object({{"x", list({1, 2})}})})},
              {"last", 2.5}});
  EXPECT_EQ(text, to_json(same, options));
}

TEST(JsonWriter, WritesWhatToJsonWrites) {
  expect_same_layout({});
  expect_same_layout({.spaced = true});
  expect_same_layout({.indent = 2});
  expect_same_layout({.indent = 0});
}

TEST(JsonWriter, WritesScalarDocuments) {
  std::string text;
  JsonWriter writer([&](std::string_view piece) { text += piece; });
  writer.value("a").finish();
  EXPECT_EQ(text, "\"a\"");
}

TEST(JsonWriter, PassesOnLongDocumentsBeforeTheyEnd) {
  std::size_t passed = 0;
  JsonWriter writer([&](std::string_view piece) { passed += piece.size(); });
  writer.begin_list();
  for (int i = 0; i < 10'000; ++i) writer.value("line");
  EXPECT_GT(passed, 60'000U);
  writer.end_list().finish();
  EXPECT_EQ(passed, 70'001U);
}

TEST(JsonWriter, RefusesCallsThatDoNotFit) {
  const auto misuse = [](const std::function<void(JsonWriter&)>& calls) {
    JsonWriter writer([](std::string_view) {});
    return error_of<Error>([&] { calls(writer); });
  };
  EXPECT_EQ(misuse([](JsonWriter& w) { w.key("a"); }),
            "JsonWriter::key: only an object has keys; call begin_object() first");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_list().key("a"); }),
            "JsonWriter::key: only an object has keys; call begin_object() first");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_object().key("a").key("b"); }),
            "JsonWriter::key: the last key has no value");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_object().value(1); }),
            "JsonWriter::value: an entry of an object begins with key()");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_object().begin_list(); }),
            "JsonWriter::begin_list: an entry of an object begins with key()");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_object().key("a").end_object(); }),
            "JsonWriter::end_object: the last key has no value");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_object().end_list(); }),
            "JsonWriter::end_list: the innermost open container is no list");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.end_object(); }),
            "JsonWriter::end_object: the innermost open container is no object");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.value(1).value(2); }),
            "JsonWriter::value: the document is complete");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_list().end_list().begin_object(); }),
            "JsonWriter::begin_object: the document is complete");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.finish(); }),
            "JsonWriter::finish: the document is not complete");
  EXPECT_EQ(misuse([](JsonWriter& w) { w.begin_list().finish(); }),
            "JsonWriter::finish: the document is not complete");
}

TEST(JsonWriter, AMisuseLeavesTheDocumentIntact) {
  std::string text;
  JsonWriter writer([&](std::string_view piece) { text += piece; });
  writer.begin_object();
  EXPECT_THROW(writer.value(1), Error);
  EXPECT_THROW(writer.end_list(), Error);
  writer.key("a").value(1).end_object().finish();
  EXPECT_EQ(text, R"({"a":1})");
}

TEST(JsonWriter, DepthIsLimitedAcrossCallsAndValues) {
  JsonWriter writer([](std::string_view) {}, {.max_depth = 2});
  writer.begin_list().begin_list();
  EXPECT_EQ(error_of<Error>([&] { writer.begin_object(); }),
            "JsonWriter::begin_object: nested deeper than 2 levels; JsonWriteOptions::max_depth "
            "allows more");
  EXPECT_EQ(error_of([&] { writer.value(list()); }),
            "cannot write JSON: $: nested deeper than 2 levels; JsonWriteOptions::max_depth allows "
            "more");
}

TEST(JsonWriter, NothingFollowsAValueThatFailed) {
  JsonWriter writer([](std::string_view) {});
  writer.begin_list();
  EXPECT_EQ(error_of([&] { writer.value(list({1, kNan})); }),
            "cannot write JSON: $[1]: NaN has no JSON form; choose one by "
            "JsonWriteOptions::non_finite");
  const std::string broken = "an earlier call failed and left the document incomplete";
  EXPECT_EQ(error_of<Error>([&] { writer.value(1); }), "JsonWriter::value: " + broken);
  EXPECT_EQ(error_of<Error>([&] { writer.end_list(); }), "JsonWriter::end_list: " + broken);
  EXPECT_EQ(error_of<Error>([&] { writer.finish(); }), "JsonWriter::finish: " + broken);
}

TEST(JsonWriter, MovesWithItsDocument) {
  std::string text;
  JsonWriter first([&](std::string_view piece) { text += piece; });
  first.begin_list().value(1);
  JsonWriter second = std::move(first);
  second.value(2).end_list().finish();
  EXPECT_EQ(text, "[1,2]");
}

}  // namespace
}  // namespace clew

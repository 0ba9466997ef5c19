#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <clew/json.hpp>

namespace clew {
namespace {

using namespace std::string_literals;

constexpr JsonParseOptions kAsPython{.allow_non_finite = true,
                                     .lone_surrogates = LoneSurrogates::replace};

// What `text` reads as, written back compactly.
std::string reread(std::string_view text, const JsonParseOptions& options = {}) {
  return to_json(parse_json(text, options), {.non_finite = NonFinite::literal});
}

std::string text_of(std::string_view json) { return parse_json(json).as_string(); }

// "12: reason", the offset and reason for which `text` is refused.
std::string refusal(std::string_view text, const JsonParseOptions& options = {}) {
  try {
    return "accepted as " + reread(text, options);
  } catch (const SerdeError& error) {
    EXPECT_TRUE(error.offset().has_value());
    EXPECT_EQ(error.what(),
              "json at byte " + std::to_string(error.offset().value_or(0)) + ": " + error.reason());
    return std::to_string(error.offset().value_or(0)) + ": " + error.reason();
  }
}

std::string nested_lists(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonParse, Scalars) {
  EXPECT_EQ(parse_json("null"), Value(nullptr));
  EXPECT_EQ(parse_json("true"), Value(true));
  EXPECT_EQ(parse_json("false"), Value(false));
  EXPECT_EQ(parse_json("12"), Value(12));
  EXPECT_EQ(parse_json("1.5"), Value(1.5));
  EXPECT_EQ(parse_json("\"a\""), Value("a"));
  EXPECT_EQ(parse_json(" \t\r\n1 \t\r\n"), Value(1));
}

TEST(JsonParse, Containers) {
  EXPECT_EQ(parse_json("[]"), list());
  EXPECT_EQ(parse_json("{}"), object());
  EXPECT_EQ(parse_json("[1,\"a\",null,[true]]"), list({1, "a", nullptr, list({true})}));
  EXPECT_EQ(reread("{\"b\": 1,\n \"a\" : {\"c\":[ ]}, \"\" :{ } }"),
            "{\"b\":1,\"a\":{\"c\":[]},\"\":{}}");
}

TEST(JsonParse, IntegersAreExactAtEverySize) {
  EXPECT_EQ(parse_json("0"), Value(0));
  EXPECT_EQ(parse_json("-0"), Value(0));
  EXPECT_EQ(parse_json("-1"), Value(-1));
  EXPECT_EQ(parse_json("999999999999999999"), Value(999999999999999999));
  EXPECT_EQ(parse_json("9223372036854775807"), Value(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(parse_json("-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(parse_json("-9223372036854775808").is_int());
  EXPECT_EQ(parse_json("18446744073709551615").as_uint(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_json("9223372036854775808").kind(), Kind::big_integer);
  EXPECT_EQ(parse_json("-9223372036854775809").integer_text(), "-9223372036854775809");
  const std::string digits = "1" + std::string(5000, '7');
  EXPECT_EQ(reread("[-" + digits + "]"), "[-" + digits + "]");
}

TEST(JsonParse, DoublesAreRoundedCorrectly) {
  EXPECT_EQ(reread("[0.1, 1e5, 1E-5, 1.5e+3, 0e0, 123456789.123456789]"),
            "[0.1,100000.0,1e-05,1500.0,0.0,123456789.12345679]");
  EXPECT_TRUE(std::signbit(parse_json("-0.0").as_double()));
  EXPECT_EQ(reread("1.7976931348623157e308"), "1.7976931348623157e+308");
  EXPECT_EQ(reread("5e-324"), "5e-324");
  EXPECT_EQ(reread("2.2250738585072011e-308"), "2.225073858507201e-308");
  // Halfway between two doubles, and a digit beyond.
  EXPECT_EQ(reread("9007199254740993.0"), "9007199254740992.0");
  EXPECT_EQ(reread("9007199254740993.00000000000000000000000000000001"), "9007199254740994.0");
}

TEST(JsonParse, NumbersTooSmallForADoubleAreZero) {
  EXPECT_EQ(reread("[1e-400, -1e-400, 0.1e-99999999999999999999999, 2e-324]"),
            "[0.0,-0.0,0.0,0.0]");
  EXPECT_EQ(reread("0." + std::string(400, '0') + "1"), "0.0");
  EXPECT_EQ(reread("0." + std::string(400, '0') + "1e401"), "1.0");
  EXPECT_EQ(reread("0e99999999999999999999999"), "0.0");
}

TEST(JsonParse, NumbersTooLargeForADoubleAreRefusedOrInfinite) {
  const std::string reason =
      "the number is too large for a double; JsonParseOptions::allow_non_finite reads it as "
      "infinity";
  EXPECT_EQ(refusal("[1e400]"), "1: " + reason);
  EXPECT_EQ(refusal("-1e99999999999999999999999"), "0: " + reason);
  EXPECT_EQ(refusal("1" + std::string(400, '0') + ".0"), "0: " + reason);
  EXPECT_EQ(refusal("0.001e400"), "0: " + reason);
  EXPECT_EQ(reread("[1e400, -1e309, 0.001e400]", kAsPython), "[Infinity,-Infinity,Infinity]");
}

TEST(JsonParse, NonFiniteLiterals) {
  EXPECT_EQ(reread("[NaN, Infinity, -Infinity]", kAsPython), "[NaN,Infinity,-Infinity]");
  EXPECT_EQ(refusal("[NaN]"), "1: NaN is not JSON; JsonParseOptions::allow_non_finite reads it");
  EXPECT_EQ(refusal("-Infinity"),
            "0: -Infinity is not JSON; JsonParseOptions::allow_non_finite reads it");
  EXPECT_EQ(refusal("Infinit", kAsPython), "0: expected a value, found 'I'");
  EXPECT_EQ(refusal("-NaN", kAsPython), "1: expected a digit after '-'");
  EXPECT_EQ(refusal("nan", kAsPython), "0: expected a value, found 'n'");
}

TEST(JsonParse, Escapes) {
  EXPECT_EQ(text_of(R"("\" \\ \/ \b\f\n\r\t")"), "\" \\ / \b\f\n\r\t");
  EXPECT_EQ(text_of(R"("\u0041\u00e9\u20AC\uD83D\uDE00")"), "A\u00e9\u20AC\U0001F600");
  EXPECT_EQ(text_of(R"("a\u0000b")"), "a\0b"s);
  EXPECT_EQ(text_of(R"("\\u0041\\")"), "\\u0041\\");
  EXPECT_EQ(text_of("\"\\uffff\x7F\""), "\uffff\x7F");
  EXPECT_EQ(text_of(R"("\udbff\udfff")"), "\U0010FFFF");
  EXPECT_EQ(reread(R"([ "plain" , "\n" , "\"" , "after" , {"\t" : "\\"} ])"),
            R"(["plain","\n","\"","after",{"\t":"\\"}])");
}

TEST(JsonParse, StringsOfEveryLengthAroundTheVectorWidths) {
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string plain(size, 'x');
    EXPECT_EQ(text_of("\"" + plain + "\""), plain);
    EXPECT_EQ(text_of("\"" + plain + "\\n\u00e9\"  "), plain + "\n\u00e9");
  }
}

TEST(JsonParse, LoneSurrogates) {
  EXPECT_EQ(refusal(R"(["\ud800"])"),
            R"(2: \ud800 is half of a surrogate pair; LoneSurrogates::replace reads it as '?')");
  EXPECT_EQ(refusal(R"("a\uDC00")"),
            R"(2: \udc00 is half of a surrogate pair; LoneSurrogates::replace reads it as '?')");
  EXPECT_EQ(reread(R"("\ud800")", kAsPython), "\"?\"");
  EXPECT_EQ(reread(R"("\ud800\ud83d\ude00")", kAsPython), "\"?\U0001F600\"");
  EXPECT_EQ(reread(R"("\udc00\ud800x\ud800\n")", kAsPython), R"("??x?\n")");
  EXPECT_EQ(reread(R"("\ud800\u0041")", kAsPython), "\"?A\"");
}

TEST(JsonParse, OfRepeatedKeysTheLastValueWinsAtTheFirstPlace) {
  EXPECT_EQ(reread(R"({"a": 1, "b": 2, "a": 3})"), R"({"a":3,"b":2})");
  EXPECT_EQ(reread(R"({"a": 1, "\u0061": 2, "a": {"a": 1, "a": 4}})"), R"({"a":{"a":4}})");
  std::string text = "{\"again\": 0";
  std::string expected = "{\"again\":99";
  for (int i = 0; i < 100; ++i) {
    text += ", \"key" + std::to_string(i) + "\": 1, \"again\": " + std::to_string(i);
    expected += ",\"key" + std::to_string(i) + "\":1";
  }
  EXPECT_EQ(reread(text + "}"), expected + "}");
}

TEST(JsonParse, ListsAndObjectsOfManySizes) {
  for (std::size_t size : {1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 1056, 1057, 5000}) {
    std::string elements;
    std::string entries;
    for (std::size_t i = 0; i < size; ++i) {
      elements += (i == 0 ? "[" : ",") + std::to_string(i);
      entries += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":[" + std::to_string(i) + "]";
    }
    EXPECT_EQ(reread(elements + "]"), elements + "]");
    EXPECT_EQ(reread(entries + "}"), entries + "}");
    EXPECT_EQ(reread("[" + elements + "]," + entries + "}]"),
              "[" + elements + "]," + entries + "}]");
  }
}

TEST(JsonParse, DepthIsLimited) {
  EXPECT_EQ(reread(nested_lists(1000)), nested_lists(1000));
  EXPECT_EQ(refusal(nested_lists(1001)),
            "1000: nested deeper than 1000 levels; JsonParseOptions::max_depth allows more");
  EXPECT_EQ(refusal("{\"a\":[{}]}", {.max_depth = 2}),
            "6: nested deeper than 2 levels; JsonParseOptions::max_depth allows more");
  EXPECT_EQ(reread("[[1],[2],{}]", {.max_depth = 2}), "[[1],[2],{}]");
  EXPECT_EQ(reread("1", {.max_depth = 0}), "1");
}

TEST(JsonParse, DepthCostsNoStack) {
  constexpr std::size_t kDepth = 1'000'000;
  const Value deep = parse_json(nested_lists(kDepth), {.max_depth = kDepth});
  EXPECT_EQ(deep.size(), 1U);
  EXPECT_EQ(refusal(std::string(kDepth, '['), {.max_depth = kDepth}),
            "1000000: the text ends here, but the list opened at byte 999999 is not closed");
}

TEST(JsonParse, SizeIsLimited) {
  EXPECT_EQ(reread("[1]", {.max_bytes = 3}), "[1]");
  EXPECT_EQ(refusal("[1] ", {.max_bytes = 3}),
            "3: the text has 4 bytes, more than the 3 that JsonParseOptions::max_bytes allows");
}

TEST(JsonParse, RefusesWhatIsNoText) {
  EXPECT_EQ(refusal(""), "0: the text holds no value");
  EXPECT_EQ(refusal(std::string_view()), "0: the text holds no value");
  EXPECT_EQ(refusal(" \n\t "), "4: the text holds no value");
  EXPECT_EQ(refusal("\xEF\xBB\xBF{}"),
            "0: the text begins with a byte order mark; leave out its 3 bytes");
  EXPECT_EQ(refusal("\"ab\xFF\""), "3: the text is not valid UTF-8");
  EXPECT_EQ(refusal("[\"\xC3\xA9\", \"\xED\xA0\x80\"]"), "8: the text is not valid UTF-8");
  EXPECT_EQ(refusal("\"\xC0\x80\""), "1: the text is not valid UTF-8");
  EXPECT_EQ(refusal("\"\xF4\x90\x80\x80\""), "1: the text is not valid UTF-8");
  EXPECT_EQ(refusal("\"\xE2\x82"), "1: the text is not valid UTF-8");
  EXPECT_EQ(refusal("[1]\xFE"), "3: the text is not valid UTF-8");
  EXPECT_EQ(refusal(std::string(500, ' ') + "\x80"), "500: the text is not valid UTF-8");
}

TEST(JsonParse, RefusesNulBytes) {
  EXPECT_EQ(refusal("\0"s), "0: expected a value, found byte 0x00");
  EXPECT_EQ(refusal("1\0"s), "1: unexpected byte 0x00 right after a value");
  EXPECT_EQ(refusal("[1]\0"s), "3: unexpected text after the value");
  EXPECT_EQ(refusal("[\0]"s), "1: expected a value, found byte 0x00");
  EXPECT_EQ(refusal("true\0"s), "4: unexpected byte 0x00 right after a value");
  EXPECT_EQ(refusal("\"a\0b\""s),
            "2: control character byte 0x00 in a string; write it as \\u0000");
}

TEST(JsonParse, RefusesBadStrings) {
  EXPECT_EQ(refusal("\"abc"), "0: the string that begins here is not closed");
  EXPECT_EQ(refusal("[\"abc\", \"d]"), "8: the string that begins here is not closed");
  EXPECT_EQ(refusal("\"abc\\\""), "0: the string that begins here is not closed");
  EXPECT_EQ(refusal("\"\\"), "0: the string that begins here is not closed");
  EXPECT_EQ(refusal("\"a\nb\""), "2: control character byte 0x0a in a string; write it as \\u000a");
  EXPECT_EQ(refusal("\"a\\\nb\""),
            "3: control character byte 0x0a in a string; write it as \\u000a");
  EXPECT_EQ(refusal("[\"ok\", \"\x1F\"]"),
            "8: control character byte 0x1f in a string; write it as \\u001f");
  EXPECT_EQ(refusal(R"("ab\x41")"),
            R"(3: '\' followed by 'x' is no escape; write a backslash as '\\')");
  EXPECT_EQ(refusal("\"\\\u00e9\""),
            R"(1: '\' followed by byte 0xc3 is no escape; write a backslash as '\\')");
  EXPECT_EQ(refusal(R"("\u12")"), R"(1: \u needs four hexadecimal digits)");
  EXPECT_EQ(refusal(R"("\u12g4")"), R"(1: \u needs four hexadecimal digits)");
  EXPECT_EQ(refusal(R"("\u-123")"), R"(1: \u needs four hexadecimal digits)");
  EXPECT_EQ(refusal(R"("\u 123")"), R"(1: \u needs four hexadecimal digits)");
  EXPECT_EQ(refusal(R"("\u0x12")"), R"(1: \u needs four hexadecimal digits)");
  EXPECT_EQ(refusal(R"("\ud83d\u12 xx")"), R"(7: \u needs four hexadecimal digits)");
  EXPECT_EQ(refusal(R"("x\U0041")"),
            R"(2: '\' followed by 'U' is no escape; write a backslash as '\\')");
  EXPECT_EQ(refusal("'a'"), "0: expected a value, found '''");
}

TEST(JsonParse, RefusesBadNumbers) {
  EXPECT_EQ(refusal("01"), "0: a number may not begin with 0");
  EXPECT_EQ(refusal("[-01]"), "1: a number may not begin with 0");
  EXPECT_EQ(refusal("00.5"), "0: a number may not begin with 0");
  EXPECT_EQ(refusal("+1"), "0: expected a value, found '+'");
  EXPECT_EQ(refusal(".5"), "0: expected a value, found '.'");
  EXPECT_EQ(refusal("-"), "1: expected a digit after '-'");
  EXPECT_EQ(refusal("-.5"), "1: expected a digit after '-'");
  EXPECT_EQ(refusal("--1"), "1: expected a digit after '-'");
  EXPECT_EQ(refusal("1."), "2: expected a digit after '.'");
  EXPECT_EQ(refusal("1.e5"), "2: expected a digit after '.'");
  EXPECT_EQ(refusal("1e"), "2: expected a digit in the exponent");
  EXPECT_EQ(refusal("1e+"), "2: expected a digit in the exponent");
  EXPECT_EQ(refusal("1.5E-x"), "4: expected a digit in the exponent");
  EXPECT_EQ(refusal("1.2.3"), "3: unexpected '.' right after a value");
  EXPECT_EQ(refusal("1e5e5"), "4: expected a digit in the exponent");
  EXPECT_EQ(refusal("1e5.5"), "3: unexpected '.' right after a value");
  EXPECT_EQ(refusal("1x"), "1: unexpected 'x' right after a value");
  EXPECT_EQ(refusal("0x10"), "1: unexpected 'x' right after a value");
  EXPECT_EQ(refusal("1_000"), "1: unexpected '_' right after a value");
  EXPECT_EQ(refusal("123456789012345678901234567890x"), "30: unexpected 'x' right after a value");
  EXPECT_EQ(refusal("1\"a\""), "1: unexpected '\"' right after a value");
  EXPECT_EQ(refusal("[1\f]"), "2: unexpected byte 0x0c right after a value");
}

TEST(JsonParse, RefusesBadLiterals) {
  EXPECT_EQ(refusal("tru"), "0: expected a value, found 't'");
  EXPECT_EQ(refusal("True"), "0: expected a value, found 'T'");
  EXPECT_EQ(refusal("[nul]"), "1: expected a value, found 'n'");
  EXPECT_EQ(refusal("truex"), "4: unexpected 'x' right after a value");
  EXPECT_EQ(refusal("null\"\""), "4: unexpected '\"' right after a value");
  EXPECT_EQ(refusal("undefined"), "0: expected a value, found 'u'");
}

TEST(JsonParse, RefusesBadStructure) {
  EXPECT_EQ(refusal("["), "1: the text ends here, but the list opened at byte 0 is not closed");
  EXPECT_EQ(refusal("[1, {"),
            "5: the text ends here, but the object opened at byte 4 is not closed");
  EXPECT_EQ(refusal("[1"), "2: the text ends here, but the list opened at byte 0 is not closed");
  EXPECT_EQ(refusal("[1,"), "3: the text ends here, but the list opened at byte 0 is not closed");
  EXPECT_EQ(refusal("{\"a\""),
            "4: the text ends here, but the object opened at byte 0 is not closed");
  EXPECT_EQ(refusal("{\"a\":"),
            "5: the text ends here, but the object opened at byte 0 is not closed");
  EXPECT_EQ(refusal("]"), "0: expected a value, found ']'");
  EXPECT_EQ(refusal("[1,]"), "3: expected a value, found ']'");
  EXPECT_EQ(refusal("[,1]"), "1: expected a value, found ','");
  EXPECT_EQ(refusal("[1 2]"), "3: expected ',' or ']', found '2'");
  EXPECT_EQ(refusal("[1}"), "2: expected ',' or ']', found '}'");
  EXPECT_EQ(refusal("[1:2]"), "2: expected ',' or ']', found ':'");
  EXPECT_EQ(refusal("[\"a\"\"b\"]"), "4: expected ',' or ']', found '\"'");
  EXPECT_EQ(refusal("{\"a\":1]"), "6: expected ',' or '}', found ']'");
  EXPECT_EQ(refusal("{\"a\":1,}"), "7: expected a key in double quotes, found '}'");
  EXPECT_EQ(refusal("{a:1}"), "1: expected a key in double quotes, found 'a'");
  EXPECT_EQ(refusal("{1:1}"), "1: expected a key in double quotes, found '1'");
  EXPECT_EQ(refusal("{\"a\" 1}"), "5: expected ':' after the key, found '1'");
  EXPECT_EQ(refusal("{\"a\",1}"), "4: expected ':' after the key, found ','");
  EXPECT_EQ(refusal("{\"a\":}"), "5: expected a value, found '}'");
  EXPECT_EQ(refusal("{\"a\":1 \"b\":2}"), "7: expected ',' or '}', found '\"'");
  EXPECT_EQ(refusal("[1] [2]"), "4: unexpected text after the value");
  EXPECT_EQ(refusal("1 2"), "2: unexpected text after the value");
  EXPECT_EQ(refusal("{}}"), "2: unexpected text after the value");
  EXPECT_EQ(refusal("\"a\" //"), "4: unexpected text after the value");
  EXPECT_EQ(refusal("[1, /* no */ 2]"), "4: expected a value, found '/'");
  EXPECT_EQ(refusal("\\\"a\""), "0: unexpected '\\' outside of a string");
  EXPECT_EQ(refusal("[\x1A]"), "1: expected a value, found byte 0x1a");
}

TEST(JsonParse, EveryTruncationIsRefused) {
  const std::string text = R"({"a": [1.5, "x\u00e9\n", {"b": null}], "c": true})";
  EXPECT_EQ(reread(text), "{\"a\":[1.5,\"x\u00e9\\n\",{\"b\":null}],\"c\":true}");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse_json(text.substr(0, size)), SerdeError) << size;
  }
}

TEST(JsonParse, ReadsNothingPastTheEnd) {
  const std::string text = "[1,2]3\"";
  EXPECT_EQ(reread(std::string_view(text).substr(0, 5)), "[1,2]");
  EXPECT_EQ(reread(std::string_view(text).substr(1, 1)), "1");
  EXPECT_EQ(refusal(std::string_view(text).substr(0, 4)),
            "4: the text ends here, but the list opened at byte 0 is not closed");
}

TEST(JsonParse, GoesOnAfterRefusedAndLargeDocuments) {
  const std::string large = "[\"" + std::string(3'000'000, 'x') + "\"]";
  EXPECT_EQ(refusal("[[1, {\"a\": [2, x"), "15: expected a value, found 'x'");
  EXPECT_EQ(reread(large), large);
  EXPECT_EQ(refusal(large + "]"), "3000004: unexpected text after the value");
  EXPECT_EQ(reread("[[1, {\"a\": [2, 3]}]]"), "[[1,{\"a\":[2,3]}]]");
}

TEST(JsonParse, ThreadsParseIndependently) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "{\"id\": " + std::to_string(i) + ", \"text\": \"\\n\"},";
  text += "null]";
  const Value expected = parse_json(text);
  std::vector<Value> results(4);
  std::vector<std::thread> threads;
  for (Value& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) result = parse_json(text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Value& result : results) EXPECT_EQ(result, expected);
}

// A document may be read while the thread's caches are already gone.
TEST(JsonParse, WorksWhileAThreadEnds) {
  static std::string seen;
  struct ParsesLate {
    ~ParsesLate() { seen = to_json(parse_json("[1, \"late\"]")); }
  };
  std::thread([] {
    thread_local ParsesLate late;
    static_cast<void>(&late);
    parse_json("[]");
  }).join();
  EXPECT_EQ(seen, "[1,\"late\"]");
}

}  // namespace
}  // namespace clew

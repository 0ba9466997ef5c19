// How braces read. The rules are in the head of value.hpp; compilers have
// differed on them, so every form is spelt out here.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>
#include <clew/value.hpp>

namespace clew {
namespace {

std::string text(const Value& value) { return to_json(value); }

TEST(Literal, BracesAroundOneValueAreACopy) {
  const Value list = parse_json("[1, 2]");
  const Value object = parse_json(R"({"a": 1})");
  const Value nothing;
  for (const Value& value : {list, object, nothing, Value("text"), Value(3)}) {
    const Value copy{value};
    const Value moved{Value(value)};
    Value assigned;
    assigned = {value};
    const Value copy_list = {value};
    EXPECT_TRUE(same(copy, value)) << text(copy);
    EXPECT_TRUE(same(moved, value)) << text(moved);
    EXPECT_TRUE(same(assigned, value)) << text(assigned);
    EXPECT_TRUE(same(copy_list, value)) << text(copy_list);
  }
}

Value echo(Value value) { return value; }
Value braced_return(const Value& value) { return {value}; }

TEST(Literal, BracesAroundOneArgumentOrResultAreACopy) {
  const Value list = parse_json("[1]");
  EXPECT_TRUE(same(echo({list}), list));
  EXPECT_TRUE(same(braced_return(list), list));
}

TEST(Literal, BracesAroundOneScalarAreThatScalar) {
  EXPECT_EQ(text(Value{1}), "1");
  EXPECT_EQ(text(Value{"a"}), R"("a")");
  EXPECT_EQ(text(Value{true}), "true");
  EXPECT_EQ(text(Value{0.5}), "0.5");
  EXPECT_EQ(text(Value{nullptr}), "null");
  EXPECT_EQ(text(Value{std::string("a")}), R"("a")");
  EXPECT_EQ(text(Value{std::vector<int>{1, 2}}), "[1,2]");
}

TEST(Literal, SeveralElementsAreAList) {
  EXPECT_EQ(text(Value{1, 2}), "[1,2]");
  EXPECT_EQ(text(Value{1, "a", nullptr, 0.5, true}), R"([1,"a",null,0.5,true])");
  EXPECT_EQ(text(Value{Value(1), Value(2)}), "[1,2]");
  EXPECT_EQ(text(Value{{1, 2}, {3, 4}}), "[[1,2],[3,4]]");
}

TEST(Literal, PairsWithATextKeyAreAnObject) {
  EXPECT_EQ(text(Value{{"a", 1}}), R"({"a":1})");
  EXPECT_EQ(text(Value{{"a", 1}, {"b", nullptr}}), R"({"a":1,"b":null})");
  EXPECT_EQ(text(Value{{std::string("a"), 1}}), R"({"a":1})");
  EXPECT_EQ(text(Value{{std::string_view("a"), 1}}), R"({"a":1})");
  EXPECT_EQ(text(Value{{"a", "b"}, {"c", "d"}}), R"({"a":"b","c":"d"})");
  EXPECT_EQ(text(Value{{"a", 1}, {"a", 2}}), R"({"a":2})");
}

TEST(Literal, NotAllPairsAreAList) {
  EXPECT_EQ(text(Value{{"a", 1}, 2}), R"([["a",1],2])");
  EXPECT_EQ(text(Value{{"a", 1}, {"b"}}), R"([["a",1],["b"]])");
  EXPECT_EQ(text(Value{{1, 2}, {"a", 1}}), R"([[1,2],["a",1]])");
}

TEST(Literal, NestedBracesAroundOneElementAreAList) {
  EXPECT_EQ(text(Value{{"bar", {"a"}}}), R"({"bar":["a"]})");
  EXPECT_EQ(text(Value{{"bar", {1}}}), R"({"bar":[1]})");
  EXPECT_EQ(text(Value{{"bar", {nullptr}}}), R"({"bar":[null]})");
  const Value other = parse_json("[1]");
  EXPECT_EQ(text(Value{{"bar", {other}}}), R"({"bar":[[1]]})");
  EXPECT_EQ(text(Value{{"bar", other}}), R"({"bar":[1]})");
}

TEST(Literal, NestedBracesFollowTheSameRules) {
  EXPECT_EQ(text(Value{{"foo", "a"}, {"bar", {"x", 1, nullptr}}}),
            R"({"foo":"a","bar":["x",1,null]})");
  EXPECT_EQ(text(Value{{"user", {{"name", "Ada"}, {"tags", {"x", "y", "z"}}}}}),
            R"({"user":{"name":"Ada","tags":["x","y","z"]}})");
  EXPECT_EQ(text(Value{{"messages", {{{"role", "user"}}, {{"role", "ai"}}}}}),
            R"({"messages":[{"role":"user"},{"role":"ai"}]})");
  EXPECT_EQ(text(Value{{"messages", {{{"role", "user"}}}}}), R"({"messages":[{"role":"user"}]})");
}

TEST(Literal, EmptyBraces) {
  EXPECT_EQ(text(Value{}), "null");
  EXPECT_EQ(text(Value{{"a", {}}}), R"({"a":{}})");
  EXPECT_EQ(text(Value{{"a", list()}}), R"({"a":[]})");
}

TEST(Literal, TextPairsAreAnObjectOnlyInsideBraces) {
  // Two strings are a list; only as an element of other braces are they a pair.
  EXPECT_EQ(text(Value{"a", "b"}), R"(["a","b"])");
  EXPECT_EQ(text(Value{{"k", list({"a", "b"})}}), R"({"k":["a","b"]})");
}

TEST(Literal, ListSaysPlainlyThatItIsAList) {
  EXPECT_EQ(text(list()), "[]");
  EXPECT_EQ(text(list({})), "[]");
  EXPECT_EQ(text(list({"a"})), R"(["a"])");
  EXPECT_EQ(text(list({"a", "b"})), R"(["a","b"])");
  EXPECT_EQ(text(list({{"a", 1}})), R"([["a",1]])");
  EXPECT_EQ(text(list({{"a", 1}, {"b", 2}})), R"([["a",1],["b",2]])");
  EXPECT_EQ(text(list({object({{"a", 1}})})), R"([{"a":1}])");
  const Value other = parse_json("[1]");
  EXPECT_EQ(text(list({other})), "[[1]]");
}

TEST(Literal, ObjectSaysPlainlyThatItIsAnObject) {
  EXPECT_EQ(text(object()), "{}");
  EXPECT_EQ(text(object({})), "{}");
  EXPECT_EQ(text(object({{"a", 1}})), R"({"a":1})");
  EXPECT_EQ(text(object({{"a", 1}, {"b", list({2})}})), R"({"a":1,"b":[2]})");
  EXPECT_EQ(text(object({{"a", {1, 2}}})), R"({"a":[1,2]})");
}

TEST(Literal, ContainersAndExtensionsMayBeElements) {
  const std::vector<int> numbers{1, 2};
  const std::pair<std::string, int> pair{"a", 1};
  EXPECT_EQ(text(Value{{"n", numbers}}), R"({"n":[1,2]})");
  EXPECT_EQ(text(Value{numbers, numbers}), "[[1,2],[1,2]]");
  // A std::pair is a list wherever it stands: it was not written in braces.
  EXPECT_EQ(text(Value{pair, pair}), R"([["a",1],["a",1]])");
  const Value set = make_extension(ExtensionCode::construct, "builtins", "set", numbers);
  EXPECT_TRUE(same(Value{set}, set));
  EXPECT_TRUE(same((Value{{"s", set}}["s"]), set));
}

}  // namespace
}  // namespace clew

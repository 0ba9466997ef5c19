#include <clew/state.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>

// As in a program that does not open clew.
namespace app {

clew::Value keep_last_two(const clew::Value& current, const clew::Value& update) {
  const clew::Value all = clew::reducers::append(current, update);
  return all.slice(all.size() < 2 ? 0 : all.size() - 2, all.size());
}

// The name of one of Clew's reducers: inside this namespace it means this one.
int add(int current, int update) { return current + 10 * update; }

enum class Phase { start, end };
CLEW_ENUM(Phase, start, end)

struct State {
  std::string foo;
  std::vector<std::string> bar;
  int budget = 10;
  Phase phase = Phase::end;
  std::optional<std::string> note;
  clew::Value anything;
};
CLEW_STATE(State, foo, reduced(bar, append), budget, phase, note, anything)

struct Reduced {
  std::vector<int> recent;
  std::set<int> seen;
  int product = 1;
  double sum = 0;
  int weighted = 0;
  std::string longest;
};
CLEW_STATE(Reduced, reduced(recent, keep_last_two), reduced(seen, union_),
           reduced(product, [](int current, int update) { return current * update; }),
           reduced(sum, std::plus<>()), reduced(weighted, add),
           reduced(longest, [](const std::string& current, const std::string& update) {
             const auto a = current.size(), b = update.size();
             return a < b ? update : current;
           }))

struct Empty {};
CLEW_STATE(Empty)

struct Unnamed {
  Phase phase = static_cast<Phase>(9);
};
CLEW_STATE(Unnamed, phase)

}  // namespace app

// As in a program that does.
using namespace clew;

struct OpenState {
  std::vector<std::string> log;
  std::map<std::string, int> counts;
  int high = 0;
};
CLEW_STATE(OpenState, reduced(log, append), reduced(counts, merge), reduced(high, max));

struct Wide {
  int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7;
  int b0 = 0, b1 = 1, b2 = 2, b3 = 3, b4 = 4, b5 = 5, b6 = 6, b7 = 7;
  int c0 = 0, c1 = 1, c2 = 2, c3 = 3, c4 = 4, c5 = 5, c6 = 6, c7 = 7;
  int d0 = 0, d1 = 1, d2 = 2, d3 = 3, d4 = 4, d5 = 5, d6 = 6, d7 = 7;
  int e0 = 0, e1 = 1, e2 = 2, e3 = 3, e4 = 4, e5 = 5, e6 = 6, e7 = 7;
  int f0 = 0, f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7;
  int g0 = 0, g1 = 1, g2 = 2, g3 = 3, g4 = 4, g5 = 5, g6 = 6, g7 = 7;
  int h0 = 0, h1 = 1, h2 = 2, h3 = 3, h4 = 4, h5 = 5, h6 = 6, h7 = 7;
};
CLEW_STATE(Wide, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4,
           c5, c6, c7, d0, d1, d2, d3, d4, d5, d6, d7, e0, e1, e2, e3, e4, e5, e6, e7, f0, f1, f2,
           f3, f4, f5, f6, f7, g0, g1, g2, g3, g4, g5, g6, g7, h0, h1, h2, h3, h4, h5, h6,
           reduced(h7, add))

namespace clew {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no error";
}

const Field& field_of(const std::vector<Field>& schema, std::string_view name) {
  return *std::find_if(schema.begin(), schema.end(),
                       [&](const Field& field) { return field.name == name; });
}

template <class State>
Value reduce(std::string_view name, const Value& current, const Value& update) {
  return field_of(schema_of<State>(), name).reducer(current, update);
}

TEST(State, SchemaListsFieldsInOrder) {
  std::string rendered;
  for (const Field& field : schema_of<app::State>()) {
    rendered += field.name + (field.reducer ? " reduced " : " ") + to_json(field.default_value);
    rendered += '\n';
  }
  EXPECT_EQ(rendered,
            "foo \"\"\n"
            "bar reduced []\n"
            "budget 10\n"
            "phase \"end\"\n"
            "note null\n"
            "anything null\n");
  EXPECT_TRUE(schema_of<app::Empty>().empty());
  EXPECT_EQ(&schema_of<app::State>(), &schema_of<app::State>());
}

TEST(State, IsWrittenWithAllFields) {
  app::State state;
  state.foo = "a";
  state.bar = {"x"};
  EXPECT_EQ(to_json(Value(state)),
            R"({"foo":"a","bar":["x"],"budget":10,"phase":"end","note":null,"anything":null})");
}

TEST(State, MissingFieldsKeepTheirDefaults) {
  const auto state = parse_json(R"({"bar": ["x"]})").get<app::State>();
  EXPECT_EQ(state.foo, "");
  EXPECT_EQ(state.bar, std::vector<std::string>{"x"});
  EXPECT_EQ(state.budget, 10);
  EXPECT_EQ(state.phase, app::Phase::end);
  EXPECT_EQ(object().get<app::State>().budget, 10);
}

TEST(State, UnknownFieldsAndWrongTypesAreErrors) {
  EXPECT_EQ(error_of([] { Value{{"fo", "a"}}.get<app::State>(); }),
            "$.fo: unknown field; State has foo, bar, budget, phase, note, anything");
  EXPECT_EQ(error_of([] { Value{{"bar", {"x", 2}}}.get<app::State>(); }),
            "$.bar[1]: expected string, found int");
  EXPECT_EQ(error_of([] { Value{{"foo", nullptr}}.get<app::State>(); }),
            "$.foo: expected string, found null");
  EXPECT_EQ(error_of([] { Value("a").get<app::State>(); }), "$: expected object, found string");
}

TEST(State, WithSixtyFourFields) {
  const auto& schema = schema_of<Wide>();
  ASSERT_EQ(schema.size(), 64U);
  EXPECT_EQ(schema[0].name, "a0");
  EXPECT_EQ(schema[63].name, "h7");
  EXPECT_TRUE(schema[63].reducer);
  Wide wide;
  wide.d3 = 33;
  const Value value = wide;
  EXPECT_EQ(value.size(), 64U);
  EXPECT_EQ(value.get<Wide>().d3, 33);
  EXPECT_EQ(Value(value.get<Wide>()), value);
}

TEST(State, ADefaultWithoutValueIsAnErrorWithItsField) {
  EXPECT_EQ(error_of([] { schema_of<app::Unnamed>(); }),
            "$.phase: Phase has no enumerator of value 9; name it in CLEW_ENUM(Phase, ...)");
}

TEST(State, ReducersAreFoundWithAndWithoutOpeningClew) {
  EXPECT_EQ(to_json(reduce<app::State>("bar", {"a", "b"}, list({"c"}))), R"(["a","b","c"])");
  EXPECT_EQ(to_json(reduce<OpenState>("log", {"a", "b"}, list({"c"}))), R"(["a","b","c"])");
  EXPECT_EQ(to_json(reduce<OpenState>("counts", {{"a", 1}}, {{"b", 2}})), R"({"a":1,"b":2})");
  EXPECT_EQ(to_json(reduce<OpenState>("high", 3, 5)), "5");
  EXPECT_EQ(to_json(reduce<Wide>("h7", 3, 5)), "8");
}

TEST(State, ReducersOfTheProgram) {
  EXPECT_EQ(to_json(reduce<app::Reduced>("recent", {1, 2}, {3, 4})), "[3,4]");
  EXPECT_EQ(to_json(reduce<app::Reduced>("product", 6, 7)), "42");
  EXPECT_EQ(to_json(reduce<app::Reduced>("sum", 1, 0.5)), "1.5");
  EXPECT_EQ(to_json(reduce<app::Reduced>("weighted", 1, 2)), "21");
  EXPECT_EQ(to_json(reduce<app::Reduced>("longest", "abc", "ab")), R"("abc")");
}

TEST(State, ATypedReducerStartsFromTheDefaultOfItsType) {
  EXPECT_EQ(to_json(reduce<app::Reduced>("sum", nullptr, 2)), "2.0");
  EXPECT_EQ(to_json(reduce<app::Reduced>("longest", nullptr, "ab")), R"("ab")");
}

TEST(State, ATypedReducerChecksWhatItGets) {
  EXPECT_EQ(error_of([] { reduce<app::Reduced>("product", 1, "x"); }),
            "$: expected int, found string");
  EXPECT_EQ(error_of([] { reduce<app::Reduced>("product", "x", 1); }),
            "$: expected int, found string");
}

TEST(Reducers, AppendJoinsLists) {
  EXPECT_EQ(to_json(append(list({1}), list({2, 3}))), "[1,2,3]");
  EXPECT_EQ(to_json(append(nullptr, list({1}))), "[1]");
  EXPECT_EQ(to_json(append(list({1}), list())), "[1]");
  EXPECT_EQ(error_of([] { append(list(), "a"); }),
            "append: expected a list of new elements, found string; wrap it in a list");
  EXPECT_EQ(error_of([] { append(list(), nullptr); }),
            "append: expected a list of new elements, found null; wrap it in a list");
  EXPECT_EQ(error_of([] { append("a", list()); }),
            "append: expected a list to be there, found string");
}

TEST(Reducers, AppendSharesWhatIsThere) {
  ListBuilder builder;
  for (int i = 0; i < 1000; ++i) builder.push_back(Value{{"id", i}});
  const Value older = std::move(builder).build();
  const Value newer = append(older, list({"last"}));
  EXPECT_EQ(newer.size(), 1001U);
  for (std::size_t i = 0; i < older.size(); ++i) ASSERT_TRUE(same(older[i], newer[i])) << i;
}

TEST(Reducers, AddSumsNumbers) {
  EXPECT_EQ(to_json(add(2, 3)), "5");
  EXPECT_EQ(to_json(add(2, 0.5)), "2.5");
  EXPECT_EQ(to_json(add(0.5, 2)), "2.5");
  EXPECT_EQ(to_json(add(nullptr, 3)), "3");
}

TEST(Reducers, AddIsExactPast64Bits) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  const auto big = [](std::string_view digits) { return Value::integer(digits); };
  EXPECT_EQ(to_json(add(kMax, 1)), "9223372036854775808");
  EXPECT_EQ(to_json(add(kMin, -1)), "-9223372036854775809");
  EXPECT_EQ(to_json(add(big("99999999999999999999"), 1)), "100000000000000000000");
  EXPECT_EQ(to_json(add(big("100000000000000000000"), -1)), "99999999999999999999");
  EXPECT_EQ(to_json(add(-1, big("100000000000000000000"))), "99999999999999999999");
  EXPECT_EQ(to_json(add(big("-100000000000000000000"), big("100000000000000000001"))), "1");
  EXPECT_EQ(to_json(add(big("-100000000000000000000"), big("100000000000000000000"))), "0");
  EXPECT_EQ(to_json(add(big("9223372036854775808"), -1)), "9223372036854775807");
  EXPECT_TRUE(add(big("9223372036854775808"), -1).is_int());
}

TEST(Reducers, AddJoinsTextAndLists) {
  EXPECT_EQ(to_json(add("ab", "c")), R"("abc")");
  EXPECT_EQ(to_json(add(list({1}), list({2}))), "[1,2]");
  EXPECT_EQ(error_of([] { add(1, "a"); }), "add: cannot add string to int");
  EXPECT_EQ(error_of([] { add(list(), 1); }), "add: cannot add int to list");
  EXPECT_EQ(error_of([] { add(1, true); }), "add: expected a number, string or list, found bool");
  EXPECT_EQ(error_of([] { add(nullptr, object()); }),
            "add: expected a number, string or list, found object");
}

TEST(Reducers, MergeReplacesAndAddsEntries) {
  EXPECT_EQ(to_json(merge({{"a", 1}, {"b", 2}}, {{"c", 3}, {"a", 4}})), R"({"a":4,"b":2,"c":3})");
  EXPECT_EQ(to_json(merge(nullptr, {{"a", 1}})), R"({"a":1})");
  EXPECT_EQ(error_of([] { merge(object(), list()); }), "merge: expected an object, found list");
  EXPECT_EQ(error_of([] { merge(1, object()); }),
            "merge: expected an object to be there, found int");
}

TEST(Reducers, MergeTakesMapsWithOtherKeys) {
  const Value numbers = std::map<int, int>{{1, 10}, {2, 20}};
  const Value update = std::map<int, int>{{2, 21}, {3, 30}};
  EXPECT_EQ(merge(numbers, update), Value(std::map<int, int>{{1, 10}, {2, 21}, {3, 30}}));
  EXPECT_EQ(to_json(merge({{"a", 1}}, numbers)), R"({"a":1,"1":10,"2":20})");
}

TEST(Reducers, MaxKeepsTheGreater) {
  EXPECT_EQ(to_json(max(1, 2)), "2");
  EXPECT_EQ(to_json(max(2, 1)), "2");
  EXPECT_EQ(to_json(max("a", "b")), R"("b")");
  EXPECT_EQ(to_json(max(nullptr, -5)), "-5");
  EXPECT_EQ(to_json(max(1, 1.5)), "1.5");
  EXPECT_EQ(to_json(max(1.5, 1)), "1.5");
  EXPECT_EQ(to_json(max(1, 1.0)), "1");
  EXPECT_EQ(to_json(max(1.0, 1)), "1.0");
  EXPECT_EQ(error_of([] { max(1, "a"); }), "max: cannot compare string with int");
  EXPECT_EQ(error_of([] { max(list(), 1); }), "max: cannot compare int with list");
  EXPECT_EQ(error_of([] { max(1, list()); }), "max: expected a number or string, found list");
}

TEST(Reducers, MaxIsExactForLargeNumbers) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  const Value big = Value::integer("18446744073709551616");
  const Value negative = Value::integer("-18446744073709551616");
  EXPECT_EQ(max(kMax, big), big);
  EXPECT_EQ(max(big, kMax), big);
  EXPECT_EQ(max(negative, 0), Value(0));
  EXPECT_EQ(max(negative, Value::integer("-18446744073709551617")), negative);
  // As a double this integer is 2^53, which it is not.
  EXPECT_EQ(max(9007199254740992.0, 9007199254740993), Value(9007199254740993));
  EXPECT_EQ(max(kMax, 9223372036854775808.0), Value(9223372036854775808.0));
  EXPECT_EQ(max(-1e300, 0), Value(0));
  EXPECT_EQ(max(-1, -1.5), Value(-1));
}

TEST(Reducers, UnionAddsWhatIsNew) {
  const Value set = std::set<int>{1, 2};
  EXPECT_EQ(union_(set, Value{2, 3, 3}), Value(std::set<int>{1, 2, 3}));
  EXPECT_EQ(union_(set, std::set<int>{0}).as_extension().payload, (Value{1, 2, 0}));
  EXPECT_EQ(union_(nullptr, Value{2, 2}), Value(std::set<int>{2}));
  EXPECT_EQ(union_(nullptr, set), set);
  EXPECT_EQ(union_(list({1}), list({1})), Value(std::set<int>{1}));
  EXPECT_TRUE(same(union_(set, std::set<int>{1}), set));
  EXPECT_EQ(error_of([&] { union_(set, 1); }),
            "union_: expected a set or a list of elements, found int; wrap it in a list");
  EXPECT_EQ(error_of([&] { union_("a", set); }),
            "union_: expected a set to be there, found string");
}

TEST(Reducers, UnionOfAFrozensetIsOne) {
  const Value frozen = make_extension(ExtensionCode::construct, "builtins", "frozenset", list({1}));
  EXPECT_EQ(union_(frozen, list({2})),
            make_extension(ExtensionCode::construct, "builtins", "frozenset", list({1, 2})));
}

}  // namespace
}  // namespace clew

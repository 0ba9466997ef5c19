#include <clew/convert.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>

// In a namespace of its own, as in a program: nothing of clew is visible by name.
namespace app {

enum class Color { red, green = 7 };
CLEW_ENUM(Color, red, green)

struct Address {
  std::string street;
  std::optional<int> number;
};
CLEW_JSON(Address, street, number)

struct User {
  std::string name;
  std::uint8_t age = 0;
  std::vector<Address> addresses;
};
CLEW_JSON(User, name, age, addresses)

struct Tree {
  int leaf = 0;
  std::vector<Tree> children;
};
CLEW_JSON(Tree, leaf, children);  // a semicolon is welcome too

struct Holder {
  enum class Mode { fast, slow };
  struct Inner {
    Mode mode = Mode::slow;
  };
  Inner inner;
};
CLEW_ENUM(Holder::Mode, fast, slow)
CLEW_JSON(Holder::Inner, mode)
CLEW_JSON(Holder, inner)

struct Empty {};
CLEW_JSON(Empty)

// Names that the macros might have used for themselves.
struct Visitor {
  int visit = 1;
  int name = 2;
  int Type = 3;
};
CLEW_JSON(Visitor, visit, name, Type)

struct Admin : User {
  int level = 0;
};
CLEW_JSON(Admin, name, level)

// Converts by functions beside it.
struct Money {
  long cents = 0;
  friend bool operator==(const Money&, const Money&) = default;
};
clew::Value to_value(const Money& money) { return std::to_string(money.cents) + " ct"; }
void from_value(const clew::Value& value, Money& money) {
  if (!value.is_string()) throw clew::ValueError("money is text like '150 ct'");
  money.cents = std::stol(std::string(value.as_string()));
}

// Neither default constructible nor of a namespace that is ours to extend.
class Meters {
 public:
  explicit Meters(double count) : count_(count) {}
  double count() const { return count_; }

 private:
  double count_;
};

}  // namespace app

struct GlobalPoint {
  double x = 0;
  double y = 0;
};
CLEW_JSON(GlobalPoint, x, y)

template <>
struct clew::Converter<app::Meters> {
  static Value to_value(const app::Meters& meters) { return meters.count(); }
  static app::Meters from_value(const Value& value) { return app::Meters(value.get<double>()); }
};

namespace clew {
namespace {

template <class T>
std::string error_of(const Value& value) {
  try {
    value.get<T>();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no error";
}

// The JSON of `object`, after checking that reading it back and writing it
// again changes nothing.
template <class T>
std::string round_trip(const T& object) {
  const Value value = object;
  EXPECT_EQ(Value(value.get<T>()), value);
  return to_json(value);
}

Value parsed(std::string_view json) { return parse_json(json); }

TEST(Convert, Scalars) {
  EXPECT_EQ(Value(true).get<bool>(), true);
  EXPECT_EQ(Value(-3).get<int>(), -3);
  EXPECT_EQ(Value("a").get<std::string>(), "a");
  EXPECT_EQ(Value(0.5).get<double>(), 0.5);
  EXPECT_EQ(Value(0.5).get<float>(), 0.5F);
  EXPECT_EQ(Value(2).get<double>(), 2.0);
  EXPECT_EQ(Value(Value("a")).get<Value>(), Value("a"));
}

TEST(Convert, ScalarsAreNotTakenForEachOther) {
  EXPECT_EQ(error_of<bool>(1), "$: expected bool, found int");
  EXPECT_EQ(error_of<int>(true), "$: expected int, found bool");
  EXPECT_EQ(error_of<int>(1.0), "$: expected int, found float");
  EXPECT_EQ(error_of<int>("1"), "$: expected int, found string");
  EXPECT_EQ(error_of<double>("1"), "$: expected float, found string");
  EXPECT_EQ(error_of<double>(true), "$: expected float, found bool");
  EXPECT_EQ(error_of<std::string>(Value::bytes("a")), "$: expected string, found bytes");
  EXPECT_EQ(error_of<std::string>(nullptr), "$: expected string, found null");
}

TEST(Convert, IntegersAreRangeChecked) {
  EXPECT_EQ(Value(255).get<std::uint8_t>(), 255);
  EXPECT_EQ(error_of<std::uint8_t>(300), "$: expected int in 0..255, found 300");
  EXPECT_EQ(error_of<std::uint8_t>(-1), "$: expected int in 0..255, found -1");
  EXPECT_EQ(error_of<std::int16_t>(40000), "$: expected int in -32768..32767, found 40000");
  EXPECT_EQ(error_of<std::uint64_t>(-1), "$: expected int in 0..18446744073709551615, found -1");
}

TEST(Convert, UnsignedIntegersUpTo64Bits) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Value(kMax).get<std::uint64_t>(), kMax);
  EXPECT_EQ(Value(7).get<std::uint64_t>(), 7U);
  EXPECT_EQ(error_of<std::uint64_t>(Value::integer("18446744073709551616")),
            "$: expected int in 0..18446744073709551615, found 18446744073709551616");
  EXPECT_EQ(error_of<std::int64_t>(kMax),
            "$: expected int in -9223372036854775808..9223372036854775807, "
            "found 18446744073709551615");
}

TEST(Convert, FloatsOf32BitsAreRangeChecked) {
  EXPECT_EQ(error_of<float>(1e300), "$: expected float of 32 bits, found 1e+300");
  EXPECT_EQ(error_of<float>(-1e300), "$: expected float of 32 bits, found -1e+300");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Value(-kInfinity).get<float>(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(Value(std::nan("")).get<float>()));
}

TEST(Convert, Sequences) {
  EXPECT_EQ(round_trip(std::vector<int>{1, 2, 3}), "[1,2,3]");
  EXPECT_EQ(round_trip(std::vector<bool>{true, false}), "[true,false]");
  EXPECT_EQ(round_trip(std::vector<std::string>{}), "[]");
  EXPECT_EQ(round_trip(std::deque<std::string>{"a", "b"}), R"(["a","b"])");
  EXPECT_EQ(round_trip(std::list<double>{0.5}), "[0.5]");
  EXPECT_EQ(round_trip(std::array<int, 2>{4, 5}), "[4,5]");
  EXPECT_EQ(round_trip(std::pair<std::string, int>{"a", 1}), R"(["a",1])");
  EXPECT_EQ(round_trip(std::tuple<int, bool, std::string>{1, true, "x"}), R"([1,true,"x"])");
  EXPECT_EQ(round_trip(std::tuple<>{}), "[]");
  EXPECT_EQ(round_trip(std::vector<std::vector<int>>{{1}, {}, {2, 3}}), "[[1],[],[2,3]]");
  EXPECT_EQ(round_trip(std::vector<Value>{1, "a", nullptr}), R"([1,"a",null])");
}

TEST(Convert, TextThatIsOnlyWritten) {
  EXPECT_EQ(to_json(Value(std::vector<std::string_view>{"a", "b"})), R"(["a","b"])");
  EXPECT_EQ(to_json(Value(std::vector<const char*>{"a"})), R"(["a"])");
  EXPECT_EQ(to_json(Value(std::map<std::string_view, int>{{"a", 1}})), R"({"a":1})");
}

TEST(Convert, SequenceErrorsNameTheElement) {
  EXPECT_EQ(error_of<std::vector<int>>("a"), "$: expected list, found string");
  EXPECT_EQ(error_of<std::vector<int>>(nullptr), "$: expected list, found null");
  EXPECT_EQ(error_of<std::vector<int>>(parsed("[1, 2, null]")), "$[2]: expected int, found null");
  EXPECT_EQ(error_of<std::list<std::vector<int>>>(parsed(R"([[], [1, "a"]])")),
            "$[1][1]: expected int, found string");
  EXPECT_EQ((error_of<std::pair<int, bool>>(parsed("[1, 2]"))), "$[1]: expected bool, found int");
}

TEST(Convert, FixedSizesMustFit) {
  EXPECT_EQ((error_of<std::array<int, 2>>(parsed("[1]"))),
            "$: expected list of 2, found list of 1");
  EXPECT_EQ((error_of<std::pair<int, int>>(parsed("[1, 2, 3]"))),
            "$: expected list of 2, found list of 3");
  EXPECT_EQ((error_of<std::tuple<int>>(parsed("{}"))), "$: expected list, found object");
}

TEST(Convert, ArraysMayBeLarge) {
  std::array<float, 1536> embedding{};
  embedding[1535] = 0.25F;
  const Value value = embedding;
  EXPECT_EQ(value.size(), 1536U);
  EXPECT_EQ((value.get<std::array<float, 1536>>()), embedding);
  EXPECT_EQ(round_trip(std::array<std::array<int, 2>, 2>{{{1, 2}, {3, 4}}}), "[[1,2],[3,4]]");
  EXPECT_EQ(round_trip(std::array<int, 0>{}), "[]");
}

TEST(Convert, Bytes) {
  const std::vector<std::byte> bytes{std::byte{0}, std::byte{0xFF}};
  EXPECT_EQ(Value(bytes), Value::bytes(std::string_view("\0\xFF", 2)));
  EXPECT_EQ(Value(bytes).get<std::vector<std::byte>>(), bytes);
  EXPECT_EQ(Value(std::vector<std::byte>()).get<std::vector<std::byte>>().size(), 0U);
  EXPECT_EQ(error_of<std::vector<std::byte>>("text"), "$: expected bytes, found string");
}

TEST(Convert, MapsWithTextKeysAreObjects) {
  EXPECT_EQ(round_trip(std::map<std::string, int>{{"b", 2}, {"a", 1}}), R"({"a":1,"b":2})");
  EXPECT_EQ(round_trip(std::map<std::string, int>{}), "{}");
  EXPECT_EQ(round_trip(std::map<app::Color, int>{{app::Color::green, 1}}), R"({"green":1})");
  EXPECT_TRUE(Value(std::map<app::Color, int>{{app::Color::red, 1}}).is_object());
}

TEST(Convert, MapsWithOtherKeysAreMaps) {
  const std::map<int, std::string> names{{2, "two"}, {-1, "minus one"}};
  const Value value = names;
  EXPECT_EQ(value.kind(), Kind::map);
  EXPECT_EQ((value.get<std::map<int, std::string>>()), names);
  EXPECT_EQ(round_trip(names), R"({"-1":"minus one","2":"two"})");
  EXPECT_EQ(round_trip(std::map<int, int>{}), "{}");
  const std::map<std::pair<int, int>, int> grid{{{0, 1}, 5}};
  EXPECT_EQ((Value(grid).get<std::map<std::pair<int, int>, int>>()), grid);
}

TEST(Convert, IntegerKeysAreReadFromJson) {
  const Value value = parsed(R"({"3": "three"})");
  EXPECT_EQ((value.get<std::map<int, std::string>>()), (std::map<int, std::string>{{3, "three"}}));
}

TEST(Convert, UnorderedContainersAreWrittenSorted) {
  std::unordered_map<std::string, int> by_name;
  std::unordered_map<int, int> by_number;
  std::unordered_set<int> set;
  for (int i = 9; i >= 0; --i) {
    by_name[std::string(1, static_cast<char>('a' + i))] = i;
    by_number[i] = i;
    set.insert(i);
  }
  EXPECT_EQ(round_trip(by_name),
            R"({"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9})");
  EXPECT_EQ(round_trip(by_number),
            R"({"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9})");
  EXPECT_EQ(round_trip(set), "[0,1,2,3,4,5,6,7,8,9]");
}

TEST(Convert, MapErrorsNameTheEntry) {
  using ByName = std::map<std::string, int>;
  using ByNumber = std::unordered_map<int, std::string>;
  EXPECT_EQ(error_of<ByName>(parsed("[]")), "$: expected object, found list");
  EXPECT_EQ(error_of<ByName>(std::map<int, int>{{1, 1}}), "$: expected object, found map");
  EXPECT_EQ(error_of<ByName>(parsed(R"({"a": 1, "odd key": "x"})")),
            R"($["odd key"]: expected int, found string)");
  EXPECT_EQ(error_of<ByNumber>(std::map<int, int>{{4, 1}}), "$[4]: expected string, found int");
  EXPECT_EQ(error_of<ByNumber>(std::map<bool, std::string>{{true, "x"}}),
            "$: key [true]: expected int, found bool");
  EXPECT_EQ((error_of<std::map<bool, int>>(parsed(R"({"a": 1})"))),
            R"($: key "a": expected bool, found string)");
  EXPECT_EQ(error_of<ByNumber>("x"), "$: expected map, found string");
}

TEST(Convert, SetsArePythonSets) {
  const std::set<std::string> set{"b", "a"};
  const Value value = set;
  EXPECT_TRUE(is_instance(value, "builtins", "set"));
  EXPECT_EQ(value.as_extension().payload, parsed(R"(["a", "b"])"));
  EXPECT_EQ(value.get<std::set<std::string>>(), set);
}

TEST(Convert, FrozensetsAndListsAreReadAsSets) {
  const Value list = parsed("[2, 1, 2]");
  const Value frozen = make_extension(ExtensionCode::construct, "builtins", "frozenset", list);
  EXPECT_EQ(list.get<std::set<int>>(), (std::set<int>{1, 2}));
  EXPECT_EQ(frozen.get<std::unordered_set<int>>(), (std::unordered_set<int>{1, 2}));
  EXPECT_EQ(error_of<std::set<int>>(parsed("{}")), "$: expected set, found object");
  EXPECT_EQ(error_of<std::set<int>>(Value(std::set<std::string>{"a"})),
            "$[0]: expected int, found string");
  const Value decimal = make_extension(ExtensionCode::construct, "decimal", "Decimal", "1.1");
  EXPECT_EQ(error_of<std::set<int>>(decimal), "$: expected set, found decimal.Decimal");
}

TEST(Convert, OptionalIsNullOrTheValue) {
  EXPECT_EQ(round_trip(std::optional<int>()), "null");
  EXPECT_EQ(round_trip(std::optional<int>(3)), "3");
  EXPECT_EQ(round_trip(std::vector<std::optional<std::string>>{"a", std::nullopt}),
            R"(["a",null])");
  EXPECT_EQ(Value()["absent"].get<std::optional<int>>(), std::nullopt);
}

TEST(Convert, VariantTakesTheFirstThatFits) {
  using Content = std::variant<std::monostate, std::string, std::vector<app::Address>, int>;
  EXPECT_EQ(round_trip(Content("a")), R"("a")");
  EXPECT_EQ(round_trip(Content(3)), "3");
  EXPECT_EQ(round_trip(Content()), "null");
  EXPECT_EQ(round_trip(Content(std::vector<app::Address>{{"Main", 1}})),
            R"([{"street":"Main","number":1}])");
  EXPECT_EQ((Value(1).get<std::variant<double, int>>().index()), 0U);
  EXPECT_EQ((Value(1).get<std::variant<int, double>>().index()), 0U);
  EXPECT_EQ((Value(1.0).get<std::variant<int, double>>().index()), 1U);
}

TEST(Convert, VariantErrorSaysWhatWasTried) {
  using Simple = std::variant<std::monostate, int, std::string>;
  EXPECT_EQ(error_of<Simple>(true), "$: expected null or int or string, found bool");
  using Small = std::variant<std::uint8_t, std::string>;
  EXPECT_EQ(error_of<Small>(300),
            "$: expected int or string, found int; as int: expected int in 0..255, found 300");
  using Either = std::variant<app::Address, std::vector<app::User>>;
  EXPECT_EQ(error_of<Either>(parsed(R"([{"name": "Ada", "age": 1, "addresses": 2}])")),
            "$: expected object or list, found list; "
            "as list: [0].addresses: expected list, found int");
  EXPECT_EQ(error_of<Either>(parsed(R"({"number": 1})")),
            "$: expected object or list, found object; "
            "as object: .street: missing (expected string)");
}

TEST(Convert, EnumsByName) {
  EXPECT_EQ(round_trip(app::Color::green), R"("green")");
  EXPECT_EQ(round_trip(std::vector<app::Color>{app::Color::red}), R"(["red"])");
  EXPECT_EQ(error_of<app::Color>("blue"), R"($: expected one of red, green, found "blue")");
  EXPECT_EQ(error_of<app::Color>(7), "$: expected one of red, green, found int");
}

TEST(Convert, AnEnumeratorWithoutNameIsAnError) {
  try {
    Value value = static_cast<app::Color>(3);
    FAIL() << value;
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(),
                 "Color has no enumerator of value 3; name it in CLEW_ENUM(Color, ...)");
  }
}

TEST(Convert, StructsKeepTheOrderOfTheirFields) {
  const app::User ada{"Ada", 36, {{"Main", 1}, {"Side", std::nullopt}}};
  EXPECT_EQ(round_trip(ada), R"({"name":"Ada","age":36,"addresses":[)"
                             R"({"street":"Main","number":1},{"street":"Side","number":null}]})");
  EXPECT_EQ(round_trip(GlobalPoint{1, 2}), R"({"x":1.0,"y":2.0})");
  EXPECT_EQ(round_trip(app::Empty{}), "{}");
}

TEST(Convert, StructsMayNestAndRecur) {
  EXPECT_EQ(round_trip(app::Visitor{}), R"({"visit":1,"name":2,"Type":3})");
  EXPECT_EQ(round_trip(app::Holder{}), R"({"inner":{"mode":"slow"}})");
  const app::Tree tree{1, {{2, {}}, {3, {{4, {}}}}}};
  EXPECT_EQ(round_trip(tree), R"({"leaf":1,"children":[{"leaf":2,"children":[]},)"
                              R"({"leaf":3,"children":[{"leaf":4,"children":[]}]}]})");
}

TEST(Convert, FieldsOfABaseClassAreListedByTheDerivedOne) {
  app::Admin admin;
  admin.name = "root";
  admin.level = 3;
  EXPECT_EQ(round_trip(admin), R"({"name":"root","level":3})");
}

struct Unlisted : app::User {};

TEST(Convert, AStructIsNotConvertedAsItsBaseClass) {
  EXPECT_FALSE((std::is_constructible_v<Value, const Unlisted&>));
}

TEST(Convert, MissingFieldsAreErrorsUnlessOptional) {
  const Value user = parsed(R"({"user": {"age": 3, "addresses": []}})");
  try {
    user.get<app::User>("user");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "$.user.name: missing (expected string)");
    EXPECT_EQ(error.path(), "$.user.name");
  }
  EXPECT_EQ(parsed(R"({"street": "Main"})").get<app::Address>().number, std::nullopt);
  EXPECT_EQ(error_of<app::Holder>(parsed("{}")), "$.inner: missing (expected object)");
  EXPECT_EQ(error_of<app::Holder>(parsed(R"({"inner": {}})")),
            "$.inner.mode: missing (expected one of fast, slow)");
}

TEST(Convert, UnknownFieldsAreErrors) {
  EXPECT_EQ(error_of<app::Address>(parsed(R"({"street": "Main", "zip": 1})")),
            "$.zip: unknown field; Address has street, number");
  EXPECT_EQ(error_of<app::Empty>(parsed(R"({"odd key": 1})")),
            R"($["odd key"]: unknown field; Empty has none)");
  // Misspelt: that it is unknown says more than that another one is missing.
  EXPECT_EQ(error_of<app::User>(parsed(R"({"nmae": "Ada", "age": 3, "addresses": []})")),
            "$.nmae: unknown field; User has name, age, addresses");
}

TEST(Convert, WrongTypesNameTheWholePath) {
  const Value value = parsed(R"({"users": [
      {"name": "A", "age": 1, "addresses": []},
      {"name": "B", "age": 300, "addresses": [{"street": "Main", "number": "x"}]}]})");
  using Users = std::map<std::string, std::vector<app::User>>;
  EXPECT_EQ(error_of<Users>(value), "$.users[1].age: expected int in 0..255, found 300");
  try {
    value.get<app::Address>("users", 1, "addresses", 0);
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "$.users[1].addresses[0].number: expected int, found string");
  }
  EXPECT_EQ(error_of<app::User>(parsed("[]")), "$: expected object, found list");
}

TEST(Convert, GetWalksAPathFirst) {
  const Value value = parsed(R"({"messages": [{}, {}, {}, {"id": 7}]})");
  EXPECT_EQ(value.get<int>("messages", 3, "id"), 7);
  try {
    value.get<std::string>("messages", 3, "id");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "$.messages[3].id: expected string, found int");
  }
  EXPECT_THROW(value.get<std::string>("messages", 4, "id"), ValueError);
}

TEST(Convert, FunctionsBesideTheType) {
  EXPECT_EQ(round_trip(app::Money{150}), R"("150 ct")");
  EXPECT_EQ(round_trip(std::optional<app::Money>(app::Money{1})), R"("1 ct")");
  EXPECT_EQ((Value{{"price", app::Money{2}}}), (Value{{"price", "2 ct"}}));
  EXPECT_EQ(error_of<std::vector<app::Money>>(parsed(R"(["1 ct", 2])")),
            "$[1]: money is text like '150 ct'");
  EXPECT_EQ((error_of<std::variant<int, app::Money>>(true)),
            "$: expected int or app::Money, found bool; "
            "as app::Money: money is text like '150 ct'");
}

TEST(Convert, ASpecializedConverter) {
  EXPECT_EQ(to_json(Value(app::Meters(1.5))), "1.5");
  EXPECT_EQ(Value(1.5).get<app::Meters>().count(), 1.5);
  EXPECT_EQ(parsed("[1, 2]").get<std::vector<app::Meters>>()[1].count(), 2.0);
}

struct Opaque {
  int content = 0;
};

TEST(Convert, WhatHasNoConversionIsNotAcceptedByTheConstructor) {
  EXPECT_FALSE((std::is_convertible_v<Opaque, Value>));
  EXPECT_FALSE((std::is_convertible_v<std::vector<Opaque>, Value>));
  EXPECT_FALSE((std::is_convertible_v<std::map<int, Opaque>, Value>));
  EXPECT_FALSE((std::is_convertible_v<std::optional<Opaque>, Value>));
  EXPECT_FALSE((std::is_convertible_v<std::variant<int, Opaque>, Value>));
  EXPECT_FALSE((std::is_convertible_v<int*, Value>));
  EXPECT_FALSE((std::is_convertible_v<char, Value>));
  EXPECT_TRUE((std::is_convertible_v<std::vector<int>, Value>));
}

}  // namespace
}  // namespace clew

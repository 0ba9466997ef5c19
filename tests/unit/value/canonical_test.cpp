#include <clew/canonical.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>

namespace clew {
namespace {

std::string render(const Value& value) { return to_json(canonical(value), {.spaced = true}); }

Value map(std::vector<std::pair<Value, Value>> entries) { return Value::map(entries); }

TEST(Canonical, PlainValuesAreThemselves) {
  EXPECT_EQ(render(nullptr), "null");
  EXPECT_EQ(render(true), "true");
  EXPECT_EQ(render("héllo"), "\"héllo\"");
  EXPECT_EQ(render(list({1, "two", list({nullptr})})), "[1, \"two\", [null]]");
  EXPECT_EQ(render(Value{{"b", 1}, {"a", {{"z", 0}}}}), R"({"b": 1, "a": {"z": 0}})");
  EXPECT_EQ(render(list()), "[]");
  EXPECT_EQ(render(object()), "{}");
}

TEST(Canonical, LargeIntegersAreText) {
  EXPECT_EQ(render(9007199254740991), "9007199254740991");
  EXPECT_EQ(render(-9007199254740991), "-9007199254740991");
  EXPECT_EQ(render(9007199254740992), R"({"$int": "9007199254740992"})");
  EXPECT_EQ(render(std::numeric_limits<std::int64_t>::min()),
            R"({"$int": "-9223372036854775808"})");
  EXPECT_EQ(render(std::numeric_limits<std::uint64_t>::max()),
            R"({"$int": "18446744073709551615"})");
}

TEST(Canonical, FloatsAreTextAsInPython) {
  EXPECT_EQ(render(1.0), R"({"$float": "1.0"})");
  EXPECT_EQ(render(-0.0), R"({"$float": "-0.0"})");
  EXPECT_EQ(render(1e100), R"({"$float": "1e+100"})");
  EXPECT_EQ(render(5e-324), R"({"$float": "5e-324"})");
  EXPECT_EQ(render(0.1), R"({"$float": "0.1"})");
  EXPECT_EQ(render(std::numeric_limits<double>::quiet_NaN()), R"({"$float": "nan"})");
  EXPECT_EQ(render(-std::numeric_limits<double>::infinity()), R"({"$float": "-inf"})");
}

TEST(Canonical, BytesAreHexadecimal) {
  EXPECT_EQ(render(Value::bytes({"\x00\x01\xff", 3})), R"({"$bytes": "0001ff"})");
  EXPECT_EQ(render(make_extension(ExtensionCode::bytearray, Value::bytes("abc"))),
            R"({"$bytearray": "616263"})");
  EXPECT_EQ(render(make_extension(ExtensionCode::pickle, Value::bytes("\x80"))),
            R"({"$pickle": "80"})");
}

TEST(Canonical, MapsAndDollarKeysAreLists) {
  EXPECT_EQ(render(Value{{"a", 1}, {"$ext", 5}}), R"({"$map": [["a", 1], ["$ext", 5]]})");
  EXPECT_EQ(render(map({{1, "a"}, {true, nullptr}, {1.5, "x"}, {list({1, 2}), "y"}})),
            R"({"$map": [[1, "a"], [true, null], [{"$float": "1.5"}, "x"], [[1, 2], "y"]]})");
  EXPECT_EQ(render(map({{"a", 1}, {"a", 2}})), R"({"$map": [["a", 1], ["a", 2]]})");
  EXPECT_EQ(render(map({{"a", 1}, {"b", 2}})), R"({"a": 1, "b": 2})");
}

TEST(Canonical, ExtensionsSayTheirTypeAndPayload) {
  EXPECT_EQ(render(make_extension(ExtensionCode::construct, "decimal", "Decimal", "1.10")),
            R"({"$ext": 0, "module": "decimal", "name": "Decimal", "arg": "1.10"})");
  EXPECT_EQ(render(make_extension(ExtensionCode::construct_args, "datetime", "date",
                                  list({2024, 2, 29}))),
            R"({"$ext": 1, "module": "datetime", "name": "date", "args": [2024, 2, 29]})");
  EXPECT_EQ(render(make_extension(ExtensionCode::construct_kwargs, "m", "Plain", {{"a", 0.5}})),
            R"({"$ext": 2, "module": "m", "name": "Plain", "kwargs": {"a": {"$float": "0.5"}}})");
  EXPECT_EQ(render(make_extension(ExtensionCode::call_method, "datetime", "datetime",
                                  "2024-05-06T07:08:09", "fromisoformat")),
            R"({"$ext": 3, "module": "datetime", "name": "datetime", )"
            R"("arg": "2024-05-06T07:08:09", "method": "fromisoformat"})");
  EXPECT_EQ(render(make_extension(ExtensionCode::pydantic_v1, "m", "Old", object())),
            R"({"$ext": 4, "module": "m", "name": "Old", "kwargs": {}})");
  EXPECT_EQ(render(make_extension(ExtensionCode::pydantic_v2, "m", "New", {{"a", 1}},
                                  "model_validate_json")),
            R"({"$ext": 5, "module": "m", "name": "New", "kwargs": {"a": 1}, )"
            R"("method": "model_validate_json"})");
  EXPECT_EQ(render(make_extension(ExtensionCode::ndarray,
                                  list({"<i2", list({0, 3}), "C", Value::bytes("\x01\x02")}))),
            R"({"$ext": 6, "dtype": "<i2", "shape": [0, 3], "order": "C", "data": "0102"})");
  EXPECT_EQ(render(make_extension(ExtensionCode::delta_snapshot, list({1.0}))),
            R"({"$ext": 7, "value": [{"$float": "1.0"}]})");
}

TEST(Canonical, UnknownExtensionsAreRaw) {
  EXPECT_EQ(render(make_raw_extension(9, {"\x00", 1})), R"({"$ext": 9, "raw": "00"})");
  EXPECT_EQ(render(make_raw_extension(-1, "a")), R"({"$ext": -1, "raw": "61"})");
  EXPECT_EQ(render(make_raw_extension(5, "\x93")), R"({"$ext": 5, "raw": "93"})");
}

TEST(Canonical, RefusesCppObjects) {
  try {
    canonical(list({wrap(5)}));
    FAIL();
  } catch (const SerdeError& error) {
    EXPECT_EQ(std::string(error.what()),
              "a C++ object of type int has no canonical form; convert it to a Value first");
  }
}

TEST(Canonical, BoundsItsDepth) {
  const auto nested = [](int depth) {
    Value value = 1;
    for (int i = 0; i < depth; ++i) value = list({value});
    return value;
  };
  EXPECT_EQ(canonical(nested(1100)), nested(1100));
  EXPECT_THROW(canonical(nested(1101)), SerdeError);
  EXPECT_THROW(canonical(nested(200000)), SerdeError);
}

// Describing a child twice per level would take 2^60 steps here.
TEST(Canonical, DescribesEveryChildOnce) {
  Value objects = 1;
  Value maps = 1;
  for (int i = 0; i < 60; ++i) {
    objects = object({{"a", objects}, {"$b", 1}});
    maps = map({{"a", maps}, {2, 1}});
  }
  EXPECT_EQ(canonical(objects)["$map"][0][1]["$map"][1][0], Value("$b"));
  EXPECT_EQ(canonical(maps)["$map"][0][1]["$map"][1][0], Value(2));
}

}  // namespace
}  // namespace clew

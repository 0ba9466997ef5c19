#include <clew/nlohmann.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <clew/extension.hpp>

namespace clew {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::string error_of(const Value& value) {
  try {
    to_nlohmann(value);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Nlohmann, EveryKindOfJsonGoesBothWays) {
  const std::string text =
      R"({"z":null,"a":[true,false,-1,18446744073709551615,0.5,"t\u00e9"],"empty":[{},[],""]})";
  const ordered_json source = ordered_json::parse(text);
  const Value value = from_nlohmann(source);
  EXPECT_EQ(value, parse_json(text));
  EXPECT_EQ(to_nlohmann(value), source);
  EXPECT_EQ(to_nlohmann(value).dump(), source.dump());
}

TEST(Nlohmann, OrderIsThatOfTheJsonType) {
  const std::string text = R"({"b":1,"a":2})";
  EXPECT_EQ(to_json(Value(ordered_json::parse(text))), text);
  EXPECT_EQ(to_json(Value(json::parse(text))), R"({"a":2,"b":1})");
  EXPECT_EQ(to_nlohmann<ordered_json>(parse_json(text)).dump(), text);
  EXPECT_EQ(to_nlohmann<json>(parse_json(text)).dump(), R"({"a":2,"b":1})");
}

TEST(Nlohmann, ConvertsWhereverAValueIsExpected) {
  json source = {{"name", "Ada"}};
  const Value copied = source;
  const Value braced{source};
  const Value direct(source);
  Value assigned;
  assigned = source;
  const Value temporary = json::array({1, 2});
  const Value expected{{"name", "Ada"}};
  EXPECT_EQ(copied, expected);
  EXPECT_EQ(braced, expected);
  EXPECT_EQ(direct, expected);
  EXPECT_EQ(assigned, expected);
  EXPECT_EQ(temporary, (Value{1, 2}));
  EXPECT_EQ((Value{{"step", 1}, {"input", source}}), (Value{{"step", 1}, {"input", expected}}));
  EXPECT_EQ(Value(std::vector<json>{1, "a"}), (Value{1, "a"}));
}

TEST(Nlohmann, ConvertsWhereverAJsonIsExpected) {
  const Value value{{"list", {1, 2, 3}}, {"text", "a"}};
  const json expected = {{"list", {1, 2, 3}}, {"text", "a"}};
  const json copied = value;
  json assigned;
  assigned = value;
  json entry;
  entry["inner"] = value;
  EXPECT_EQ(copied, expected);
  EXPECT_EQ(assigned, expected);
  EXPECT_EQ(entry, (json{{"inner", expected}}));
  EXPECT_EQ((json{{"inner", value}}), (json{{"inner", expected}}));
  EXPECT_EQ(json(std::vector<Value>{value}), json::array({expected}));
  const ordered_json ordered = value;
  EXPECT_EQ(ordered.dump(), R"({"list":[1,2,3],"text":"a"})");
}

TEST(Nlohmann, IsAFieldTypeLikeAnyOther) {
  const Value value{{"input", {{"a", 1}}}};
  EXPECT_EQ(value.get<json>("input"), (json{{"a", 1}}));
  EXPECT_EQ((value.get<std::map<std::string, ordered_json>>()["input"]), (ordered_json{{"a", 1}}));
}

TEST(Nlohmann, IntegersAreExact) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(Value(json(kMax)), Value(kMax));
  EXPECT_EQ(Value(json(kMin)), Value(kMin));
  EXPECT_TRUE(to_nlohmann(Value(kMax)).is_number_unsigned());
  EXPECT_EQ(to_nlohmann(Value(kMax)).get<std::uint64_t>(), kMax);
  EXPECT_TRUE(to_nlohmann(Value(5)).is_number_integer());
  EXPECT_TRUE(to_nlohmann(Value(5.0)).is_number_float());
}

TEST(Nlohmann, LargerIntegersAreAnErrorWithTheirPath) {
  const Value value = parse_json(R"({"rows": [0, {"id": 18446744073709551616}]})");
  EXPECT_EQ(error_of(value),
            "$.rows[1].id: nlohmann::json cannot hold the integer 18446744073709551616; "
            "store its text instead");
}

TEST(Nlohmann, NumbersThatAreNotFiniteStay) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_nlohmann(Value(kInfinity)).get<double>(), kInfinity);
  EXPECT_TRUE(std::isnan(Value(json(std::nan(""))).as_double()));
}

TEST(Nlohmann, BinaryIsBytes) {
  const json binary = json::binary({0x00, 0xFF, 0x7F});
  const Value value = binary;
  EXPECT_EQ(value, Value::bytes(std::string_view("\x00\xFF\x7F", 3)));
  EXPECT_EQ(to_nlohmann<json>(value), binary);
}

TEST(Nlohmann, ExtensionsAndMapsGiveTheirPlainContent) {
  const Value decimal = make_extension(ExtensionCode::construct, "decimal", "Decimal", "1.10");
  const Value value{{"set", std::set<int>{1, 2}},
                    {"price", decimal},
                    {"map", std::map<int, std::string>{{1, "one"}}}};
  EXPECT_EQ(to_nlohmann(value).dump(), to_json(value));
  EXPECT_EQ(to_nlohmann(value)["set"], (ordered_json::array({1, 2})));
}

TEST(Nlohmann, NestingIsBounded) {
  json deep = 1;
  Value deep_value = 1;
  for (int i = 0; i < 1000; ++i) {
    deep = json::array({std::move(deep)});
    deep_value = list({deep_value});
  }
  EXPECT_EQ(from_nlohmann(deep), deep_value);
  EXPECT_EQ(to_nlohmann<json>(deep_value), deep);
  EXPECT_THROW(from_nlohmann(json::array({deep})), ValueError);
  EXPECT_THROW(to_nlohmann(list({deep_value})), ValueError);
}

TEST(Nlohmann, ADiscardedJsonIsAnError) {
  EXPECT_THROW(from_nlohmann(json::parse("{", nullptr, false)), ValueError);
}

}  // namespace
}  // namespace clew

// The JSON Schema of C++ types.
#include <clew/schema.hpp>

#include <gtest/gtest.h>

#include <clew/json.hpp>

namespace schema_test {

enum class Color { red, green };
CLEW_ENUM(Color, red, green)

struct Part {
  std::string part_name;
  std::vector<Part> parts;
};
CLEW_JSON(Part, part_name, parts)

struct Car {
  std::string name;
  Color color = Color::red;
  std::optional<int> doors;
  Part part;
};
CLEW_JSON(Car, name, color, doors, part)

struct Money {
  std::int64_t cents = 0;
};

}  // namespace schema_test

template <>
struct clew::JsonSchema<schema_test::Money> {
  static Value schema(SchemaDefinitions&) { return {{"type", "string"}, {"format", "money"}}; }
};

namespace clew {
namespace {

template <class T>
std::string text() {
  return to_json(json_schema<T>(), {.sort_keys = true});
}

TEST(JsonSchema, ScalarsHaveATypeAndAValueMayBeAnything) {
  EXPECT_EQ(text<bool>(), R"({"type":"boolean"})");
  EXPECT_EQ(text<std::uint8_t>(), R"({"type":"integer"})");
  EXPECT_EQ(text<double>(), R"({"type":"number"})");
  EXPECT_EQ(text<std::string>(), R"({"type":"string"})");
  EXPECT_EQ(text<std::vector<std::byte>>(), R"({"format":"binary","type":"string"})");
  EXPECT_EQ(text<Value>(), "{}");
}

TEST(JsonSchema, ContainersSayWhatTheyHold) {
  EXPECT_EQ(text<std::vector<std::vector<int>>>(),
            R"({"items":{"items":{"type":"integer"},"type":"array"},"type":"array"})");
  EXPECT_EQ(text<std::set<std::string>>(),
            R"({"items":{"type":"string"},"type":"array","uniqueItems":true})");
  EXPECT_EQ((text<std::map<std::string, int>>()),
            R"({"additionalProperties":{"type":"integer"},"type":"object"})");
  EXPECT_EQ((text<std::map<std::string, Value>>()),
            R"({"additionalProperties":true,"type":"object"})");
  EXPECT_EQ(
      (text<std::pair<int, bool>>()),
      R"({"maxItems":2,"minItems":2,"prefixItems":[{"type":"integer"},{"type":"boolean"}],"type":"array"})");
  EXPECT_EQ(text<std::optional<int>>(), R"({"anyOf":[{"type":"integer"},{"type":"null"}]})");
  EXPECT_EQ((text<std::variant<int, std::string>>()),
            R"({"anyOf":[{"type":"integer"},{"type":"string"}]})");
  EXPECT_EQ(text<std::chrono::system_clock::time_point>(),
            R"({"format":"date-time","type":"string"})");
}

TEST(JsonSchema, StructsAreObjectsWithThoseInsideThemDefinedOnce) {
  const Value schema = json_schema<schema_test::Car>();
  EXPECT_EQ(to_json(schema["properties"]),
            R"({"name":{"type":"string","title":"Name"},)"
            R"("color":{"enum":["red","green"],"type":"string","title":"Color"},)"
            R"("doors":{"anyOf":[{"type":"integer"},{"type":"null"}],"title":"Doors"},)"
            R"("part":{"$ref":"#/$defs/Part"}})");
  EXPECT_EQ(schema["required"], list({"name", "color", "part"}));
  EXPECT_EQ(schema["title"], "Car");
  EXPECT_EQ(schema["type"], "object");
  EXPECT_EQ(to_json(schema["$defs"]),
            R"({"Part":{"properties":{"part_name":{"type":"string","title":"Part Name"},)"
            R"("parts":{"items":{"$ref":"#/$defs/Part"},"type":"array","title":"Parts"}},)"
            R"("required":["part_name","parts"],"title":"Part","type":"object"}})");
}

TEST(JsonSchema, ATypeMaySpeakForItself) {
  EXPECT_EQ(text<std::vector<schema_test::Money>>(),
            R"({"items":{"format":"money","type":"string"},"type":"array"})");
}

TEST(JsonSchema, AMessageIsOneOfItsClasses) {
  const Value schema = json_schema<std::vector<AIMessage>>();
  EXPECT_EQ(schema["items"]["oneOf"][0]["$ref"], "#/$defs/AIMessage");
  const Value& tool = schema["$defs"]["ToolMessage"];
  EXPECT_EQ(tool["required"], list({"content", "tool_call_id"}));
  EXPECT_EQ(tool["properties"]["type"]["const"], "tool");
}

}  // namespace
}  // namespace clew

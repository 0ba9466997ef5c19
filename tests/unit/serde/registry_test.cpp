#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>
#include <clew/json.hpp>
#include <clew/serde.hpp>

namespace geometry {

struct Point {
  double x = 0;
  double y = 0;

  friend bool operator==(const Point&, const Point&) = default;
};
CLEW_JSON(Point, x, y)

struct Route {
  std::string name;
  std::vector<Point> stops;
  std::optional<Point> end;
};
CLEW_JSON(Route, name, stops, end)

// No fields: stored as one number.
struct Angle {
  double degrees = 0;
};

}  // namespace geometry

namespace clew {
namespace {

using geometry::Angle;
using geometry::Point;
using geometry::Route;

std::shared_ptr<TypeRegistry> make_types() {
  auto types = std::make_shared<TypeRegistry>();
  types->add<Point>("geometry.Point");
  types->add<Route>("geometry.shapes.Route");
  types->add<Angle>(
      "geometry.Angle", [](const Angle& angle) { return Value(angle.degrees); },
      [](const Value& degrees) { return Angle{degrees.as_double()}; });
  return types;
}

JsonPlusSerializer make_serializer() {
  JsonPlusOptions options;
  options.types = make_types();
  return JsonPlusSerializer(options);
}

// The stored form of a value, read by a program that does not know its types.
std::string described(const TypedBytes& stored) {
  return to_json(canonical(JsonPlusSerializer().loads_typed(stored)));
}

template <class ExpectedError>
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ExpectedError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TypeRegistry, StoresAnObjectAsItsFields) {
  const JsonPlusSerializer serializer = make_serializer();
  const TypedBytes stored = serializer.dumps_typed(wrap(Point{1, 2.5}));
  EXPECT_EQ(described(stored), R"({"$ext":2,"module":"geometry","name":"Point",)"
                               R"("kwargs":{"x":{"$float":"1.0"},"y":{"$float":"2.5"}}})");
  const Value loaded = serializer.loads_typed(stored);
  ASSERT_NE(unwrap<Point>(loaded), nullptr);
  EXPECT_EQ(*unwrap<Point>(loaded), (Point{1, 2.5}));
}

TEST(TypeRegistry, StoresAnObjectAsASingleValue) {
  const JsonPlusSerializer serializer = make_serializer();
  const TypedBytes stored = serializer.dumps_typed(wrap(Angle{90}));
  EXPECT_EQ(described(stored),
            R"({"$ext":0,"module":"geometry","name":"Angle","arg":{"$float":"90.0"}})");
  EXPECT_EQ(unwrap<Angle>(serializer.loads_typed(stored))->degrees, 90);
}

TEST(TypeRegistry, TheLastDotOfTheTagSeparatesModuleAndName) {
  const TypedBytes stored = make_serializer().dumps_typed(wrap(Route{"r", {{1, 2}}, {}}));
  const Value value = JsonPlusSerializer().loads_typed(stored);
  EXPECT_EQ(value.as_extension().module, "geometry.shapes");
  EXPECT_EQ(value.as_extension().name, "Route");
}

TEST(TypeRegistry, FindsObjectsInsideOtherValues) {
  const JsonPlusSerializer serializer = make_serializer();
  const Value send = make_extension(ExtensionCode::construct_args, "langgraph.types", "Send",
                                    list({"node", object({{"at", wrap(Point{3, 4})}})}));
  const Value snapshot =
      make_extension(ExtensionCode::delta_snapshot, list({wrap(Point{5, 6}), wrap(Angle{7})}));
  const Value map = Value::map(std::vector<std::pair<Value, Value>>{{1, wrap(Point{8, 9})}});
  const TypedBytes stored = serializer.dumps_typed(list({wrap(Point{1, 2}), send, snapshot, map}));

  const Value loaded = serializer.loads_typed(stored);
  EXPECT_EQ(*unwrap<Point>(loaded[0]), (Point{1, 2}));
  const Extension loaded_send = loaded[1].as_extension();
  EXPECT_EQ(*unwrap<Point>(loaded_send.payload.at(1, "at")), (Point{3, 4}));
  const Extension loaded_snapshot = loaded[2].as_extension();
  EXPECT_EQ(*unwrap<Point>(loaded_snapshot.payload[0]), (Point{5, 6}));
  EXPECT_EQ(unwrap<Angle>(loaded_snapshot.payload[1])->degrees, 7);
  EXPECT_EQ(*unwrap<Point>(loaded[3].as_map()[0].second), (Point{8, 9}));
  EXPECT_EQ(serializer.dumps_typed(loaded), stored);
}

TEST(TypeRegistry, NestedStructsAreFieldsOfTheirObject) {
  const JsonPlusSerializer serializer = make_serializer();
  const Value loaded = serializer.loads_typed(
      serializer.dumps_typed(wrap(Route{"home", {{1, 2}, {3, 4}}, Point{5, 6}})));
  const Route* route = unwrap<Route>(loaded);
  ASSERT_NE(route, nullptr);
  EXPECT_EQ(route->stops, (std::vector<Point>{{1, 2}, {3, 4}}));
  EXPECT_EQ(route->end, (Point{5, 6}));
}

TEST(TypeRegistry, OtherClassesStayInert) {
  const JsonPlusSerializer serializer = make_serializer();
  const Value foreign =
      make_extension(ExtensionCode::construct_kwargs, "geometry", "Circle", object({{"r", 1}}));
  EXPECT_EQ(serializer.loads_typed(serializer.dumps_typed(foreign)), foreign);
  const Value raw = make_raw_extension(50, "x");
  EXPECT_EQ(serializer.loads_typed(serializer.dumps_typed(raw)), raw);
}

struct Unregistered {};

TEST(TypeRegistry, AnUnregisteredTypeIsNamedWithTheWayOut) {
  const Value value = object({{"a", list({wrap(Unregistered{})})}});
  const std::string with_registry =
      error_of<SerdeError>([&] { make_serializer().dumps_typed(value); });
  EXPECT_NE(with_registry.find("$.a[0]"), std::string::npos) << with_registry;
  EXPECT_NE(with_registry.find("Unregistered is not registered; call TypeRegistry::add<"),
            std::string::npos)
      << with_registry;

  const std::string without =
      error_of<SerdeError>([&] { JsonPlusSerializer().dumps_typed(value); });
  EXPECT_NE(without.find("Unregistered"), std::string::npos) << without;
  EXPECT_NE(without.find("TypeRegistry"), std::string::npos) << without;
}

TEST(TypeRegistry, TypesAndTagsAreRegisteredOnce) {
  TypeRegistry types;
  types.add<Point>("geometry.Point");
  EXPECT_NE(error_of<Error>([&] { types.add<Point>("geometry.Other"); }).find("registered already"),
            std::string::npos);
  EXPECT_NE(error_of<Error>([&] { types.add<Route>("geometry.Point"); }).find("registered already"),
            std::string::npos);
  // What was refused left nothing behind.
  EXPECT_EQ(error_of<Error>([&] { types.add<Route>("geometry.Other"); }), "no error");
}

TEST(TypeRegistry, TheTagIsAClassPath) {
  TypeRegistry types;
  for (const char* tag : {"", "Point", ".Point", "geometry.", "."}) {
    EXPECT_NE(error_of<Error>([&] { types.add<Point>(tag); }).find("must be 'module.Name'"),
              std::string::npos)
        << tag;
  }
}

TEST(TypeRegistry, StoredFieldsThatDoNotFitAreRefused) {
  const JsonPlusSerializer serializer = make_serializer();
  const auto stored = [](ExtensionCode code, std::string_view name, Value payload) {
    return JsonPlusSerializer().dumps_typed(
        list({make_extension(code, "geometry", name, std::move(payload))}));
  };
  const auto refusal = [&](const TypedBytes& bytes) {
    return error_of<SerdeError>([&] { serializer.loads_typed(bytes); });
  };
  const std::string wrong_type =
      refusal(stored(ExtensionCode::construct_kwargs, "Point", object({{"x", "far"}, {"y", 1.0}})));
  EXPECT_NE(wrong_type.find("geometry.Point"), std::string::npos) << wrong_type;
  EXPECT_NE(wrong_type.find("$.x"), std::string::npos) << wrong_type;

  const std::string missing =
      refusal(stored(ExtensionCode::construct_kwargs, "Point", object({{"x", 1.0}})));
  EXPECT_NE(missing.find("$.y"), std::string::npos) << missing;
  EXPECT_NE(refusal(stored(ExtensionCode::construct, "Point", 5)), "no error");
  EXPECT_NE(refusal(stored(ExtensionCode::construct, "Angle", "right")), "no error");
}

// The mistake must not turn the surrounding object into something opaque.
TEST(TypeRegistry, StoredFieldsThatDoNotFitAreRefusedAlsoInsideAnotherObject) {
  const Value point =
      make_extension(ExtensionCode::construct_kwargs, "geometry", "Point", object());
  for (const Value& outer : {make_extension(ExtensionCode::delta_snapshot, list({point})),
                             make_extension(ExtensionCode::construct_args, "langgraph.types",
                                            "Send", list({"n", point}))}) {
    const TypedBytes stored = JsonPlusSerializer().dumps_typed(outer);
    EXPECT_THROW(make_serializer().loads_typed(stored), SerdeError);
  }
}

TEST(TypeRegistry, ADecoderThatRefusesWithAnyErrorIsASerdeError) {
  struct Picky {};
  const auto decoder_throwing = [](auto error) {
    auto types = std::make_shared<TypeRegistry>();
    types->add<Picky>(
        "app.Picky", [](const Picky&) { return Value("p"); },
        [error](const Value&) -> Picky { throw error; });
    JsonPlusOptions options;
    options.types = types;
    return JsonPlusSerializer(options);
  };
  const TypedBytes stored = JsonPlusSerializer().dumps_typed(
      make_extension(ExtensionCode::delta_snapshot,
                     make_extension(ExtensionCode::construct, "app", "Picky", "p")));
  EXPECT_THROW(decoder_throwing(SerdeError("no")).loads_typed(stored), SerdeError);
  EXPECT_THROW(decoder_throwing(ValueError("no")).loads_typed(stored), SerdeError);
  EXPECT_THROW(decoder_throwing(Error("no")).loads_typed(stored), SerdeError);
}

TEST(TypeRegistry, ConvertsWithoutASerializer) {
  const std::shared_ptr<TypeRegistry> types = make_types();
  const Value stored = types->to_extension(wrap(Angle{45}));
  EXPECT_TRUE(is_instance(stored, "geometry", "Angle"));
  EXPECT_EQ(unwrap<Angle>(types->from_extension(stored))->degrees, 45);
  EXPECT_THROW(types->to_extension(1), ValueError);
  EXPECT_THROW(types->to_extension(wrap(Unregistered{})), ValueError);
}

TEST(TypeRegistry, ServesManyThreads) {
  const JsonPlusSerializer serializer = make_serializer();
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Point point{static_cast<double>(t), static_cast<double>(i)};
        const Value loaded = serializer.loads_typed(serializer.dumps_typed(list({wrap(point)})));
        right[t] += *unwrap<Point>(loaded[0]) == point ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(4, 200));
}

}  // namespace
}  // namespace clew

#include <clew/value.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include <clew/extension.hpp>

namespace clew {
namespace {

Value numbers(std::size_t count) {
  ListBuilder builder;
  for (std::size_t i = 0; i < count; ++i) builder.push_back(i);
  return std::move(builder).build();
}

std::string key(std::size_t i) { return "key number " + std::to_string(i); }

Value numbered_object(std::size_t count) {
  ObjectBuilder builder;
  for (std::size_t i = 0; i < count; ++i) builder.set(key(i), i);
  return std::move(builder).build();
}

std::vector<std::int64_t> elements(const Value& list) {
  std::vector<std::int64_t> result;
  for (const Value& element : list) result.push_back(element.as_int());
  return result;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no error";
}

// Sizes around every boundary of the tree: leaf, first branch, second branch.
const std::size_t kSizes[] = {0,    1,    2,    31,   32,   33,    63,    64,   65,
                              1023, 1024, 1025, 1056, 1057, 32768, 32800, 33825};

TEST(Value, KnowsItsKind) {
  EXPECT_EQ(Value().type_name(), "null");
  EXPECT_EQ(Value(nullptr).type_name(), "null");
  EXPECT_EQ(Value(true).type_name(), "bool");
  EXPECT_EQ(Value(7).type_name(), "int");
  EXPECT_EQ(Value(1.5).type_name(), "float");
  EXPECT_EQ(Value("text").type_name(), "string");
  EXPECT_EQ(Value::bytes("\x01").type_name(), "bytes");
  EXPECT_EQ(list().type_name(), "list");
  EXPECT_EQ(object().type_name(), "object");
  EXPECT_EQ(make_extension(ExtensionCode::construct, "decimal", "Decimal", "1").type_name(),
            "decimal.Decimal");
}

TEST(Value, KeepsTextOfEveryLength) {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string text(length, 'x');
    EXPECT_EQ(Value(text).as_string(), text);
    EXPECT_EQ(Value::bytes(text).as_bytes(), text);
    EXPECT_EQ(Value(text), Value(text));
  }
  EXPECT_EQ(Value(std::string_view("a\0b", 3)).as_string().size(), 3U);
}

TEST(Value, KeepsIntegersExactly) {
  EXPECT_EQ(Value(std::numeric_limits<std::int64_t>::min()).as_int(),
            std::numeric_limits<std::int64_t>::min());
  const Value large(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(large.kind(), Kind::big_integer);
  EXPECT_EQ(large.integer_text(), "18446744073709551615");
  EXPECT_EQ(large.as_uint(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(error_of([&] { large.as_int(); }),
            "expected an integer of 64 bits, found 18446744073709551615");
  EXPECT_EQ(Value::integer("-9223372036854775808").kind(), Kind::integer);
  EXPECT_EQ(Value::integer("-9223372036854775809").kind(), Kind::big_integer);
  EXPECT_EQ(error_of([] { Value::integer("12x"); }), "expected a decimal integer, found '12x'");
  EXPECT_EQ(error_of([] { Value::integer("007"); }), "expected a decimal integer, found '007'");
  EXPECT_EQ(error_of([] { Value(-1).as_uint(); }),
            "expected an unsigned integer of 64 bits, found -1");
}

TEST(Value, ReadsWhatMayBeAbsent) {
  const Value v{{"a", {{"b", {10, 20}}}}};
  EXPECT_EQ(v["a"]["b"][1], 20);
  EXPECT_TRUE(v["a"]["b"][2].is_null());
  EXPECT_TRUE(v["a"]["b"][-1].is_null());
  EXPECT_TRUE(v["x"]["b"][1].is_null());
  EXPECT_TRUE(Value(5)["x"].is_null());
  EXPECT_EQ(v.find("x"), nullptr);
  EXPECT_TRUE(v.contains("a"));
}

TEST(Value, NamesThePathThatFailed) {
  const Value v{{"messages", {{{"id", 7}, {"odd key", nullptr}}}}};
  EXPECT_EQ(error_of([&] { v.at("messages", 3); }), "$.messages[3]: the list has 1 elements");
  EXPECT_EQ(error_of([&] { v.at("messages", -1); }).substr(0, 12), "$.messages[1");
  EXPECT_EQ(error_of([&] { v.at("messages", 0, "name"); }), "$.messages[0].name: missing");
  EXPECT_EQ(error_of([&] { v.at("messages", "id"); }), "$.messages: expected object, found list");
  EXPECT_EQ(error_of([&] { v.at("messages", 0, "odd key", "x"); }),
            "$.messages[0][\"odd key\"]: expected object, found null");
  EXPECT_EQ(v.at("messages", 0, "id"), 7);
}

TEST(Value, RefusesAnotherKind) {
  EXPECT_EQ(error_of([] { Value(1).as_string(); }), "expected string, found int");
  EXPECT_EQ(error_of([] { Value("1").as_int(); }), "expected int, found string");
  EXPECT_EQ(error_of([] { Value("1").as_double(); }), "expected float, found string");
  EXPECT_EQ(error_of([] { Value(1).size(); }), "expected list or object, found int");
  EXPECT_EQ(error_of([] { Value(1).append(2); }), "expected list, found int");
  EXPECT_EQ(error_of([] { list().set("a", 1); }), "expected object, found list");
  EXPECT_EQ(error_of([] { list({1}).set(1, 1); }), "index 1 is past the end of a list of 1");
  EXPECT_EQ(error_of([] { object().slice(0, 1); }), "expected list, found object");
  EXPECT_EQ(Value(3).as_double(), 3.0);
}

TEST(ValueList, BuildsReadsAndIteratesAtEverySize) {
  for (std::size_t size : kSizes) {
    const Value v = numbers(size);
    ASSERT_EQ(v.size(), size);
    std::size_t expected = 0;
    for (const Value& element : v) ASSERT_EQ(element.as_int(), static_cast<int>(expected++));
    ASSERT_EQ(expected, size);
    for (std::size_t i = 0; i < size; i += 17) ASSERT_EQ(v[i].as_int(), static_cast<int>(i));
  }
}

TEST(ValueList, AppendLeavesOlderVersionsAlone) {
  std::vector<Value> versions{list()};
  for (int i = 0; i < 1100; ++i) versions.push_back(versions.back().append(i));
  for (std::size_t i = 0; i < versions.size(); ++i) {
    ASSERT_EQ(versions[i].size(), i);
    ASSERT_TRUE(i == 0 || versions[i][i - 1] == i - 1);
  }
  EXPECT_EQ(versions[1100], numbers(1100));
}

TEST(ValueList, AppendToATemporaryStillLeavesCopiesAlone) {
  Value growing = list({0});
  const Value before = growing;
  growing = std::move(growing).append(1);
  const Value between = growing;
  for (int i = 2; i < 100; ++i) growing = std::move(growing).append(i);
  EXPECT_EQ(before, list({0}));
  EXPECT_EQ(between, list({0, 1}));
  EXPECT_EQ(growing, numbers(100));
}

TEST(ValueList, TwoVersionsGrowApart) {
  const Value base = numbers(40);
  const Value left = base.append("left");
  const Value right = base.append("right");
  EXPECT_EQ(left[40], "left");
  EXPECT_EQ(right[40], "right");
  EXPECT_EQ(base.size(), 40U);
}

TEST(ValueList, ConcatSliceSetAndEraseAgreeWithAVector) {
  for (std::size_t size : {0UL, 5UL, 32UL, 33UL, 100UL, 1100UL}) {
    const Value base = numbers(size);
    std::vector<std::int64_t> model = elements(base);
    for (std::size_t other : {0UL, 1UL, 31UL, 64UL, 1000UL}) {
      const Value joined = base.concat(numbers(other));
      std::vector<std::int64_t> expected = model;
      for (std::size_t i = 0; i < other; ++i) expected.push_back(static_cast<std::int64_t>(i));
      ASSERT_EQ(elements(joined), expected);
    }
    for (std::size_t i = 0; i < size; i += 13) {
      std::vector<std::int64_t> expected = model;
      expected[i] = -1;
      ASSERT_EQ(elements(base.set(i, -1)), expected);
      expected = model;
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_EQ(elements(base.erase(i)), expected);
      const auto begin = model.begin() + static_cast<std::ptrdiff_t>(i);
      ASSERT_EQ(elements(base.slice(i, size)), std::vector<std::int64_t>(begin, model.end()));
      ASSERT_EQ(elements(base.slice(0, i)), std::vector<std::int64_t>(model.begin(), begin));
    }
    ASSERT_EQ(elements(base), model);
  }
  EXPECT_EQ(numbers(3).slice(2, 1), list());
  EXPECT_EQ(numbers(3).slice(5, 9), list());
}

TEST(ValueList, NullCountsAsEmpty) {
  EXPECT_EQ(Value().append(1), list({1}));
  EXPECT_EQ(Value().concat(list({1})), list({1}));
  EXPECT_EQ(Value().concat(nullptr), list());
  EXPECT_EQ(Value().set("a", 1), Value({{"a", 1}}));
  EXPECT_EQ(Value().merge(object()), object());
}

TEST(ValueObject, KeepsInsertionOrderAndFindsEveryKey) {
  for (std::size_t size : {0UL, 1UL, 8UL, 9UL, 32UL, 33UL, 64UL, 1000UL, 5000UL}) {
    const Value v = numbered_object(size);
    ASSERT_EQ(v.size(), size);
    std::size_t i = 0;
    for (auto [entry_key, value] : v.items()) {
      ASSERT_EQ(entry_key, key(i));
      ASSERT_EQ(value.as_int(), static_cast<int>(i));
      ++i;
    }
    for (i = 0; i < size; ++i) ASSERT_EQ(v[key(i)].as_int(), static_cast<int>(i));
    ASSERT_FALSE(v.contains("absent"));
    ASSERT_FALSE(v.contains(""));
  }
}

TEST(ValueObject, SetReplacesInPlaceAndLeavesOlderVersionsAlone) {
  std::vector<Value> versions{object()};
  for (std::size_t i = 0; i < 300; ++i) versions.push_back(versions.back().set(key(i), i));
  for (std::size_t i = 0; i < versions.size(); ++i) ASSERT_EQ(versions[i], numbered_object(i));
  for (std::size_t size : {4UL, 20UL, 100UL}) {
    const Value before = numbered_object(size);
    const Value after = before.set(key(2), "new");
    EXPECT_EQ(before[key(2)], 2);
    EXPECT_EQ(after[key(2)], "new");
    EXPECT_EQ(after.items()[2].key, key(2));
    EXPECT_EQ(after.size(), size);
  }
}

TEST(ValueObject, SetOnATemporaryStillLeavesCopiesAlone) {
  for (std::size_t size : {4UL, 40UL, 1100UL}) {
    Value growing = numbered_object(size);
    const Value before = growing;
    for (std::size_t i : {0UL, 3UL, size / 2, size - 1}) {
      growing = std::move(growing).set(key(i), "first");
    }
    const Value between = growing;
    for (std::size_t i : {0UL, size - 1}) growing = std::move(growing).set(key(i), "second");
    EXPECT_EQ(before, numbered_object(size));
    EXPECT_EQ(between[key(0)], "first");
    EXPECT_EQ(between[key(size - 1)], "first");
    EXPECT_EQ(growing[key(0)], "second");
    EXPECT_EQ(growing[key(3)], size == 4 ? "second" : "first");
    EXPECT_EQ(growing[key(size - 1)], "second");
    EXPECT_EQ(growing[key(1)], 1);
  }
}

TEST(ValueObject, RepeatedKeysKeepTheFirstPlaceAndTheLastValue) {
  for (std::size_t size : {5UL, 20UL, 32UL, 33UL, 200UL}) {
    ObjectBuilder builder;
    for (std::size_t i = 0; i < size; ++i) builder.set(key(i), "old");
    for (std::size_t i = 0; i < size; ++i) builder.set(key(i), i);
    const Value v = std::move(builder).build();
    ASSERT_EQ(v, numbered_object(size));
    ASSERT_EQ(v.items()[1].key, key(1));
  }
  const Value v = object({{"a", 1}, {"b", 2}, {"a", 3}, {"c", 4}, {"b", 5}});
  std::ostringstream text;
  text << v;
  EXPECT_EQ(text.str(), R"({"a":3,"b":5,"c":4})");
}

TEST(ValueObject, EraseAndMerge) {
  for (std::size_t size : {3UL, 33UL, 100UL}) {
    const Value v = numbered_object(size);
    const Value erased = v.erase(key(1));
    EXPECT_EQ(erased.size(), size - 1);
    EXPECT_FALSE(erased.contains(key(1)));
    EXPECT_EQ(erased.set(key(1), 1), v);
    EXPECT_TRUE(same(v.erase("absent"), v));
    const Value merged = v.merge(Value{{key(0), "replaced"}, {"added", true}});
    EXPECT_EQ(merged.size(), size + 1);
    EXPECT_EQ(merged[key(0)], "replaced");
    EXPECT_EQ(merged.items()[size].key, "added");
  }
}

TEST(ValueEquality, IgnoresTheOrderOfKeysAndNothingElse) {
  EXPECT_EQ(Value({{"a", 1}, {"b", 2}}), Value({{"b", 2}, {"a", 1}}));
  EXPECT_NE(Value({{"a", 1}}), Value({{"a", 2}}));
  EXPECT_NE(list({1, 2}), list({2, 1}));
  EXPECT_NE(Value(1), Value(1.0));
  EXPECT_NE(Value("a"), Value::bytes("a"));
  EXPECT_NE(list(), object());
  EXPECT_EQ(Value(0.0), Value(-0.0));
  EXPECT_EQ(Value(std::nan("")), Value(std::nan("")));
  EXPECT_EQ(Value(0.0).hash(), Value(-0.0).hash());
  EXPECT_EQ(Value({{"a", 1}, {"b", 2}}).hash(), Value({{"b", 2}, {"a", 1}}).hash());
  EXPECT_NE(make_extension(ExtensionCode::construct, "m", "A", 1),
            make_extension(ExtensionCode::construct, "m", "B", 1));
}

TEST(ValueOrder, IsTotalAndConsistent) {
  const std::vector<Value> sorted{
      nullptr,
      false,
      true,
      -5,
      7,
      Value::integer("-99999999999999999999"),
      Value::integer("-18446744073709551616"),
      Value::integer("18446744073709551616"),
      Value::integer("99999999999999999999"),
      -1.5,
      2.0,
      std::numeric_limits<double>::infinity(),
      std::nan(""),
      "",
      "a",
      "a string that is not inline",
      "b",
      Value::bytes("a"),
      list(),
      list({1}),
      list({1, 2}),
      list({2}),
      object(),
      Value({{"a", 1}}),
      Value({{"a", 2}}),
      Value({{"b", 1}}),
      make_extension(ExtensionCode::construct, "m", "A", 1),
      make_extension(ExtensionCode::construct, "m", "B", 0),
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(sorted[i] <=> sorted[j], i <=> j) << i << " " << j;
      EXPECT_EQ(sorted[i] == sorted[j], i == j);
    }
  }
}

TEST(ValueDepth, DroppingComparingAndHashingDeepValuesNeedsNoStack) {
  const auto nested = [](int depth) {
    Value v = 1;
    for (int i = 0; i < depth; ++i) {
      v = i % 3 == 0 ? list({v})
                     : (i % 3 == 1 ? object({{"next", v}})
                                   : make_extension(ExtensionCode::delta_snapshot, v));
    }
    return v;
  };
  const Value a = nested(1'000'000);
  const Value b = nested(1'000'000);
  EXPECT_TRUE(a == b);
  EXPECT_TRUE((a <=> b) == 0);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_FALSE(a == nested(999'999));
}

TEST(ValueDifference, FindsWhatAListVersionChanged) {
  const Value older = numbers(5000);
  const Value appended = older.append("x").append("y");
  EXPECT_EQ(difference(older, appended).kept, 5000U);
  EXPECT_TRUE(difference(older, appended).changed.empty());

  const Value edited = appended.set(4999, "e").set(37, "e");
  EXPECT_EQ(difference(older, edited).kept, 37U);
  EXPECT_EQ(difference(older, edited).changed, (std::vector<std::size_t>{37, 4999}));
  EXPECT_EQ(difference(edited, older).changed, (std::vector<std::size_t>{37, 4999}));

  const Value shorter = older.slice(0, 4000);
  EXPECT_EQ(difference(older, shorter).kept, 4000U);
  EXPECT_EQ(difference(list(), older).kept, 0U);
  EXPECT_EQ(difference(numbers(10), list({0, 1, 5})).kept, 2U);
}

TEST(ValueDifference, FindsWhatAnObjectVersionChanged) {
  for (std::size_t size : {5UL, 500UL}) {
    const Value older = numbered_object(size);
    const Value newer = older.set(key(3), "e").set("added", 1);
    EXPECT_EQ(difference(older, newer).changed, (std::vector<std::size_t>{3, size}));
    EXPECT_TRUE(difference(older, newer).erased.empty());
    const Value erased = newer.erase(key(1));
    EXPECT_EQ(difference(older, erased).erased, std::vector<std::string>{key(1)});
    EXPECT_EQ(difference(older, erased).changed, (std::vector<std::size_t>{2, size - 1}));
  }
  EXPECT_EQ(error_of([] { difference(1, 2); }),
            "difference() compares two lists or two objects, found int and int");
}

TEST(ValueSame, SeesSharingNotEquality) {
  const Value v = numbers(100);
  const Value copy = v;
  EXPECT_TRUE(same(v, copy));
  EXPECT_FALSE(same(v, numbers(100)));
  EXPECT_TRUE(same(Value("a long text that needs memory"), Value("a long text that needs memory")));
  EXPECT_TRUE(same(1, 1));
  EXPECT_FALSE(same(1, 1.0));
}

TEST(ValueMap, KeepsKeysOfEveryKind) {
  const std::vector<std::pair<Value, Value>> entries{{1, "a"}, {nullptr, 2}, {list({1, 2}), "x"}};
  const Value v = Value::map(entries);
  EXPECT_EQ(v.kind(), Kind::map);
  EXPECT_EQ(v.size(), 3U);
  EXPECT_EQ(v.as_map(), entries);
  EXPECT_EQ(Value({{"a", 1}}).as_map().front().first, "a");
}

TEST(ValueThreads, MayReadCopyAndDropConcurrently) {
  const Value shared = numbered_object(100).set("list", numbers(2000));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([shared, t] {
      Value mine = shared;
      for (int i = 0; i < 500; ++i) {
        mine =
            mine.set(key(static_cast<std::size_t>(i % 100)), t).set("list", mine["list"].append(i));
      }
      EXPECT_EQ(mine["list"].size(), 2500U);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared["list"].size(), 2000U);
}

TEST(ValueRandom, ObjectsAgreeWithAModel) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Value v = object();
    std::vector<std::pair<std::string, int>> model;
    for (int step = 0; step < 400; ++step) {
      const std::string k = key(random() % 120);
      const auto found = std::find_if(model.begin(), model.end(),
                                      [&](const auto& entry) { return entry.first == k; });
      if (random() % 4 == 0) {
        v = v.erase(k);
        if (found != model.end()) model.erase(found);
      } else {
        v = v.set(k, step);
        if (found != model.end()) {
          found->second = step;
        } else {
          model.emplace_back(k, step);
        }
      }
    }
    ASSERT_EQ(v.size(), model.size());
    std::size_t i = 0;
    for (auto [entry_key, value] : v.items()) {
      ASSERT_EQ(entry_key, model[i].first);
      ASSERT_EQ(value.as_int(), model[i].second);
      ++i;
    }
  }
}

struct Sensor {
  int reading;
};

TEST(ValueWrap, HoldsACppObject) {
  const Value v = wrap(Sensor{42});
  ASSERT_NE(unwrap<Sensor>(v), nullptr);
  EXPECT_EQ(unwrap<Sensor>(v)->reading, 42);
  EXPECT_EQ(unwrap<int>(v), nullptr);
  EXPECT_EQ(unwrap<Sensor>(Value(1)), nullptr);
  EXPECT_EQ(v, Value(v));
  EXPECT_NE(v, wrap(Sensor{42}));
  EXPECT_NE(v.type_name().find("Sensor"), std::string::npos);
}

TEST(ValueWrap, DropsTheObjectWithTheLastCopy) {
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = object;
  {
    const Value v = list({wrap(std::move(object))});
    const Value copy = v;
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace clew

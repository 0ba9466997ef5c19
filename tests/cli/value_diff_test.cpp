#include "cli/value_diff.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include <clew/json.hpp>

namespace clew::cli {
namespace {

std::string drawn(const Value& before, const Value& after) {
  std::string text;
  for (const ValueChange& change : value_diff(before, after)) {
    text += path_text(change.path);
    if (change.before) text += " -" + to_json(*change.before);
    if (change.after) text += " +" + to_json(*change.after);
    text += "\n";
  }
  return text;
}

TEST(ValueDiff, EqualValuesHaveNone) {
  EXPECT_EQ(drawn({{"a", {1, 2}}}, {{"a", {1, 2}}}), "");
  EXPECT_EQ(drawn(1, 1), "");
}

TEST(ValueDiff, ObjectsAreComparedKeyByKey) {
  EXPECT_EQ(drawn({{"gone", 1}, {"same", 2}, {"files", {{"a.txt", "x"}, {"b.txt", "y"}}}},
                  {{"same", 2}, {"files", {{"a.txt", "z"}, {"b.txt", "y"}}}, {"new", true}}),
            "gone -1\n"
            "files.a.txt -\"x\" +\"z\"\n"
            "new +true\n");
}

TEST(ValueDiff, ListsAreComparedElementByElement) {
  EXPECT_EQ(drawn(list({1, 2, 3, 4}), list({1, 3, 4, 5})),
            "[1] -2\n"
            "[3] +5\n");
  EXPECT_EQ(drawn(list({1, 2, 3}), list({1, 9, 3})), "[1] -2 +9\n");
  EXPECT_EQ(drawn(list({object({{"a", 1}, {"b", 2}})}), list({object({{"a", 1}, {"b", 3}})})),
            "[0].b -2 +3\n");
  EXPECT_EQ(drawn(list(), list({"x"})), "[0] +\"x\"\n");
}

Value said(const char* id, const char* text) {
  return object({{"role", "user"}, {"content", text}, {"id", id}});
}

TEST(ValueDiff, MessagesAreComparedById) {
  EXPECT_EQ(drawn(list({said("1", "hi"), said("2", "cats"), said("3", "bye")}),
                  list({said("2", "dogs"), said("3", "bye"), said("4", "again")})),
            "[0] -{\"role\":\"user\",\"content\":\"hi\",\"id\":\"1\"}\n"
            "[0] -{\"role\":\"user\",\"content\":\"cats\",\"id\":\"2\"}"
            " +{\"role\":\"user\",\"content\":\"dogs\",\"id\":\"2\"}\n"
            "[2] +{\"role\":\"user\",\"content\":\"again\",\"id\":\"4\"}\n");
}

TEST(ValueDiff, AnotherKindIsAChange) {
  EXPECT_EQ(drawn({{"a", 1}}, {{"a", "1"}}), "a -1 +\"1\"\n");
}

// What stays, what goes and what comes make the newer list of the older one.
Value patched(const Value& before, const Value& after) {
  std::vector<std::optional<Value>> kept;
  for (const Value& element : before) kept.emplace_back(element);
  std::map<std::int64_t, Value> placed;
  for (const ValueChange& change : value_diff(before, after)) {
    if (change.before && !change.after)
      kept[static_cast<std::size_t>(change.path[0].as_int())].reset();
    if (change.after) placed[change.path[0].as_int()] = *change.after;
    if (change.before && change.after) {
      // Which of the older ones it was is not told; any equal one stands for it.
      for (auto& element : kept) {
        if (element && *element == *change.before) {
          element.reset();
          break;
        }
      }
    }
  }
  ListBuilder result;
  auto next = kept.begin();
  for (std::int64_t place = 0; place < static_cast<std::int64_t>(after.size()); ++place) {
    if (const auto found = placed.find(place); found != placed.end()) {
      result.push_back(found->second);
      continue;
    }
    while (next != kept.end() && !*next) ++next;
    if (next == kept.end()) break;
    result.push_back(**next++);
  }
  return std::move(result).build();
}

TEST(ValueDiff, RandomListsAreRebuiltFromTheirDifferences) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    // Each element once, so that it can be told which one is meant.
    std::vector<int> numbers(12);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), random);
    std::vector<int> others = numbers;
    if (round % 2 == 0) std::shuffle(others.begin(), others.end(), random);
    others.resize(random() % 12);
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(random() % (others.size() + 1)), 99);
    const Value before = numbers;
    const Value after = others;
    ASSERT_EQ(patched(before, after), after) << before << " " << after << "\n"
                                             << drawn(before, after);
  }
}

TEST(ValueDiff, LongListsThatWereAppendedToAreQuick) {
  ListBuilder builder;
  for (int i = 0; i < 200'000; ++i) builder.push_back(i);
  const Value before = std::move(builder).build();
  EXPECT_EQ(drawn(before, before.append("x")), "[200000] +\"x\"\n");
}

TEST(ValueDiff, ListsThatHaveNothingInCommonAreStillCompared) {
  ListBuilder older;
  ListBuilder newer;
  for (int i = 0; i < 3000; ++i) {
    older.push_back(i);
    newer.push_back(-1 - i);
  }
  EXPECT_EQ(value_diff(std::move(older).build(), std::move(newer).build()).size(), 3000U);
}

}  // namespace
}  // namespace clew::cli

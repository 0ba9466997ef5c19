#include <clew/store_namespace.hpp>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

namespace clew {
namespace {

std::string render(const StoreNamespace& ns) { return to_json(Value(ns)); }

TEST(StoreNamespace, HasItsLabelsInOrder) {
  const std::string user = "ada";
  const StoreNamespace ns{user, "memories", ""};
  EXPECT_EQ(render(ns), R"(["ada","memories",""])");
  EXPECT_EQ(ns.size(), 3U);
  EXPECT_EQ(ns.front(), "ada");
  EXPECT_EQ(ns[1], "memories");
  EXPECT_EQ(ns[2], "");
  EXPECT_EQ(std::ranges::count(ns, "ada"), 1);
  EXPECT_EQ(ns, StoreNamespace(std::vector<std::string>{"ada", "memories", ""}));
}

TEST(StoreNamespace, NothingIsNotAnEmptyLabel) {
  EXPECT_TRUE(StoreNamespace().empty());
  EXPECT_EQ(StoreNamespace().size(), 0U);
  EXPECT_EQ(render({}), "[]");
  EXPECT_FALSE(StoreNamespace{""}.empty());
  EXPECT_EQ(StoreNamespace{""}.size(), 1U);
  EXPECT_NE(StoreNamespace{""}, StoreNamespace());
}

TEST(StoreNamespace, ComparesLabelByLabel) {
  const std::vector<std::vector<std::string>> sorted = {
      {},         {""},      {"a"},  {"a", ""}, {"a", "b"}, {"a", "b", "c"},
      {"a", "c"}, {"a\x01"}, {"ab"}, {"b"}};
  for (const auto& a : sorted) {
    for (const auto& b : sorted) {
      EXPECT_EQ(StoreNamespace(a) <=> StoreNamespace(b), a <=> b) << render(a) << render(b);
      EXPECT_EQ(StoreNamespace(a) == StoreNamespace(b), a == b) << render(a) << render(b);
    }
  }
}

TEST(StoreNamespace, BeginsWithWholeLabels) {
  const StoreNamespace ns{"users", "ada", "memories"};
  EXPECT_TRUE(ns.starts_with({}));
  EXPECT_TRUE(ns.starts_with({"users", "ada"}));
  EXPECT_TRUE(ns.starts_with(ns));
  EXPECT_FALSE(ns.starts_with({"users", "a"}));
  EXPECT_FALSE((StoreNamespace{"users"}.starts_with(ns)));
  EXPECT_EQ(ns.first(2), (StoreNamespace{"users", "ada"}));
  EXPECT_EQ(ns.first(0), StoreNamespace());
  EXPECT_EQ(ns.first(9), ns);
  EXPECT_EQ(ns.first(std::numeric_limits<std::size_t>::max()), ns);
}

TEST(StoreNamespace, TakesAnyNumberOfLabelsOfAnyLength) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < 300; ++i) labels.emplace_back(i, 'x');
  const StoreNamespace ns = labels;
  EXPECT_TRUE(std::ranges::equal(ns, labels));
  EXPECT_EQ(Value(ns).get<StoreNamespace>(), ns);
  EXPECT_EQ(std::unordered_set<StoreNamespace>({ns, ns.first(3), ns}).size(), 2U);
}

TEST(StoreNamespace, RefusesNul) {
  const std::string with_nul("a\0b", 3);
  EXPECT_THROW((StoreNamespace{"x", with_nul}), InvalidNamespaceError);
  EXPECT_THROW(list({with_nul}).get<StoreNamespace>(), InvalidNamespaceError);
}

}  // namespace
}  // namespace clew

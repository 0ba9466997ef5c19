#include <map>
#include <random>

#include <gtest/gtest.h>

#include "store/memory/items.hpp"

namespace clew::store {
namespace {

TEST(EntryTable, FindsWhatAMapFinds) {
  std::mt19937 random(7);
  EntryTable table;
  std::map<std::string, Entry*> expected;
  for (int round = 0; round < 20'000; ++round) {
    const std::string key = "k" + std::to_string(random() % 300);
    const auto known = expected.find(key);
    ASSERT_EQ(table.find(key), known == expected.end() ? nullptr : known->second);
    if (known == expected.end()) {
      expected[key] = &table.insert(key);
    } else if (random() % 2 == 0) {
      table.erase(*known->second);
      expected.erase(known);
    }
    ASSERT_EQ(table.empty(), expected.empty());
  }
  for (const auto& [key, entry] : expected) {
    EXPECT_EQ(table.find(key), entry);
    EXPECT_EQ(entry->key, key);
  }
}

TEST(EntryTable, AnEmptyOneHasNothing) {
  EntryTable table;
  EXPECT_EQ(table.find("a"), nullptr);
  table.erase(table.insert("a"));
  EXPECT_EQ(table.find("a"), nullptr);
  EXPECT_TRUE(table.empty());
}

}  // namespace
}  // namespace clew::store

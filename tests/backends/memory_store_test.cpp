#include <clew/errors.hpp>

#include "store_suite.hpp"

namespace clew {
namespace {

std::shared_ptr<Store> make(StoreOptions options) {
  return std::make_shared<InMemoryStore>(std::move(options));
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreSuite,
                         testing::Values(StoreBackend{.name = "memory", .make = make}),
                         store_backend_name);

std::string keys(const std::vector<SearchItem>& items) {
  std::string text;
  for (const SearchItem& item : items) text += item.key;
  return text;
}

TEST(InMemoryStore, GivesItemsInTheOrderInWhichTheyWereFirstStored) {
  InMemoryStore store;
  store.put({"z"}, "1", {{"v", 1}});
  store.put({"a"}, "2", {{"v", 1}});
  store.put({"z"}, "3", {{"v", 1}});
  store.put({"z"}, "1", {{"v", 2}});
  EXPECT_EQ(keys(store.search({})), "132");
  store.delete_item({"z"}, "1");
  store.put({"z"}, "1", {{"v", 3}});
  EXPECT_EQ(keys(store.search({})), "312");
}

TEST(InMemoryStore, WithoutOptionsForItHasNoTimeToLive) {
  InMemoryStore store;
  EXPECT_THROW(store.put({"t"}, "a", {{"v", 1}}, {.ttl = std::chrono::minutes(5)}),
               BadArgumentError);
  EXPECT_EQ(store.get({"t"}, "a"), std::nullopt);
  store.put({"t"}, "a", {{"v", 1}}, {.ttl = kNoTtl});
  EXPECT_EQ(store.get({"t"}, "a")->value, (Value{{"v", 1}}));
}

}  // namespace
}  // namespace clew

// Items that live for a while.
#include <thread>

#include "store_suite.hpp"

namespace clew {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShort(5);
constexpr milliseconds kLong = std::chrono::hours(1);

// Until `kShort` is surely over.
void wait_shortly() { std::this_thread::sleep_for(4 * kShort); }

StoreOptions with_ttl(StoreTtl ttl = {}) { return {.ttl = ttl}; }

}  // namespace

TEST_P(StoreSuite, AnItemWhoseTimeIsOverIsGoneForEveryCall) {
  StoreOptions options = with_ttl();
  options.index = IndexOptions{.embed = make_embedder(embed_words), .dims = kWordDims};
  auto store = make(options);
  store->put({"short"}, "a", {{"text", "plum"}}, {.ttl = kShort});
  store->put({"long"}, "b", {{"text", "plum"}}, {.ttl = kLong});
  store->put({"good"}, "c", {{"text", "plum"}});
  wait_shortly();
  EXPECT_EQ(store->get({"short"}, "a"), std::nullopt);
  EXPECT_EQ(sorted(store->search({})), "good:c long:b");
  for (const SearchMode mode : {SearchMode::semantic, SearchMode::text, SearchMode::hybrid}) {
    EXPECT_EQ(sorted(store->search({}, {.query = "plum", .mode = mode})), "good:c long:b");
  }
  EXPECT_EQ(store->list_namespaces(), (std::vector<StoreNamespace>{{"good"}, {"long"}}));
  const StoreOp op = GetOp{{"short"}, "a"};
  EXPECT_EQ(std::get<std::optional<Item>>(store->batch({&op, 1})[0]), std::nullopt);
  EXPECT_TRUE(store->get({"long"}, "b"));
}

TEST_P(StoreSuite, ASweepRemovesWhatIsOverAndCountsIt) {
  auto store = make(with_ttl());
  for (int i = 0; i < 5; ++i) {
    store->put({"s"}, std::to_string(i), {{"v", i}}, {.ttl = i < 3 ? kShort : kLong});
  }
  wait_shortly();
  EXPECT_EQ(store->search({"s"}).size(), 2U);
  EXPECT_EQ(store->sweep_ttl(), 3U);
  EXPECT_EQ(store->sweep_ttl(), 0U);
  EXPECT_EQ(store->search({"s"}).size(), 2U);
  EXPECT_EQ(make()->sweep_ttl(), 0U);
}

TEST_P(StoreSuite, ItemsLiveAsLongAsTheStoreSaysUnlessTheySayOtherwise) {
  auto store = make(with_ttl({.default_ttl = kShort}));
  store->put({"d"}, "default", {{"v", 1}});
  store->put({"d"}, "long", {{"v", 1}}, {.ttl = kLong});
  store->put({"d"}, "forever", {{"v", 1}}, {.ttl = kNoTtl});
  wait_shortly();
  EXPECT_EQ(sorted(store->search({"d"})), "d:forever d:long");
}

TEST_P(StoreSuite, PuttingAgainGivesANewTime) {
  auto store = make(with_ttl());
  store->put({"d"}, "shorter", {{"v", 1}}, {.ttl = kLong});
  store->put({"d"}, "shorter", {{"v", 2}}, {.ttl = kShort});
  store->put({"d"}, "longer", {{"v", 1}}, {.ttl = kShort});
  store->put({"d"}, "longer", {{"v", 2}});
  wait_shortly();
  EXPECT_EQ(render(store->search({"d"})), "d:longer");
  // What is over does not come back, and its place is free.
  store->put({"d"}, "shorter", {{"v", 3}});
  EXPECT_EQ(store->get({"d"}, "shorter")->value, (Value{{"v", 3}}));
}

// Reads `alive` again and again, until the time of another item that is put
// together with it is over. True if it is still there then.
template <class Read>
bool outlives(Store& store, const Read& read) {
  constexpr milliseconds kTtl(200);
  const StoreOp ops[] = {PutOp{{"r"}, "alive", {{"v", 1}}, {.ttl = kTtl}},
                         PutOp{{"other"}, "waits", {{"v", 1}}, {.ttl = kTtl}}};
  store.batch(ops);
  do {
    read();
  } while (store.get({"other"}, "waits", false));
  return store.get({"r"}, "alive").has_value();
}

TEST_P(StoreSuite, ReadingMakesAnItemLiveAnew) {
  auto store = make(with_ttl());
  EXPECT_TRUE(outlives(*store, [&] { store->get({"r"}, "alive"); }));
  EXPECT_TRUE(outlives(*store, [&] { store->search({"r"}); }));
  EXPECT_FALSE(outlives(*store, [&] { store->get({"r"}, "alive", false); }));
  EXPECT_FALSE(outlives(*store, [&] { store->search({"r"}, {.refresh_ttl = false}); }));
}

TEST_P(StoreSuite, ReadingRefreshesOnlyIfTheStoreOrTheCallSaysSo) {
  auto store = make(with_ttl({.refresh_on_read = false}));
  EXPECT_FALSE(outlives(*store, [&] { store->get({"r"}, "alive"); }));
  EXPECT_TRUE(outlives(*store, [&] { store->get({"r"}, "alive", true); }));
  EXPECT_TRUE(outlives(*store, [&] { store->search({"r"}, {.refresh_ttl = true}); }));
}

TEST_P(StoreSuite, ASweeperSweepsUntilItGoes) {
  auto store = make(with_ttl());
  store->put({"s"}, "a", {{"v", 1}}, {.ttl = kShort});
  const StoreSweeper sweeper(store, milliseconds(1));
  while (!store->search({"s"}, {.refresh_ttl = false}).empty()) std::this_thread::yield();
  wait_shortly();
  EXPECT_EQ(store->sweep_ttl(), 0U);
}

}  // namespace clew

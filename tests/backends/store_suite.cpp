#include "store_suite.hpp"

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>

#include <clew/errors.hpp>
#include <clew/json.hpp>

namespace clew {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreSuite);

namespace {

Embedder::Vector embed_text(std::string_view text) {
  Embedder::Vector vector(kWordDims, 0.0625F);
  std::uint32_t hash = 0x811C9DC5;
  bool in_word = false;
  const auto finish_word = [&] {
    if (in_word) vector[hash % kWordDims] += 1;
    hash = 0x811C9DC5;
    in_word = false;
  };
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x01000193;
      in_word = true;
    } else {
      finish_word();
    }
  }
  finish_word();
  return vector;
}

std::string render(const std::vector<StoreNamespace>& namespaces) {
  return to_json(Value(namespaces));
}

}  // namespace

std::string render(const std::vector<SearchItem>& items) {
  std::string text;
  for (const SearchItem& item : items) {
    if (!text.empty()) text += ' ';
    for (const std::string_view label : item.namespace_) {
      if (!text.empty() && text.back() != ' ') text += '/';
      text += label;
    }
    text += ":" + item.key;
  }
  return text;
}

std::string sorted(std::vector<SearchItem> items) {
  std::ranges::sort(items, {},
                    [](const SearchItem& item) { return std::pair(item.namespace_, item.key); });
  return render(items);
}

std::vector<Embedder::Vector> embed_words(std::span<const std::string> texts) {
  std::vector<Embedder::Vector> vectors;
  for (const std::string& text : texts) vectors.push_back(embed_text(text));
  return vectors;
}

std::shared_ptr<Store> StoreSuite::make_indexed(std::vector<std::string> fields) {
  return GetParam().make(
      {.index = IndexOptions{
           .embed = make_embedder(embed_words), .dims = kWordDims, .fields = std::move(fields)}});
}

TEST_P(StoreSuite, AnItemComesBackAsItWasPut) {
  auto store = make();
  EXPECT_EQ(store->get({"a"}, "k"), std::nullopt);
  const Value value{{"i", 1}, {"f", 1.5}, {"l", {1, {2}}}, {"o", {{"k", nullptr}}}};
  store->put({"a", "b"}, "k", value);
  const auto item = store->get({"a", "b"}, "k");
  ASSERT_TRUE(item);
  EXPECT_EQ(item->value, value);
  EXPECT_EQ(item->key, "k");
  EXPECT_EQ(item->namespace_, (StoreNamespace{"a", "b"}));
  EXPECT_EQ(item->created_at, item->updated_at);
  EXPECT_GT(item->created_at.time_since_epoch().count(), 0);
  EXPECT_EQ(store->get({"a"}, "k"), std::nullopt);
}

TEST_P(StoreSuite, PuttingAgainReplaces) {
  auto store = make();
  store->put({"a"}, "k", {{"v", 1}, {"old", true}});
  store->put({"a"}, "k", {{"v", 2}});
  EXPECT_EQ(store->get({"a"}, "k")->value, (Value{{"v", 2}}));
  EXPECT_EQ(store->search({"a"}).size(), 1U);
}

TEST_P(StoreSuite, ADeletedItemIsGone) {
  auto store = make();
  store->put({"a"}, "k", {{"v", 1}});
  store->delete_item({"a"}, "k");
  store->delete_item({"a"}, "k");
  EXPECT_EQ(store->get({"a"}, "k"), std::nullopt);
  EXPECT_TRUE(store->search({"a"}).empty());
  EXPECT_TRUE(store->list_namespaces().empty());
}

TEST_P(StoreSuite, ReadingCreatesNoNamespace) {
  auto store = make();
  store->get({"a"}, "k");
  store->search({"b"});
  store->delete_item({"c"}, "k");
  EXPECT_TRUE(store->list_namespaces().empty());
}

TEST_P(StoreSuite, TextThatIsNotUtf8IsRefusedAndNothingIsStored) {
  auto store = make();
  const StoreNamespace ns{"ada", "memories"};
  EXPECT_THROW(store->put(ns, "k", {{"text", "caf\xE9"}}), ValueError);
  EXPECT_THROW(store->put(ns, "k", {{"deep", {{{"caf\xE9", 1}}}}}), ValueError);
  EXPECT_THROW(store->put(ns, "\xE9", {{"text", "tea"}}), ValueError);
  EXPECT_FALSE(store->get(ns, "k"));
  EXPECT_TRUE(store->list_namespaces().empty());
}

TEST_P(StoreSuite, OnlyObjectsAreStored) {
  auto store = make();
  EXPECT_THROW(store->put({"a"}, "k", "text"), ValueError);
  EXPECT_THROW(store->put({"a"}, "k", nullptr), ValueError);
}

TEST_P(StoreSuite, NamespacesAreChecked) {
  auto store = make();
  for (const StoreNamespace& ns :
       {StoreNamespace{}, {""}, {"a", ""}, {"a.b"}, {"langgraph"}, {"langgraph", "x"}}) {
    EXPECT_THROW(store->put(ns, "k", {{"v", 1}}), InvalidNamespaceError) << ns.size();
  }
  for (const StoreNamespace& ns : {StoreNamespace{""}, {"a.b"}}) {
    EXPECT_THROW(store->get(ns, "k"), InvalidNamespaceError);
    EXPECT_THROW(store->delete_item(ns, "k"), InvalidNamespaceError);
    EXPECT_THROW(store->search(ns), InvalidNamespaceError);
    EXPECT_THROW(store->list_namespaces({.prefix = ns}), InvalidNamespaceError);
    EXPECT_THROW(store->list_namespaces({.suffix = ns}), InvalidNamespaceError);
    const StoreOp op = PutOp{ns, "k", {{"v", 1}}};
    EXPECT_THROW(store->batch({&op, 1}), InvalidNamespaceError);
  }
  EXPECT_EQ(store->get({"langgraph"}, "k"), std::nullopt);
  store->put({"x", "langgraph"}, "", {{"v", 1}});
  EXPECT_EQ(store->get({"x", "langgraph"}, "")->value, (Value{{"v", 1}}));
}

TEST_P(StoreSuite, APrefixIsOfWholeLabels) {
  auto store = make();
  for (const StoreNamespace& ns :
       {StoreNamespace{"foo"}, {"foobar"}, {"foo", "bar"}, {"FOO"}, {"f%"}, {"f_"}}) {
    store->put(ns, "k", {{"v", 1}});
  }
  EXPECT_EQ(sorted(store->search({"foo"})), "foo:k foo/bar:k");
  EXPECT_EQ(sorted(store->search({"fo"})), "");
  EXPECT_EQ(sorted(store->search({"foo", "ba"})), "");
  EXPECT_EQ(sorted(store->search({"f%"})), "f%:k");
  EXPECT_EQ(store->search({}).size(), 6U);
}

TEST_P(StoreSuite, FiltersCompareEntriesOfTheValue) {
  auto store = make();
  store->put({"f"}, "a", {{"n", 1}, {"s", "apple"}, {"b", true}});
  store->put({"f"}, "b", {{"n", 10}, {"s", "banana"}, {"b", false}});
  store->put({"f"}, "c", {{"n", 2.5}, {"s", "cherry"}, {"b", true}});
  const auto find = [&](Value filter) {
    return sorted(store->search({"f"}, {.filter = std::move(filter)}));
  };
  EXPECT_EQ(find({{"n", 10}}), "f:b");
  EXPECT_EQ(find({{"b", true}, {"s", "cherry"}}), "f:c");
  EXPECT_EQ(find({{"n", {{"$gt", 2}}}}), "f:b f:c");
  EXPECT_EQ(find({{"n", {{"$gte", 2.5}, {"$lt", 10}}}}), "f:c");
  EXPECT_EQ(find({{"n", {{"$lte", 1}}}}), "f:a");
  EXPECT_EQ(find({{"s", {{"$ne", "apple"}}}}), "f:b f:c");
  EXPECT_EQ(find({{"s", {{"$eq", "apple"}}}}), "f:a");
  EXPECT_EQ(find({{"s", "nothing"}}), "");
  EXPECT_EQ(find(object()), "f:a f:b f:c");
  EXPECT_THROW(find({{"n", {{"$in", {1}}}}}), ValueError);
}

TEST_P(StoreSuite, PagesTogetherAreEverythingOnce) {
  auto store = make();
  for (int i = 0; i < 25; ++i) store->put({"p"}, std::to_string(i), {{"i", i}});
  EXPECT_EQ(store->search({"p"}).size(), 10U);
  EXPECT_TRUE(store->search({"p"}, {.limit = 0}).empty());
  EXPECT_TRUE(store->search({"p"}, {.offset = 25}).empty());
  const auto all = store->search({"p"}, {.limit = 100});
  std::vector<SearchItem> paged;
  for (std::size_t offset = 0; offset < 25; offset += 7) {
    for (SearchItem& item : store->search({"p"}, {.limit = 7, .offset = offset})) {
      paged.push_back(std::move(item));
    }
  }
  EXPECT_EQ(render(paged), render(all));
  EXPECT_EQ(all.size(), 25U);
}

TEST_P(StoreSuite, NamespacesAreListedSortedMatchedAndCut) {
  auto store = make();
  for (const StoreNamespace& ns : {StoreNamespace{"b", "a", "f"},
                                   {"a", "b", "c"},
                                   {"a", "c", "f"},
                                   {"a"},
                                   {"a", "b", "d", "e"}}) {
    store->put(ns, "k", {{"v", 1}});
    store->put(ns, "k2", {{"v", 1}});
  }
  EXPECT_EQ(render(store->list_namespaces()),
            R"([["a"],["a","b","c"],["a","b","d","e"],["a","c","f"],["b","a","f"]])");
  EXPECT_EQ(render(store->list_namespaces({.prefix = {"a", "*", "f"}})), R"([["a","c","f"]])");
  EXPECT_EQ(render(store->list_namespaces({.suffix = {"*", "f"}})),
            R"([["a","c","f"],["b","a","f"]])");
  EXPECT_EQ(render(store->list_namespaces({.max_depth = 2})),
            R"([["a"],["a","b"],["a","c"],["b","a"]])");
  EXPECT_EQ(render(store->list_namespaces({.max_depth = 2, .limit = 2, .offset = 1})),
            R"([["a","b"],["a","c"]])");
  EXPECT_EQ(render(store->list_namespaces({.prefix = {"zzz"}})), "[]");
}

TEST_P(StoreSuite, ABatchReadsBeforeItWrites) {
  auto store = make();
  store->put({"b"}, "old", {{"v", 0}});
  const StoreOp ops[] = {PutOp{{"b"}, "x", {{"v", 1}}},
                         GetOp{{"b"}, "x"},
                         SearchOp{{"b"}},
                         ListNamespacesOp{},
                         PutOp{{"b"}, "x", {{"v", 2}}},
                         PutOp{{"b"}, "old", nullptr}};
  const auto results = store->batch(ops);
  ASSERT_EQ(results.size(), 6U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(results[0]));
  EXPECT_EQ(std::get<std::optional<Item>>(results[1]), std::nullopt);
  EXPECT_EQ(render(std::get<std::vector<SearchItem>>(results[2])), "b:old");
  EXPECT_EQ(render(std::get<std::vector<StoreNamespace>>(results[3])), R"([["b"]])");
  EXPECT_EQ(store->get({"b"}, "x")->value, (Value{{"v", 2}}));
  EXPECT_EQ(store->get({"b"}, "old"), std::nullopt);
  EXPECT_TRUE(store->batch({}).empty());
}

TEST_P(StoreSuite, ABatchThatFailsChangesNothing) {
  auto store = make();
  const StoreOp ops[] = {PutOp{{"b"}, "x", {{"v", 1}}},
                         SearchOp{{"b"}, {.filter = {{"v", {{"$in", {1}}}}}}},
                         PutOp{{"b"}, "bad", "no object"}};
  EXPECT_THROW(store->batch(ops), ValueError);
  EXPECT_TRUE(store->search({}).empty());
}

TEST_P(StoreSuite, SearchRanksByMeaning) {
  auto store = make_indexed({"text"});
  store->put({"d"}, "pizza", {{"text", "I like pizza"}});
  store->put({"d"}, "rain", {{"text", "it rains in april"}});
  store->put({"d"}, "hidden", {{"text", "pizza pizza"}}, {.index = std::vector<std::string>{}});
  store->put({"d"}, "other", {{"note", "pizza"}});
  store->put({"d"}, "named", {{"note", "pizza"}}, {.index = std::vector<std::string>{"note"}});

  const auto found = store->search({"d"}, {.query = "pizza"});
  ASSERT_GE(found.size(), 3U);
  EXPECT_EQ(found[0].key, "named");
  EXPECT_NEAR(*found[0].score, 1, 1e-6);
  EXPECT_EQ(found[1].key, "pizza");
  EXPECT_EQ(found[2].key, "rain");
  EXPECT_GT(*found[1].score, *found[2].score);
  for (std::size_t i = 3; i < found.size(); ++i) EXPECT_EQ(found[i].score, std::nullopt);

  EXPECT_EQ(render(store->search({"d"}, {.query = "pizza", .limit = 1, .offset = 1})), "d:pizza");
  EXPECT_EQ(
      render(store->search({"d"}, {.query = "pizza", .filter = {{"text", "it rains in april"}}})),
      "d:rain");
  for (const SearchItem& item : store->search({"d"})) EXPECT_EQ(item.score, std::nullopt);
}

TEST_P(StoreSuite, AnItemIsFoundByItsBestText) {
  auto store = make_indexed({"title", "tags[*]"});
  store->put({"d"}, "one", {{"title", "soup"}, {"tags", {"winter", "lunch"}}});
  store->put({"d"}, "two", {{"title", "winter garden"}});
  const auto found = store->search({"d"}, {.query = "winter"});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].key, "one");
  EXPECT_NEAR(*found[0].score, 1, 1e-6);
}

TEST_P(StoreSuite, AReplacedOrDeletedItemIsNotFoundByItsOldText) {
  auto store = make_indexed({"text"});
  store->put({"d"}, "k", {{"text", "first"}}, {.index = std::vector<std::string>{"text", "$"}});
  store->put({"d"}, "k", {{"text", "second"}});
  EXPECT_LT(*store->search({"d"}, {.query = "first"})[0].score, 0.5);
  store->put({"d"}, "k", {{"text", "first"}}, {.index = std::vector<std::string>{}});
  EXPECT_EQ(store->search({"d"}, {.query = "second"}).size(), store->search({"d"}).size());
  store->delete_item({"d"}, "k");
  EXPECT_TRUE(store->search({"d"}, {.query = "second"}).empty());
}

TEST_P(StoreSuite, IdenticalTextsAreEmbeddedOnceAndAFailureStoresNothing) {
  std::vector<std::string> asked;
  bool fails = false;
  auto embedder = make_embedder([&](std::span<const std::string> texts) {
    if (fails) throw Error("the model is down");
    asked.insert(asked.end(), texts.begin(), texts.end());
    return embed_words(texts);
  });
  auto store = GetParam().make(
      {.index = IndexOptions{.embed = embedder, .dims = kWordDims, .fields = {"t"}}});
  const StoreOp ops[] = {PutOp{{"s"}, "1", {{"t", "same"}}}, PutOp{{"s"}, "2", {{"t", "same"}}},
                         PutOp{{"s"}, "3", {{"t", "other"}}}};
  store->batch(ops);
  EXPECT_EQ(asked, (std::vector<std::string>{"same", "other"}));
  EXPECT_NEAR(*store->search({"s"}, {.query = "same"})[1].score, 1, 1e-6);

  fails = true;
  EXPECT_THROW(store->put({"s"}, "1", {{"t", "new"}}), Error);
  EXPECT_THROW(store->search({"s"}, {.query = "same"}), Error);
  EXPECT_EQ(store->get({"s"}, "1")->value, (Value{{"t", "same"}}));
}

TEST_P(StoreSuite, AnEmbedderThatLiesIsRefused) {
  auto too_few =
      make_embedder([](std::span<const std::string>) { return std::vector<Embedder::Vector>{}; });
  auto store = GetParam().make({.index = IndexOptions{.embed = too_few, .dims = kWordDims}});
  EXPECT_THROW(store->put({"s"}, "1", {{"t", "a"}}), ValueError);
  EXPECT_THROW(store->search({"s"}, {.query = "a"}), ValueError);

  auto too_long = make_embedder([](std::span<const std::string> texts) {
    return std::vector<Embedder::Vector>(texts.size(), Embedder::Vector(kWordDims + 1, 1));
  });
  store = GetParam().make({.index = IndexOptions{.embed = too_long, .dims = kWordDims}});
  EXPECT_THROW(store->put({"s"}, "1", {{"t", "a"}}), ValueError);
  EXPECT_TRUE(store->search({"s"}).empty());
  EXPECT_THROW(GetParam().make({.index = IndexOptions{}}), ValueError);
}

TEST_P(StoreSuite, AQueryWithoutAnIndexIsIgnored) {
  auto store = make();
  store->put({"n"}, "1", {{"t", "a"}});
  const auto found = store->search({"n"}, {.query = "zzz"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].score, std::nullopt);
}

TEST_P(StoreSuite, ItemsPrintAsJson) {
  auto store = make();
  store->put({"1", "memories"}, "k", {{"food", "pizza"}});
  std::ostringstream text;
  text << *store->get({"1", "memories"}, "k");
  const Value shown = parse_json(text.str());
  EXPECT_EQ(to_json(shown.erase("created_at").erase("updated_at")),
            R"({"value":{"food":"pizza"},"key":"k","namespace":["1","memories"]})");
  EXPECT_TRUE(shown["created_at"].as_string().ends_with("+00:00"));
  EXPECT_EQ(to_value(store->search({"1"})[0])["score"], Value());
}

TEST_P(StoreSuite, ManyThreadsMayUseIt) {
  auto store = make_indexed({"t"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const StoreNamespace ns{"n" + std::to_string(i % 2)};
      for (int k = 0; k < 50; ++k) {
        const std::string key = std::to_string(i) + "-" + std::to_string(k);
        store->put(ns, key, {{"t", key}});
        store->search(ns, {.query = key, .limit = 2});
        if (k % 5 == 0) store->delete_item(ns, key);
        store->list_namespaces();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store->search({}, {.limit = 1000}).size(), 160U);
}

}  // namespace clew

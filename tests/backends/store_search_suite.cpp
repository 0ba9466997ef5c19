// Searching: pages, words, distances, and the index made anew.
#include <cmath>
#include <set>

#include <gmock/gmock.h>

#include <clew/errors.hpp>

#include "store_suite.hpp"

namespace clew {

using testing::ElementsAre;

namespace {

StoreOptions indexed(std::vector<std::string> fields, Distance distance = Distance::cosine) {
  return {.index = IndexOptions{.embed = make_embedder(embed_words),
                                .dims = kWordDims,
                                .fields = std::move(fields),
                                .distance = distance}};
}

// All pages of `options.limit`, each behind the one before; `between` is called
// after each.
std::vector<SearchItem> read_pages(
    Store& store, SearchOptions options, const std::function<void()>& between = [] {}) {
  std::vector<SearchItem> all;
  while (true) {
    const std::vector<SearchItem> page = store.search({"p"}, options);
    if (page.empty()) return all;
    all.insert(all.end(), page.begin(), page.end());
    options.after = page.back().cursor;
    between();
  }
}

// Twelve items with words, four that are not indexed, in three namespaces.
void fill(Store& store) {
  const std::string texts[] = {"apple ", "apple pie ", "pear ", "plum and apple "};
  for (int i = 0; i < 16; ++i) {
    const StoreNamespace ns{"p", std::to_string(i % 3)};
    PutOptions options;
    if (i >= 12) options.index.emplace();
    store.put(ns, "k" + std::to_string(i), {{"text", texts[i % 4] + std::to_string(i)}}, options);
  }
}

const SearchOptions kSearches[] = {
    {.limit = 3},
    {.query = "apple pie", .limit = 3},
    {.query = "apple pie", .mode = SearchMode::text, .limit = 3},
    {.query = "apple pie", .mode = SearchMode::hybrid, .limit = 3},
};

}  // namespace

TEST_P(StoreSuite, PagesBehindACursorAreEverythingOnce) {
  auto store = make(indexed({"text"}));
  fill(*store);
  for (SearchOptions options : kSearches) {
    const std::vector<SearchItem> pages = read_pages(*store, options);
    options.limit = 100;
    EXPECT_EQ(render(pages), render(store->search({"p"}, options)));
    options.offset = 5;
    options.limit = 4;
    const std::vector<SearchItem> part = store->search({"p"}, options);
    for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], pages.at(i + 5));
  }
}

TEST_P(StoreSuite, PagesFitTogetherWhileItemsComeAndGo) {
  for (const SearchOptions& options :
       {SearchOptions{.limit = 3}, SearchOptions{.query = "apple pie", .limit = 3},
        SearchOptions{.query = "apple", .mode = SearchMode::text, .limit = 3}}) {
    auto store = make(indexed({"text"}));
    fill(*store);
    const auto kept = [](int i) { return i % 5 != 4; };
    int changes = 0;
    const auto change = [&] {
      const int i = changes++;
      if (i > 4) return;
      store->put({"p", "1"}, "new" + std::to_string(i),
                 {{"text", "a tart that is made of other fruit"}});
      for (int k = 0; k < 16; ++k) {
        if (!kept(k)) store->delete_item({"p", std::to_string(k % 3)}, "k" + std::to_string(k));
      }
    };
    std::multiset<std::string> seen;
    for (const SearchItem& item : read_pages(*store, options, change)) seen.insert(item.key);
    // By words only items that have the word and are indexed.
    const auto is_found = [&](int k) {
      return options.mode == SearchMode::semantic || (k % 4 != 2 && k < 12);
    };
    for (int k = 0; k < 16; ++k) {
      const std::size_t times = seen.count("k" + std::to_string(k));
      EXPECT_LE(times, 1U) << k << " " << options.query;
      if (kept(k) && is_found(k)) {
        EXPECT_EQ(times, 1U) << k << " " << options.query;
      }
    }
  }
}

TEST_P(StoreSuite, UnscoredItemsStandBehindScoredOnes) {
  auto store = make(indexed({"text"}));
  fill(*store);
  const auto found = store->search({"p"}, {.query = "plum", .limit = 100});
  ASSERT_EQ(found.size(), 16U);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(found[i].score.has_value(), i < 12) << i;
  const auto last =
      store->search({"p"}, {.query = "plum", .limit = 100, .after = found[12].cursor});
  EXPECT_EQ(render(last), render({found.begin() + 13, found.end()}));
  const auto offset = store->search({"p"}, {.query = "plum", .limit = 2, .offset = 13});
  EXPECT_EQ(render(offset), render({found.begin() + 13, found.begin() + 15}));
}

TEST_P(StoreSuite, TextSearchFindsWordsWithoutAnEmbedder) {
  auto store = make();
  store->put({"d"}, "cat", {{"text", "The cat sat on the mat"}, {"n", 1}});
  store->put({"d"}, "dog", {{"text", "A dog"}, {"n", 2}});
  const auto find = [&](std::string query) {
    return render(store->search({"d"}, {.query = std::move(query), .mode = SearchMode::text}));
  };
  EXPECT_EQ(find("Cat"), "d:cat");
  EXPECT_EQ(find("bird"), "");
  EXPECT_EQ(find("..."), "");

  // What comes later is found too, and what is gone is not.
  store->put({"d"}, "two", {{"text", "dog and cat"}});
  store->put({"d"}, "cat", {{"text", "a bird"}});
  EXPECT_EQ(find("cat"), "d:two");
  EXPECT_EQ(find("bird"), "d:cat");
  store->delete_item({"d"}, "cat");
  EXPECT_EQ(find("bird"), "");
  EXPECT_EQ(render(store->search(
                {"d"}, {.query = "dog", .mode = SearchMode::hybrid, .filter = {{"n", 2}}})),
            "d:dog");
}

TEST_P(StoreSuite, TextSearchLooksAtTheIndexedFields) {
  auto store = make(indexed({"text"}));
  store->put({"d"}, "text", {{"text", "plum"}, {"note", "secret"}});
  store->put({"d"}, "note", {{"note", "plum"}}, {.index = std::vector<std::string>{"note"}});
  store->put({"d"}, "none", {{"text", "plum"}}, {.index = std::vector<std::string>{}});
  const auto find = [&](std::string query) {
    return sorted(store->search({"d"}, {.query = std::move(query), .mode = SearchMode::text}));
  };
  EXPECT_EQ(find("plum"), "d:note d:text");
  EXPECT_EQ(find("secret"), "");
  const auto found = store->search({"d"}, {.query = "plum", .mode = SearchMode::text});
  EXPECT_GT(*found[0].score, 0);
}

TEST_P(StoreSuite, HybridSearchPutsFirstWhatIsHighByEither) {
  // By this embedder all texts mean the same but one.
  auto embedder = make_embedder([](std::span<const std::string> texts) {
    std::vector<Embedder::Vector> vectors;
    for (const std::string& text : texts) {
      vectors.push_back({1, text.find("car") == std::string::npos ? 1.0F : 0.0F});
    }
    return vectors;
  });
  auto store = make({.index = IndexOptions{.embed = embedder, .dims = 2, .fields = {"text"}}});
  store->put({"d"}, "a", {{"text", "nothing"}});
  store->put({"d"}, "meaning", {{"text", "a car"}});
  store->put({"d"}, "word", {{"text", "the query has this automobile"}});
  SearchOptions options{.query = "automobile or car", .limit = 2};
  EXPECT_EQ(render(store->search({"d"}, options)), "d:meaning d:a");
  options.mode = SearchMode::text;
  EXPECT_EQ(sorted(store->search({"d"}, options)), "d:meaning d:word");
  options.query = "automobile";
  options.mode = SearchMode::hybrid;
  options.limit = 10;
  const auto found = store->search({"d"}, options);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key, "word");
  EXPECT_GT(*found[0].score, *found[1].score);
}

TEST_P(StoreSuite, TheDistanceMakesTheScore) {
  const auto search = [&](Distance distance) {
    auto embedder = make_embedder([](std::span<const std::string> texts) {
      std::vector<Embedder::Vector> vectors;
      for (const std::string& text : texts) {
        vectors.push_back({static_cast<float>(text.size()), text == "q" ? 0.0F : 1.0F});
      }
      return vectors;
    });
    auto store = make({.index = IndexOptions{
                           .embed = embedder, .dims = 2, .fields = {"t"}, .distance = distance}});
    store->put({"d"}, "near", {{"t", "ab"}});
    store->put({"d"}, "far", {{"t", "abcdefgh"}});
    return store->search({"d"}, {.query = "q"});
  };
  auto found = search(Distance::cosine);
  EXPECT_EQ(render(found), "d:far d:near");
  EXPECT_NEAR(*found[1].score, 2 / std::sqrt(5), 1e-6);
  found = search(Distance::inner_product);
  EXPECT_EQ(render(found), "d:far d:near");
  EXPECT_NEAR(*found[0].score, 8, 1e-6);
  found = search(Distance::l2);
  EXPECT_EQ(render(found), "d:near d:far");
  EXPECT_NEAR(*found[0].score, -std::sqrt(2), 1e-6);
}

TEST_P(StoreSuite, ABatchWhoseVectorsDoNotFitChangesNothing) {
  auto embedder = make_embedder([](std::span<const std::string> texts) {
    std::vector<Embedder::Vector> vectors;
    for (const std::string& text : texts) {
      vectors.emplace_back(text == "nan" ? Embedder::Vector{NAN, 1, 1}
                                         : Embedder::Vector(text.size(), 1.0F));
    }
    return vectors;
  });
  auto store = make({.index = IndexOptions{.embed = embedder, .dims = 3, .fields = {"t"}}});
  for (const char* bad : {"long text", "nan"}) {
    const StoreOp ops[] = {PutOp{{"d"}, "good", {{"t", "abc"}}}, PutOp{{"d"}, "bad", {{"t", bad}}}};
    EXPECT_THROW(store->batch(ops), ValueError) << bad;
  }
  EXPECT_EQ(store->get({"d"}, "good"), std::nullopt);
  EXPECT_THROW(store->search({"d"}, {.query = "other length"}), ValueError);
  EXPECT_TRUE(store->search({"d"}, {.query = "abc"}).empty());
}

TEST_P(StoreSuite, ReindexEmbedsAllAnew) {
  bool is_new_model = false;
  auto embedder = make_embedder([&](std::span<const std::string> texts) {
    std::vector<Embedder::Vector> vectors = embed_words(texts);
    for (Embedder::Vector& vector : vectors) {
      if (is_new_model) std::ranges::reverse(vector);
    }
    return vectors;
  });
  auto store = make({.index = IndexOptions{.embed = embedder, .dims = kWordDims, .fields = {"t"}}});
  for (int i = 0; i < 150; ++i) {
    const std::string number = std::to_string(i);
    store->put({"d"}, number, {{"t", "filler"}});
  }
  store->put({"d"}, "note", {{"note", "plum"}}, {.index = std::vector<std::string>{"note"}});
  store->put({"d"}, "none", {{"t", "plum"}}, {.index = std::vector<std::string>{}});
  store->put({"d"}, "empty", {{"v", 1}});

  is_new_model = true;
  const auto best = [&] { return store->search({"d"}, {.query = "plum"})[0]; };
  EXPECT_LT(*best().score, 0.99);
  std::vector<std::pair<std::size_t, std::size_t>> steps;
  const auto progress = [&](std::size_t done, std::size_t total) {
    steps.push_back({done, total});
  };
  EXPECT_EQ(store->reindex({.progress = progress}), 151U);
  EXPECT_EQ(best().key, "note");
  EXPECT_NEAR(*best().score, 1, 1e-6);
  ASSERT_GT(steps.size(), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(steps));
  EXPECT_EQ(steps.back().first, steps.back().second);

  std::stop_source stop;
  const auto stop_soon = [&](std::size_t, std::size_t) { stop.request_stop(); };
  const std::size_t done = store->reindex({.progress = stop_soon, .stop = stop.get_token()});
  EXPECT_GT(done, 0U);
  EXPECT_LT(done, 151U);
  EXPECT_EQ(make()->reindex(), 0U);
}

TEST_P(StoreSuite, CoroutinesHaveTheSameCalls) {
  auto store = make(indexed({"text"}));
  wait(store->async_put({"a"}, "1", {{"text", "plum"}}));
  wait(store->async_put({"a"}, "2", {{"text", "pear"}}));
  EXPECT_EQ(wait(store->async_get({"a"}, "1"))->value, (Value{{"text", "plum"}}));
  EXPECT_EQ(render(wait(store->async_search({"a"}, {.query = "pear", .limit = 1}))), "a:2");
  EXPECT_THAT(wait(store->async_list_namespaces()), ElementsAre(StoreNamespace{"a"}));
  wait(store->async_delete_item({"a"}, "1"));
  const auto results = wait(store->async_batch({GetOp{{"a"}, "1"}, GetOp{{"a"}, "2"}}));
  EXPECT_EQ(std::get<std::optional<Item>>(results[0]), std::nullopt);
  EXPECT_TRUE(std::get<std::optional<Item>>(results[1]));
  EXPECT_THROW(wait(store->async_put({"a.b"}, "1", {{"v", 1}})), InvalidNamespaceError);
}

}  // namespace clew

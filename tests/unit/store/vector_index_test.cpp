#include "store/vector_index.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/store.hpp>

namespace clew::store {
namespace {

using Vector = Embedder::Vector;
using Vectors = std::vector<Vector>;

double reference_score(const Vector& a, const Vector& b, Distance distance) {
  double dot = 0;
  double a_squares = 0;
  double b_squares = 0;
  double squared_distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i];
    const double y = b[i];
    dot += x * y;
    a_squares += x * x;
    b_squares += y * y;
    squared_distance += (x - y) * (x - y);
  }
  if (distance == Distance::l2) return -std::sqrt(squared_distance);
  if (distance == Distance::inner_product) return dot;
  return a_squares * b_squares == 0 ? 0 : dot / std::sqrt(a_squares * b_squares);
}

// All that an index has, compared one by one in double precision.
struct Reference {
  Distance distance = Distance::cosine;
  std::map<ItemId, Vectors> items = {};

  std::vector<Hit> search(const Vector& query, const Candidates* candidates = nullptr) const {
    std::vector<Hit> hits;
    for (const auto& [id, vectors] : items) {
      if (vectors.empty()) continue;
      if (candidates && !std::ranges::binary_search(*candidates, id)) continue;
      Hit hit{id, -1e300};
      for (const Vector& vector : vectors) {
        hit.score = std::max(hit.score, reference_score(query, vector, distance));
      }
      hits.push_back(hit);
    }
    std::ranges::stable_sort(hits, std::greater(), &Hit::score);
    return hits;
  }
};

Vector random_vector(std::size_t dims, std::mt19937& random) {
  std::normal_distribution<float> normal;
  Vector vector(dims);
  for (float& number : vector) number = normal(random);
  return vector;
}

Vectors random_vectors(std::size_t count, std::size_t dims, std::mt19937& random) {
  Vectors vectors(count);
  for (Vector& vector : vectors) vector = random_vector(dims, random);
  return vectors;
}

void expect_like(const std::vector<Hit>& found, std::vector<Hit> wanted, std::size_t limit) {
  if (wanted.size() > limit) wanted.resize(limit);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, wanted[i].id) << i;
    EXPECT_NEAR(found[i].score, wanted[i].score, 1e-4) << i;
  }
}

// The part of `wanted` that was found.
double recall(const std::vector<Hit>& found, std::vector<Hit> wanted) {
  wanted.resize(std::min(wanted.size(), found.size()));
  const auto is_found = [&](const Hit& hit) {
    return std::ranges::find(found, hit.id, &Hit::id) != found.end();
  };
  return static_cast<double>(std::ranges::count_if(wanted, is_found)) /
         static_cast<double>(wanted.size());
}

class VectorIndexDistances : public testing::TestWithParam<Distance> {};
INSTANTIATE_TEST_SUITE_P(All, VectorIndexDistances,
                         testing::Values(Distance::cosine, Distance::inner_product, Distance::l2));

TEST_P(VectorIndexDistances, FindsWhatComparingOneByOneFinds) {
  for (const std::size_t dims : {1, 7, 9, 384, 1536}) {
    std::mt19937 random(static_cast<unsigned>(dims));
    VectorIndex index(GetParam(), std::nullopt);
    Reference reference{GetParam()};
    for (ItemId id = 0; id < 60; ++id) {
      reference.items[id] = random_vectors(1, dims, random);
      index.put(id, reference.items[id]);
    }
    const Vector query = random_vector(dims, random);
    // One number leaves only two cosines, so that who comes first is an accident.
    if (dims == 1 && GetParam() == Distance::cosine) continue;
    expect_like(index.search(query, 10), reference.search(query), 10);
    expect_like(index.search(query, 1000), reference.search(query), 1000);
  }
}

TEST_P(VectorIndexDistances, ChangesAndCandidatesAreRespected) {
  constexpr std::size_t kDims = 9;
  std::mt19937 random(3);
  VectorIndex index(GetParam(), std::nullopt);
  Reference reference{GetParam()};
  for (int round = 0; round < 2000; ++round) {
    const ItemId id = static_cast<ItemId>(random() % 200);
    if (random() % 3 == 0) {
      index.erase(id);
      reference.items.erase(id);
    } else {
      reference.items[id] = random_vectors(random() % 4, kDims, random);
      index.put(id, reference.items[id]);
    }
    if (round % 20 != 0) continue;
    const Vector query = random_vector(kDims, random);
    Candidates candidates;
    for (ItemId candidate = 0; candidate < 250; ++candidate) {
      if (random() % 2 == 0) candidates.push_back(candidate);
    }
    expect_like(index.search(query, 7), reference.search(query), 7);
    expect_like(index.search(query, 7, &candidates), reference.search(query, &candidates), 7);
    EXPECT_EQ(index.size(), reference.search(query).size());
    EXPECT_EQ(index.contains(id), reference.items.contains(id) && !reference.items[id].empty());
  }
}

TEST(VectorIndex, OfEqualOnesTheLowerIdComesFirst) {
  VectorIndex index(Distance::cosine, std::nullopt);
  for (const ItemId id : {5, 3, 9, 1}) index.put(id, Vectors{{1, 1}});
  index.put(7, Vectors{{0, 0}});
  std::vector<ItemId> ids;
  for (const Hit& hit : index.search({1, 1}, 3)) ids.push_back(hit.id);
  EXPECT_EQ(ids, (std::vector<ItemId>{1, 3, 5}));
  EXPECT_EQ(index.search({1, 1}, 9).back(), (Hit{7, 0}));  // no direction, like nothing
  EXPECT_EQ(index.search({0, 0}, 9).front(), (Hit{1, 0}));
}

TEST(VectorIndex, PagesFitTogether) {
  std::mt19937 random(1);
  VectorIndex index(Distance::l2, std::nullopt);
  for (ItemId id = 0; id < 40; ++id) index.put(id, random_vectors(1, 2, random));
  for (ItemId id = 40; id < 50; ++id) index.put(id, Vectors{{0, 0}});
  const std::vector<Hit> all = index.search({1, 1}, 100);
  std::vector<Hit> paged;
  for (std::vector<Hit> page = index.search({1, 1}, 7); !page.empty();
       page = index.search({1, 1}, 7, nullptr, &paged.back())) {
    paged.insert(paged.end(), page.begin(), page.end());
  }
  EXPECT_EQ(paged, all);
}

TEST(VectorIndex, RefusesVectorsOfOtherLengths) {
  VectorIndex index(Distance::cosine, std::nullopt);
  EXPECT_TRUE(index.search({1, 2, 3}, 3).empty());
  EXPECT_THROW(index.put(1, Vectors{{1, 2}, {1, 2, 3}}), ValueError);
  EXPECT_THROW(index.put(1, Vectors{{}}), ValueError);
  EXPECT_EQ(index.size(), 0U);
  index.put(1, Vectors{{1, 2}});
  EXPECT_THROW(index.put(1, Vectors{{1, 2, 3}}), ValueError);
  EXPECT_THROW(index.search({1, 2, 3}, 1), ValueError);
  EXPECT_THROW(index.check(Vectors{{1}}), ValueError);
  EXPECT_EQ(index.search({1, 2}, 1).front().id, 1);
}

TEST(VectorIndex, NumbersThatAreNoneAreLikeNothing) {
  VectorIndex index(Distance::inner_product, std::nullopt);
  index.put(1, Vectors{{NAN, 0}});
  index.put(2, Vectors{{-1, 0}});
  const std::vector<Hit> found = index.search({1, 1}, 5);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, 2);
  EXPECT_TRUE(std::isfinite(found[1].score));
}

// ---- With a graph of neighbours

constexpr std::size_t kGraphDims = 16;

struct IndexWithGraph {
  explicit IndexWithGraph(std::size_t items) {
    for (std::size_t i = 0; i < items; ++i) put(static_cast<ItemId>(i));
  }

  void put(ItemId id, std::size_t vectors = 1) {
    reference.items[id] = random_vectors(vectors, kGraphDims, random);
    index.put(id, reference.items[id]);
  }
  void erase(ItemId id) {
    index.erase(id);
    reference.items.erase(id);
  }
  void wait() const {
    while (!index.has_graph()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  double mean_recall(const Candidates* candidates = nullptr) {
    double sum = 0;
    for (int i = 0; i < 20; ++i) {
      const Vector query = random_vector(kGraphDims, random);
      const std::vector<Hit> found = index.search(query, 10, candidates);
      EXPECT_EQ(found.size(), 10U);
      sum += recall(found, reference.search(query, candidates));
    }
    return sum / 20;
  }

  std::mt19937 random{11};
  VectorIndex index{Distance::cosine, HnswOptions{.from = 200, .look_around_to_build = 50}};
  Reference reference{};
};

TEST(VectorIndexGraph, ComesInTheBackgroundWhenThereAreManyVectors) {
  IndexWithGraph made(199);
  EXPECT_FALSE(made.index.has_graph());
  EXPECT_EQ(made.mean_recall(), 1);
  made.put(199);
  made.wait();
  EXPECT_GE(made.mean_recall(), 0.95);
}

TEST(VectorIndexGraph, FollowsChangesThatComeWhileItIsMadeAndAfterwards) {
  IndexWithGraph made(300);
  for (int round = 0; round < 4; ++round) {
    for (int change = 0; change < 150; ++change) {
      const ItemId id = static_cast<ItemId>(made.random() % 450);
      made.random() % 3 == 0 ? made.erase(id) : made.put(id, 1 + made.random() % 2);
    }
    EXPECT_GE(made.mean_recall(), 0.95);  // as it is, however far the graph has come
    made.wait();
    EXPECT_GE(made.mean_recall(), 0.95);
  }
}

TEST(VectorIndexGraph, FindsNothingThatIsGone) {
  IndexWithGraph made(600);
  made.wait();
  const Vector vector = made.reference.items[17].front();
  EXPECT_EQ(made.index.search(vector, 1).front().id, 17);
  made.erase(17);
  EXPECT_NE(made.index.search(vector, 1).front().id, 17);
  made.wait();
  EXPECT_NE(made.index.search(vector, 1).front().id, 17);
  made.index.put(17, Vectors{vector});
  EXPECT_EQ(made.index.search(vector, 1).front().id, 17);
}

TEST(VectorIndexGraph, GivesAsManyAsThereAre) {
  IndexWithGraph made(600);
  made.wait();
  Candidates few{3, 99, 512};
  Candidates half;
  for (ItemId id = 0; id < 600; id += 2) half.push_back(id);
  const Vector query = random_vector(kGraphDims, made.random);
  EXPECT_EQ(made.index.search(query, 10, &few).size(), 3U);
  EXPECT_EQ(made.index.search(query, 1000, &half).size(), 300U);
  EXPECT_EQ(made.index.search(query, 1000).size(), 600U);
  EXPECT_GE(made.mean_recall(&half), 0.95);

  const std::vector<Hit> all = made.index.search(query, 1000);
  EXPECT_EQ(made.index.search(query, 10, nullptr, &all[589]),
            (std::vector<Hit>(all.begin() + 590, all.end())));
}

TEST(VectorIndexGraph, MayBeGivenUpWhileItIsMade) {
  for (int i = 0; i < 5; ++i) IndexWithGraph(200 + static_cast<std::size_t>(i) * 50);
}

TEST(VectorIndexGraph, IsSearchedByManyThreads) {
  IndexWithGraph made(300);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < 3; ++i) {
    threads.emplace_back([&made, i] {
      std::mt19937 random(i);
      while (!made.index.has_graph()) {
        EXPECT_EQ(made.index.search(random_vector(kGraphDims, random), 5).size(), 5U);
      }
      for (int k = 0; k < 50; ++k) {
        EXPECT_EQ(made.index.search(random_vector(kGraphDims, random), 5).size(), 5U);
      }
    });
  }
}

TEST(VectorIndexGraph, IsUsedByAStoreOfManyItems) {
  auto embedder = make_embedder([](std::span<const std::string> texts) {
    Vectors vectors;
    for (const std::string& text : texts) {
      std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(text)));
      vectors.push_back(random_vector(kGraphDims, random));
    }
    return vectors;
  });
  InMemoryStore store({.index = IndexOptions{.embed = embedder, .hnsw = HnswOptions{.from = 200}}});
  for (int i = 0; i < 400; ++i) {
    const StoreNamespace ns{"n", std::to_string(i % 3)};
    store.put(ns, std::to_string(i), {{"i", i}});
    if (i % 7 == 0) store.delete_item(ns, std::to_string(i));
  }
  const std::size_t total = store.search({}, {.limit = 1000}).size();
  EXPECT_EQ(total, 342U);
  std::size_t paged = 0;
  SearchOptions options{.query = "17", .limit = 50};
  for (auto page = store.search({}, options); !page.empty(); page = store.search({}, options)) {
    paged += page.size();
    options.after = page.back().cursor;
  }
  EXPECT_EQ(paged, total);
}

}  // namespace
}  // namespace clew::store

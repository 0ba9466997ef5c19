#include <algorithm>
#include <random>
#include <thread>

#include "report.hpp"
#include "store/vector_index.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

using store::Hit;
using store::ItemId;
using store::VectorIndex;

constexpr std::size_t kWanted = 10;
constexpr int kQueries = 200;

// Where vectors lie: anywhere, or around some of them, as the texts of a program
// that has a few hundred subjects.
class Source {
 public:
  Source(std::size_t dims, bool is_clustered) : dims_(dims) {
    constexpr int kSubjects = 500;
    for (int i = 0; is_clustered && i < kSubjects; ++i) subjects_.push_back(any());
  }

  Embedder::Vector next() {
    Embedder::Vector vector = any();
    if (subjects_.empty()) return vector;
    const Embedder::Vector& subject = subjects_[random_() % subjects_.size()];
    for (std::size_t i = 0; i < dims_; ++i) vector[i] = subject[i] + kSpread * vector[i];
    return vector;
  }

 private:
  // Two texts of a subject have a cosine of about 0.6, others one of 0.
  static constexpr float kSpread = 0.8F;

  Embedder::Vector any() {
    Embedder::Vector vector(dims_);
    for (float& number : vector) number = normal_(random_);
    return vector;
  }

  std::size_t dims_;
  std::mt19937 random_{7};
  std::normal_distribution<float> normal_;
  std::vector<Embedder::Vector> subjects_;
};

struct Found {
  Times times = {};
  std::vector<std::vector<Hit>> hits = {};
};

Found search(const VectorIndex& index, const std::vector<Embedder::Vector>& queries) {
  Found found;
  found.times.measure([&] {
    for (const Embedder::Vector& query : queries) {
      found.hits.push_back(index.search(query, kWanted));
    }
  });
  return found;
}

double recall(const Found& found, const Found& exact) {
  std::size_t both = 0;
  for (std::size_t i = 0; i < exact.hits.size(); ++i) {
    for (const Hit& hit : exact.hits[i]) {
      both += static_cast<std::size_t>(std::ranges::count(found.hits[i], hit.id, &Hit::id));
    }
  }
  return static_cast<double>(both) / static_cast<double>(exact.hits.size() * kWanted);
}

void compare(const Options& options, const std::string& name, bool is_clustered) {
  const int count = options.n ? options.n : 100'000;
  Source source(static_cast<std::size_t>(options.dims ? options.dims : 384), is_clustered);
  VectorIndex exact_index(Distance::cosine, std::nullopt);
  VectorIndex graph_index(Distance::cosine, HnswOptions{.from = static_cast<std::size_t>(count)});
  const Stopwatch building;
  for (ItemId id = 0; id < count; ++id) {
    const Embedder::Vector vector = source.next();
    exact_index.put(id, {&vector, 1});
    graph_index.put(id, {&vector, 1});
  }
  while (!graph_index.has_graph()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double built_s = building.wall();

  std::vector<Embedder::Vector> queries;
  for (int i = 0; i < kQueries; ++i) queries.push_back(source.next());
  const Found exact = search(exact_index, queries);
  const Found found = search(graph_index, queries);
  emit({.workload = "exact_" + name, .backend = "memory", .n = kQueries, .times = exact.times});
  emit({.workload = "hnsw_" + name,
        .backend = "memory",
        .n = kQueries,
        .times = found.times,
        .extra = {{"recall_at_10", rounded(recall(found, exact), 4)},
                  {"built_s", rounded(built_s, 1)}}});
}

}  // namespace

void run_neighbours(const Options& options) {
  compare(options, "clustered", true);
  compare(options, "gaussian", false);
}

}  // namespace clew::bench

#include <charconv>
#include <random>

#include <clew/sqlite_store.hpp>
#include <clew/store.hpp>

#include "report.hpp"
#include "samples.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

constexpr int kNamespaces = 100;
constexpr int kCategories = 10;
constexpr int kBatch = 100;

// Standard-normal vectors, found by the number that a text begins with.
class StoredVectors {
 public:
  StoredVectors(int count, int dims) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    vectors_.resize(static_cast<std::size_t>(count));
    for (Embedder::Vector& vector : vectors_) {
      vector.resize(static_cast<std::size_t>(dims));
      for (float& number : vector) number = normal(random);
    }
  }

  const Embedder::Vector& of(std::string_view text) const {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return vectors_.at(number);
  }

 private:
  std::vector<Embedder::Vector> vectors_;
};

StoreOptions store_options(const Options& options, int items) {
  if (options.dims == 0) return {};
  constexpr int kQueries = 100;
  const auto vectors = std::make_shared<StoredVectors>(items + kQueries, options.dims);
  auto embedder = make_embedder([vectors](std::span<const std::string> texts) {
    std::vector<Embedder::Vector> found;
    for (const std::string& text : texts) found.push_back(vectors->of(text));
    return found;
  });
  return {.index = IndexOptions{.embed = std::move(embedder),
                                .dims = static_cast<std::size_t>(options.dims),
                                .fields = {"text"}}};
}

struct OpenStore {
  std::shared_ptr<Store> store;
  std::function<std::int64_t()> bytes_on_disk = {};  // empty: it is not on a disk
  std::function<std::uint64_t()> commits = [] { return std::uint64_t{0}; };
};

OpenStore open_file(const Options& options, const StoreOptions& store_options) {
  const auto folder = std::make_shared<Folder>(options);
  const bool is_full = options.backend != "sqlite_normal";
  const auto store = SqliteStore::open(
      folder->file("store.db"),
      {.index = store_options.index,
       .ttl = store_options.ttl,
       .synchronous = is_full ? SqliteSynchronous::full : SqliteSynchronous::normal});
  return {.store = store,
          .bytes_on_disk =
              [store, folder] {
                store->vacuum();
                return folder->bytes();
              },
          .commits = [store, folder] { return store->commits(); }};
}

OpenStore open_store(const Options& options, const StoreOptions& store_options) {
  if (options.backend == "sqlite" || options.backend == "sqlite_normal") {
    return open_file(options, store_options);
  }
  if (options.backend == "memory") {
    return {.store = std::make_shared<InMemoryStore>(store_options)};
  }
  throw UsageError("this build has no store '" + options.backend + "' yet");
}

StoreNamespace user(int i) { return {"users", "u" + std::to_string(i % kNamespaces)}; }

StoreNamespace memories(int i) {
  return {"users", "u" + std::to_string(i % kNamespaces), "memories"};
}

std::string key(int i) { return "k" + std::to_string(i); }

std::vector<Value> make_values(int count) {
  std::vector<Value> values;
  for (int i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    values.push_back({{"text", number + "|" + hexstr("s" + number, 100)},
                      {"category", i % kCategories},
                      {"n", i}});
  }
  return values;
}

// One repetition after another; each operation has its times.
class StoreWorkload {
 public:
  explicit StoreWorkload(const Options& options)
      : options_(options),
        count_(options.n ? options.n : 10'000),
        store_options_(store_options(options, count_)),
        values_(make_values(count_)) {}

  void run() {
    for (int i = 0; i < options_.repeat; ++i) {
      const OpenStore opened = open_store(options_, store_options_);
      put_and_get(*opened.store);
      search_with_filters(*opened.store);
      if (options_.dims > 0) {
        search_by_meaning(*opened.store);
      } else {
        put_batches();
      }
      if (opened.bytes_on_disk) disk_ = opened.bytes_on_disk();
    }
    emit_rows();
  }

 private:
  struct Measured {
    int n = 1;  // operations per repetition
    Times times = {};
  };

  template <class Operation>
  static void measure(Measured& measured, int n, const Operation& operation) {
    measured.n = n;
    measured.times.measure([&] {
      for (int i = 0; i < n; ++i) operation(i);
    });
  }

  void put_and_get(Store& store) {
    measure(put_, count_,
            [&](int i) { store.put(memories(i), key(i), values_[static_cast<std::size_t>(i)]); });
    std::optional<Item> item;
    measure(get_, count_, [&](int i) { item = store.get(memories(i), key(i)); });
    expect(item && item->value["n"] == Value(count_ - 1), "W8: the last item");
  }

  void search_with_filters(Store& store) {
    std::vector<SearchItem> found;
    measure(narrow_, kNamespaces, [&](int i) {
      found = store.search(user(i), {.filter = {{"category", i % kCategories}}});
    });
    expect(found.size() == 10, "W8: items of a narrow search");
    measure(broad_, 20, [&](int i) {
      found = store.search({"users"}, {.filter = {{"category", i % kCategories}}});
    });
    expect(found.size() == 10, "W8: items of a broad search");
  }

  void search_by_meaning(Store& store) {
    constexpr int kQueries = 10;
    std::vector<SearchItem> found;
    const auto query = [&](int i) { return std::to_string(count_ + i) + "|q"; };
    measure(semantic_, kQueries,
            [&](int i) { found = store.search({"users"}, {.query = query(i)}); });
    expect(found.size() == 10 && found[0].score, "W8: items found by meaning");
    measure(semantic_filter_, kQueries, [&](int i) {
      found = store.search({"users"}, {.query = query(i), .filter = {{"category", 3}}});
    });
    expect(found.size() == 10, "W8: items found by meaning and filter");
  }

  // Into a store of its own: a batch is one commit.
  void put_batches() {
    const OpenStore opened = open_store(options_, store_options_);
    const int batches = count_ / kBatch;
    const std::uint64_t before = opened.commits();
    measure(batch_, batches, [&](int batch) {
      std::vector<StoreOp> ops;
      for (int i = batch * kBatch; i < (batch + 1) * kBatch; ++i) {
        ops.emplace_back(PutOp{memories(i), key(i), values_[static_cast<std::size_t>(i)]});
      }
      opened.store->batch(ops);
    });
    commits_ = opened.commits() - before;
    expect(commits_ == 0 || commits_ == static_cast<std::uint64_t>(batches),
           "W8: a batch is one commit,");
  }

  void emit_rows() const {
    emit_row("put", put_, disk_);
    emit_row("get", get_);
    emit_row("search_narrow", narrow_);
    emit_row("search_broad", broad_);
    if (options_.dims > 0) {
      emit_row("semantic", semantic_);
      emit_row("semantic_filter", semantic_filter_);
    } else {
      emit_row("put_batch100", batch_, {}, object({{"commits", commits_}}));
    }
  }

  void emit_row(const std::string& name, const Measured& measured,
                std::optional<std::int64_t> bytes = {}, Value extra = object()) const {
    const std::string suffix = options_.dims > 0 ? "_vec" + std::to_string(options_.dims) : "";
    emit({.workload = "W8_" + name + suffix,
          .backend = options_.backend,
          .n = measured.n,
          .times = measured.times,
          .bytes_on_disk = bytes,
          .extra = std::move(extra)});
  }

  const Options& options_;
  const int count_;
  const StoreOptions store_options_;
  const std::vector<Value> values_;
  Measured put_, get_, narrow_, broad_, semantic_, semantic_filter_, batch_;
  std::optional<std::int64_t> disk_;
  std::uint64_t commits_ = 0;
};

}  // namespace

void run_w8_store(const Options& options) { StoreWorkload(options).run(); }

}  // namespace clew::bench

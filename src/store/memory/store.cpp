#include <clew/store.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include <clew/errors.hpp>

#include "store/filter.hpp"
#include "store/indexer.hpp"

namespace clew {

namespace {

// A direction, for the cosine.
struct Direction {
  Embedder::Vector vector;
  double norm = 0;
};

struct Entry {
  Item item;
  std::vector<Direction> index;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// The items of one namespace, in the order in which they were first stored.
struct Bucket {
  std::size_t ordinal = 0;
  std::list<Entry> entries;
  std::unordered_map<std::string, std::list<Entry>::iterator, TextHash, std::equal_to<>> by_key;
};

// By labels, so that what begins alike is together.
using Buckets = std::map<StoreNamespace, Bucket>;

// Finds a bucket in one step; the map alone would compare labels all the way down.
struct BucketHash {
  using is_transparent = void;
  std::size_t operator()(const StoreNamespace& ns) const {
    std::size_t hash = ns.size();
    for (const std::string& label : ns) hash = hash * 31 + TextHash()(label);
    return hash;
  }
  std::size_t operator()(Buckets::iterator bucket) const { return (*this)(bucket->first); }
};
struct BucketEqual {
  using is_transparent = void;
  bool operator()(Buckets::iterator a, Buckets::iterator b) const { return a == b; }
  bool operator()(const StoreNamespace& ns, Buckets::iterator bucket) const {
    return ns == bucket->first;
  }
  bool operator()(Buckets::iterator bucket, const StoreNamespace& ns) const {
    return ns == bucket->first;
  }
};

// Eight sums side by side, which the compiler turns into vector instructions.
float dot(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kLanes = 8;
  const std::size_t size = std::min(a.size(), b.size());
  float sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (; i < size; ++i) sum += a[i] * b[i];
  for (float lane : sums) sum += lane;
  return sum;
}

Direction direction_of(Embedder::Vector vector) {
  const double norm = std::sqrt(static_cast<double>(dot(vector, vector)));
  return {std::move(vector), norm};
}

double cosine(const Direction& a, const Direction& b) {
  const double norms = a.norm * b.norm;
  return norms == 0 ? 0 : dot(a.vector, b.vector) / norms;
}

// How near the nearest text of the entry is.
double score(const Entry& entry, const Direction& query) {
  double best = -std::numeric_limits<double>::infinity();
  for (const Direction& text : entry.index) {
    const double likeness = cosine(query, text);
    if (likeness > best) best = likeness;
  }
  return best;
}

SearchItem found_item(const Entry& entry, std::optional<double> score = {}) {
  SearchItem found;
  static_cast<Item&>(found) = entry.item;
  found.score = score;
  return found;
}

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// Without wrapping around.
std::size_t sum(std::size_t a, std::size_t b) { return b > kAll - a ? kAll : a + b; }

// The best first, then as many of the others as the limit leaves room for.
std::vector<SearchItem> best_items(std::span<const Entry* const> candidates, const Direction& query,
                                   const SearchOptions& options) {
  struct Ranked {
    double score;
    std::size_t order;
    const Entry* entry;
  };
  std::vector<Ranked> ranked;
  std::vector<const Entry*> unranked;
  for (const Entry* entry : candidates) {
    if (entry->index.empty()) {
      unranked.push_back(entry);
    } else {
      ranked.push_back({score(*entry, query), ranked.size(), entry});
    }
  }
  const std::size_t end = std::min(ranked.size(), sum(options.offset, options.limit));
  std::ranges::partial_sort(ranked, ranked.begin() + static_cast<std::ptrdiff_t>(end),
                            [](const Ranked& a, const Ranked& b) {
                              return a.score != b.score ? a.score > b.score : a.order < b.order;
                            });

  std::vector<SearchItem> found;
  for (std::size_t i = options.offset; i < end; ++i) {
    found.push_back(found_item(*ranked[i].entry, ranked[i].score));
  }
  for (const Entry* entry : unranked) {
    if (found.size() >= options.limit) break;
    found.push_back(found_item(*entry));
  }
  return found;
}

bool begins_with(const StoreNamespace& ns, const StoreNamespace& prefix) {
  return ns.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), ns.begin());
}

bool labels_match(std::span<const std::string> labels, const StoreNamespace& pattern) {
  return std::ranges::equal(labels, pattern,
                            [](const std::string& label, const std::string& wanted) {
                              return wanted == "*" || label == wanted;
                            });
}

bool is_wanted(const StoreNamespace& ns, const ListNamespacesOptions& options) {
  const std::span<const std::string> labels(ns);
  return ns.size() >= std::max(options.prefix.size(), options.suffix.size()) &&
         labels_match(labels.first(options.prefix.size()), options.prefix) &&
         labels_match(labels.last(options.suffix.size()), options.suffix);
}

void check_ttl(const PutOptions& options) {
  if (!options.ttl) return;
  throw BadArgumentError(
      "InMemoryStore keeps items for good; leave out the ttl, or use a store that supports it");
}

void check(const PutOp& put) {
  check_labels(put.namespace_);
  if (!put.value.is_object() && !put.value.is_null()) {
    throw ValueError("an item of a store is an object, found " + put.value.type_name());
  }
  check_ttl(put.options);
}
void check(const GetOp& get) { check_labels(get.namespace_); }
void check(const SearchOp& search) { check_labels(search.prefix); }
void check(const ListNamespacesOp& list) {
  check_labels(list.options.prefix);
  check_labels(list.options.suffix);
}

// The last put to each key, where the first one was.
std::vector<const PutOp*> last_puts(std::span<const StoreOp> ops) {
  std::vector<const PutOp*> puts;
  for (const StoreOp& op : ops) {
    if (const auto* put = std::get_if<PutOp>(&op)) puts.push_back(put);
  }
  if (puts.size() < 2) return puts;

  std::map<std::pair<StoreNamespace, std::string>, std::size_t> places;
  std::vector<const PutOp*> last;
  for (const PutOp* put : puts) {
    const auto [place, is_new] = places.try_emplace({put->namespace_, put->key}, last.size());
    if (is_new) last.push_back(nullptr);
    last[place->second] = put;
  }
  return last;
}

Item::Time now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

}  // namespace

struct InMemoryStore::Data {
  std::optional<store::Indexer> indexer;  // never changes

  std::shared_mutex mutex;
  Buckets buckets;
  std::unordered_set<Buckets::iterator, BucketHash, BucketEqual> by_namespace;
  std::size_t buckets_made = 0;

  std::vector<std::optional<Direction>> embed_queries(std::span<const StoreOp> ops) const {
    std::vector<std::optional<Direction>> queries(ops.size());
    for (std::size_t i = 0; indexer && i < ops.size(); ++i) {
      const auto* search = std::get_if<SearchOp>(&ops[i]);
      if (!search || search->options.query.empty()) continue;
      queries[i] = direction_of(indexer->embed_query(search->options.query));
    }
    return queries;
  }

  std::vector<StoreResult> read(std::span<const StoreOp> ops,
                                std::span<const std::optional<Direction>> queries) const {
    std::vector<StoreResult> results(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (const auto* op = std::get_if<GetOp>(&ops[i])) results[i] = get(op->namespace_, op->key);
      if (const auto* op = std::get_if<SearchOp>(&ops[i])) results[i] = search(*op, queries[i]);
      if (const auto* op = std::get_if<ListNamespacesOp>(&ops[i])) results[i] = list(op->options);
    }
    return results;
  }

  std::optional<Item> get(const StoreNamespace& ns, std::string_view key) const {
    const auto place = by_namespace.find(ns);
    if (place == by_namespace.end()) return std::nullopt;
    const Bucket& bucket = (*place)->second;
    const auto entry = bucket.by_key.find(key);
    if (entry == bucket.by_key.end()) return std::nullopt;
    return entry->second->item;
  }

  std::vector<const Bucket*> buckets_below(const StoreNamespace& prefix) const {
    std::vector<const Bucket*> below;
    for (auto bucket = buckets.lower_bound(prefix);
         bucket != buckets.end() && begins_with(bucket->first, prefix); ++bucket) {
      below.push_back(&bucket->second);
    }
    std::ranges::sort(below, {}, &Bucket::ordinal);
    return below;
  }

  // At most `limit` of them.
  std::vector<const Entry*> find(const SearchOp& op, std::size_t limit) const {
    std::vector<const Entry*> found;
    for (const Bucket* bucket : buckets_below(op.prefix)) {
      for (const Entry& entry : bucket->entries) {
        if (found.size() >= limit) return found;
        if (store::matches(entry.item.value, op.options.filter)) found.push_back(&entry);
      }
    }
    return found;
  }

  std::vector<SearchItem> search(const SearchOp& op, const std::optional<Direction>& query) const {
    const SearchOptions& options = op.options;
    if (query) return best_items(find(op, kAll), *query, options);

    const std::vector<const Entry*> entries = find(op, sum(options.offset, options.limit));
    std::vector<SearchItem> found;
    for (std::size_t i = options.offset; i < entries.size(); ++i) {
      found.push_back(found_item(*entries[i]));
    }
    return found;
  }

  std::vector<StoreNamespace> list(const ListNamespacesOptions& options) const {
    std::vector<StoreNamespace> listed;
    std::size_t seen = 0;
    const StoreNamespace* previous = nullptr;
    for (const auto& [ns, bucket] : buckets) {
      if (!is_wanted(ns, options)) continue;
      const std::size_t depth = std::min(options.max_depth.value_or(ns.size()), ns.size());
      const bool is_repeated =
          previous && previous->size() >= depth && options.max_depth &&
          std::equal(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(depth),
                     previous->begin());
      previous = &ns;
      if (is_repeated || seen++ < options.offset) continue;
      if (listed.size() >= options.limit) break;
      listed.emplace_back(ns.begin(), ns.begin() + static_cast<std::ptrdiff_t>(depth));
    }
    return listed;
  }

  Bucket& find_or_make(const StoreNamespace& ns) {
    const auto place = by_namespace.find(ns);
    if (place != by_namespace.end()) return (*place)->second;
    const auto bucket = buckets.try_emplace(ns).first;
    bucket->second.ordinal = buckets_made++;
    by_namespace.insert(bucket);
    return bucket->second;
  }

  void put(const StoreNamespace& ns, std::string_view key, const Value& value,
           std::vector<store::IndexedText> index, Item::Time time) {
    Bucket& bucket = find_or_make(ns);
    auto place = bucket.by_key.find(key);
    if (place == bucket.by_key.end()) {
      const auto entry = bucket.entries.emplace(bucket.entries.end());
      place = bucket.by_key.emplace(key, entry).first;
      entry->item.key = key;
      entry->item.namespace_ = ns;
    }
    Entry& entry = *place->second;
    entry.item.value = value;
    entry.item.created_at = entry.item.updated_at = time;
    entry.index.clear();
    for (store::IndexedText& text : index) {
      entry.index.push_back(direction_of(std::move(text.vector)));
    }
  }

  void erase(const PutOp& op) {
    const auto bucket = buckets.find(op.namespace_);
    if (bucket == buckets.end()) return;
    const auto entry = bucket->second.by_key.find(op.key);
    if (entry == bucket->second.by_key.end()) return;
    bucket->second.entries.erase(entry->second);
    bucket->second.by_key.erase(entry);
    if (!bucket->second.entries.empty()) return;
    by_namespace.erase(bucket);
    buckets.erase(bucket);
  }
};

InMemoryStore::InMemoryStore() : data_(std::make_unique<Data>()) {}

InMemoryStore::InMemoryStore(IndexOptions index) : InMemoryStore() {
  data_->indexer.emplace(index);
}

InMemoryStore::~InMemoryStore() = default;

std::optional<Item> InMemoryStore::get_checked(const StoreNamespace& ns, std::string_view key,
                                               std::optional<bool>) {
  const std::shared_lock lock(data_->mutex);
  return data_->get(ns, key);
}

void InMemoryStore::put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                                const PutOptions& options) {
  if (data_->indexer) return Store::put_checked(ns, key, std::move(value), options);
  check_ttl(options);
  const Item::Time time = now();
  const std::scoped_lock lock(data_->mutex);
  data_->put(ns, key, value, {}, time);
}

std::vector<StoreResult> InMemoryStore::batch(std::span<const StoreOp> ops) {
  for (const StoreOp& op : ops) {
    std::visit([](const auto& known) { check(known); }, op);
  }
  // Embedders may take long: they are asked before the lock is taken.
  const std::vector<std::optional<Direction>> queries = data_->embed_queries(ops);
  const std::vector<const PutOp*> puts = last_puts(ops);
  std::vector<std::vector<store::IndexedText>> index(puts.size());
  if (data_->indexer) index = data_->indexer->index(puts);

  if (puts.empty()) {
    const std::shared_lock lock(data_->mutex);
    return data_->read(ops, queries);
  }
  const std::scoped_lock lock(data_->mutex);
  std::vector<StoreResult> results = data_->read(ops, queries);
  const Item::Time time = now();
  for (std::size_t i = 0; i < puts.size(); ++i) {
    if (puts[i]->value.is_null()) {
      data_->erase(*puts[i]);
    } else {
      data_->put(puts[i]->namespace_, puts[i]->key, puts[i]->value, std::move(index[i]), time);
    }
  }
  return results;
}

}  // namespace clew

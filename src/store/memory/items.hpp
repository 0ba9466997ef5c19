// The items of an InMemoryStore, in their order and by their names.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <clew/store.hpp>

#include "store/vector_index.hpp"

namespace clew::store {

struct Bucket;

// An item but for its key, which stands before it in the map of its bucket.
// Small, for there are many, and what get() needs comes first.
struct Entry {
  Value value;
  Item::Time time;  // of the last put
  Bucket* bucket = nullptr;
  const std::string* key = nullptr;
  Entry* next = nullptr;  // in the order in which items were first stored
  Entry* previous = nullptr;
  ItemId id = 0;              // ascending in that order
  std::uint64_t version = 0;  // another one after every put
  // PutOptions::index; null: those of the store.
  std::unique_ptr<const std::vector<std::string>> index;
  std::chrono::milliseconds ttl = kNoTtl;
  Item::Time expires_at;

  Item item() const;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

// The items of one namespace.
struct Bucket {
  const StoreNamespace* namespace_ = nullptr;
  std::int64_t ordinal = 0;
  Entry* first = nullptr;
  Entry* last = nullptr;
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> by_key;

  void append(Entry& entry);
  void unlink(Entry& entry);
};

class Items {
 public:
  // By labels, so that what begins alike is together.
  using Buckets = std::map<StoreNamespace, Bucket>;

  std::size_t size() const { return size_; }
  const Buckets& buckets() const { return buckets_; }

  // In the order of the first items.
  std::vector<Bucket*> buckets_below(const StoreNamespace& prefix);

  // Null if there is none.
  Entry* find(const StoreNamespace& ns, std::string_view key);
  Entry& find_or_make(const StoreNamespace& ns, std::string_view key);
  void erase(Entry& entry);

  // The entry lives for `ttl` from `time` on; for good with kNoTtl.
  void set_ttl(Entry& entry, std::chrono::milliseconds ttl, Item::Time time);
  bool has_expired() const;
  // Null if there is none.
  Entry* find_expired(Item::Time time);

 private:
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

  Bucket& find_or_make_bucket(const StoreNamespace& ns);

  Buckets buckets_;
  std::unordered_set<Buckets::iterator, BucketHash, BucketEqual> by_namespace_;
  std::set<std::pair<Item::Time, Entry*>> expiries_;
  std::size_t size_ = 0;
  std::int64_t buckets_made_ = 0;
  ItemId entries_made_ = 0;
};

}  // namespace clew::store

// The items of an InMemoryStore, in their order and by their names.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <clew/store.hpp>

#include "store/vector_index.hpp"

namespace clew::store {

struct Bucket;

// An item. Small, for there are many, and what get() needs comes first.
struct Entry {
  std::string key;
  Value value;
  Item::Time time;  // of the last put
  Bucket* bucket = nullptr;
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

// Entries by key. Each stands in the slot that its hash says or in the next free one
// behind it, so that a search looks at one place in memory and then at the entry;
// std::unordered_map goes through two more.
class EntryTable {
 public:
  bool empty() const { return size_ == 0; }

  // Null if there is none.
  Entry* find(std::string_view key) const;
  // The key is not there yet.
  Entry& insert(std::string_view key);
  void erase(const Entry& entry);

 private:
  struct Slot {
    std::size_t hash = 0;
    std::unique_ptr<Entry> entry;
  };

  std::size_t after(std::size_t place) const { return (place + 1) & (slots_.size() - 1); }
  Slot& free_slot(std::size_t hash);
  void grow();

  std::vector<Slot> slots_;  // a power of two, at least a quarter of them free; or none
  std::size_t size_ = 0;
};

// The items of one namespace.
struct Bucket {
  const StoreNamespace* namespace_ = nullptr;
  std::int64_t ordinal = 0;
  Entry* first = nullptr;
  Entry* last = nullptr;
  EntryTable by_key;

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
      return std::hash<StoreNamespace>()(ns);
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

#include "store/memory/items.hpp"

#include <algorithm>

#include "store/operations.hpp"

namespace clew::store {

Item Entry::item() const { return {value, key, *bucket->namespace_, time, time}; }

// By key ------------------------------------------------------------------------

Entry* EntryTable::find(std::string_view key) const {
  if (slots_.empty()) return nullptr;
  const std::size_t hash = std::hash<std::string_view>()(key);
  for (std::size_t place = hash & (slots_.size() - 1);; place = after(place)) {
    const Slot& slot = slots_[place];
    if (!slot.entry) return nullptr;
    if (slot.hash == hash && slot.entry->key == key) return slot.entry.get();
  }
}

Entry& EntryTable::insert(std::string_view key) {
  if (4 * (size_ + 1) > 3 * slots_.size()) grow();
  const std::size_t hash = std::hash<std::string_view>()(key);
  Slot& slot = free_slot(hash);
  slot.hash = hash;
  slot.entry = std::make_unique<Entry>();
  slot.entry->key = key;
  ++size_;
  return *slot.entry;
}

EntryTable::Slot& EntryTable::free_slot(std::size_t hash) {
  std::size_t place = hash & (slots_.size() - 1);
  while (slots_[place].entry) place = after(place);
  return slots_[place];
}

void EntryTable::grow() {
  std::vector<Slot> old(std::max<std::size_t>(4, 2 * slots_.size()));
  old.swap(slots_);
  for (Slot& slot : old) {
    if (slot.entry) free_slot(slot.hash) = std::move(slot);
  }
}

// What stands behind it up to the next free slot finds its place anew, as a search
// ends at a free slot.
void EntryTable::erase(const Entry& entry) {
  std::size_t place = std::hash<std::string_view>()(entry.key) & (slots_.size() - 1);
  while (slots_[place].entry.get() != &entry) place = after(place);
  slots_[place].entry.reset();
  --size_;
  for (place = after(place); slots_[place].entry; place = after(place)) {
    Slot moved = std::move(slots_[place]);
    free_slot(moved.hash) = std::move(moved);
  }
}

// In order ----------------------------------------------------------------------

void Bucket::append(Entry& entry) {
  entry.bucket = this;
  entry.previous = last;
  (last ? last->next : first) = &entry;
  last = &entry;
}

void Bucket::unlink(Entry& entry) {
  (entry.previous ? entry.previous->next : first) = entry.next;
  (entry.next ? entry.next->previous : last) = entry.previous;
}

std::vector<Bucket*> Items::buckets_below(const StoreNamespace& prefix) {
  std::vector<Bucket*> below;
  for (auto bucket = buckets_.lower_bound(prefix);
       bucket != buckets_.end() && bucket->first.starts_with(prefix); ++bucket) {
    below.push_back(&bucket->second);
  }
  std::ranges::sort(below, {}, &Bucket::ordinal);
  return below;
}

Entry* Items::find(const StoreNamespace& ns, std::string_view key) {
  const auto place = by_namespace_.find(ns);
  if (place == by_namespace_.end()) return nullptr;
  return (*place)->second.by_key.find(key);
}

Entry& Items::find_or_make(const StoreNamespace& ns, std::string_view key) {
  Bucket& bucket = find_or_make_bucket(ns);
  if (Entry* found = bucket.by_key.find(key)) return *found;
  Entry& entry = bucket.by_key.insert(key);
  entry.id = ++entries_made_;
  bucket.append(entry);
  ++size_;
  return entry;
}

Bucket& Items::find_or_make_bucket(const StoreNamespace& ns) {
  const auto place = by_namespace_.find(ns);
  if (place != by_namespace_.end()) return (*place)->second;
  const auto bucket = buckets_.try_emplace(ns).first;
  bucket->second.namespace_ = &bucket->first;
  bucket->second.ordinal = buckets_made_++;
  by_namespace_.insert(bucket);
  return bucket->second;
}

void Items::erase(Entry& entry) {
  set_ttl(entry, kNoTtl, {});
  Bucket& bucket = *entry.bucket;
  bucket.unlink(entry);
  bucket.by_key.erase(entry);
  --size_;
  if (!bucket.by_key.empty()) return;
  const auto emptied = buckets_.find(*bucket.namespace_);
  by_namespace_.erase(emptied);
  buckets_.erase(emptied);
}

void Items::set_ttl(Entry& entry, std::chrono::milliseconds ttl, Item::Time time) {
  if (entry.ttl != kNoTtl) expiries_.erase({entry.expires_at, &entry});
  entry.ttl = ttl;
  if (ttl == kNoTtl) return;
  entry.expires_at = expiry(time, ttl);
  expiries_.emplace(entry.expires_at, &entry);
}

bool Items::has_expired() const { return !expiries_.empty() && expiries_.begin()->first <= now(); }

Entry* Items::find_expired(Item::Time time) {
  if (expiries_.empty() || expiries_.begin()->first > time) return nullptr;
  return expiries_.begin()->second;
}

}  // namespace clew::store

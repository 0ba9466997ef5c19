#include "store/memory/items.hpp"

#include <algorithm>

#include "store/operations.hpp"

namespace clew::store {

Item Entry::item() const { return {value, *key, *bucket->namespace_, time, time}; }

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
       bucket != buckets_.end() && begins_with(bucket->first, prefix); ++bucket) {
    below.push_back(&bucket->second);
  }
  std::ranges::sort(below, {}, &Bucket::ordinal);
  return below;
}

Entry* Items::find(const StoreNamespace& ns, std::string_view key) {
  const auto place = by_namespace_.find(ns);
  if (place == by_namespace_.end()) return nullptr;
  Bucket& bucket = (*place)->second;
  const auto entry = bucket.by_key.find(key);
  return entry == bucket.by_key.end() ? nullptr : &entry->second;
}

Entry& Items::find_or_make(const StoreNamespace& ns, std::string_view key) {
  Bucket& bucket = find_or_make_bucket(ns);
  const auto found = bucket.by_key.find(key);
  if (found != bucket.by_key.end()) return found->second;
  auto& [stored_key, entry] = *bucket.by_key.try_emplace(std::string(key)).first;
  entry.key = &stored_key;
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
  bucket.by_key.erase(bucket.by_key.find(*entry.key));
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

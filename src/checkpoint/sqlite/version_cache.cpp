#include "checkpoint/sqlite/version_cache.hpp"

namespace clew::sqlite {
namespace {

// The entry itself, with the names in it.
constexpr std::size_t kOverhead = 512;

std::size_t size_of(const Lineage& lineage) {
  std::size_t bytes = kOverhead + lineage.checkpoint.bytes();
  for (const auto& [channel, chain] : lineage.channels) bytes += chain.bytes() + kOverhead / 2;
  return bytes;
}

}  // namespace

// Neither part can be taken for the other: the length of the first comes before it.
std::string VersionCache::place_of(const CheckpointKey& key) {
  return std::to_string(key.thread_id.size()) + ":" + key.thread_id + key.checkpoint_ns;
}

VersionCache::Entries::iterator VersionCache::find(const CheckpointKey& key) {
  const auto found = by_place_.find(place_of(key));
  if (found == by_place_.end()) return entries_.end();
  if (found->second->lineage.checkpoint_id != key.checkpoint_id) return entries_.end();
  return found->second;
}

std::optional<Lineage> VersionCache::take(const CheckpointKey& key) {
  const std::lock_guard lock(mutex_);
  const auto entry = find(key);
  if (entry == entries_.end()) return std::nullopt;
  Lineage lineage = std::move(entry->lineage);
  erase(entry);
  return lineage;
}

std::optional<VersionCache::Known> VersionCache::look(const CheckpointKey& key) {
  const std::lock_guard lock(mutex_);
  const auto entry = find(key);
  if (entry == entries_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, entry);
  const Lineage& lineage = entry->lineage;
  const Value& checkpoint = lineage.checkpoint.value();
  ObjectBuilder values;
  for (auto [channel, version] : checkpoint["channel_versions"].items()) {
    if (const Value* trigger = checkpoint["triggers"].find(channel)) {
      values.set(channel, *trigger);
      continue;
    }
    const auto chain = lineage.channels.find(std::string(channel));
    if (chain != lineage.channels.end()) values.set(channel, chain->second.value());
  }
  return Known{checkpoint, std::move(values).build()};
}

void VersionCache::remember(const CheckpointKey& key, Lineage lineage) {
  Entry entry{key.thread_id, place_of(key), std::move(lineage), 0};
  entry.bytes = size_of(entry.lineage);
  const std::lock_guard lock(mutex_);
  if (const auto found = by_place_.find(entry.place); found != by_place_.end()) {
    erase(found->second);
  }
  bytes_ += entry.bytes;
  entries_.push_front(std::move(entry));
  by_place_.emplace(entries_.front().place, entries_.begin());
  while (bytes_ > kMaxBytes && entries_.size() > 1) erase(std::prev(entries_.end()));
}

void VersionCache::forget_thread(std::string_view thread_id) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto current = entry++;
    if (current->thread_id == thread_id) erase(current);
  }
}

void VersionCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  by_place_.clear();
  bytes_ = 0;
}

void VersionCache::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_place_.erase(entry->place);
  entries_.erase(entry);
}

}  // namespace clew::sqlite

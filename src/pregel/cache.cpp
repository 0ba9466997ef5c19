#include <clew/cache.hpp>

namespace clew {

std::optional<std::vector<ChannelWrite>> InMemoryCache::get(std::string_view ns,
                                                            std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto results = entries_.find(std::string(ns));
  if (results == entries_.end()) return std::nullopt;
  const auto entry = results->second.find(std::string(key));
  if (entry == results->second.end()) return std::nullopt;
  if (entry->second.expiry && *entry->second.expiry <= std::chrono::steady_clock::now()) {
    results->second.erase(entry);
    return std::nullopt;
  }
  return entry->second.writes;
}

void InMemoryCache::set(std::string_view ns, std::string_view key, std::vector<ChannelWrite> writes,
                        std::optional<std::chrono::seconds> ttl) {
  Entry entry{std::move(writes), std::nullopt};
  if (ttl) entry.expiry = std::chrono::steady_clock::now() + *ttl;
  const std::lock_guard lock(mutex_);
  entries_[std::string(ns)].insert_or_assign(std::string(key), std::move(entry));
}

void InMemoryCache::clear(std::string_view ns) {
  const std::lock_guard lock(mutex_);
  entries_.erase(std::string(ns));
}

}  // namespace clew

#include "checkpoint/sqlite/checkpoint_cache.hpp"

namespace clew::sqlite {

CheckpointCache::Row CheckpointCache::look(const CheckpointKey& key, const Era& era) {
  const auto known = rows_.look(key, [](const Known& found) { return found; });
  return known && era.contains(known->transaction) ? known->row : nullptr;
}

void CheckpointCache::store(const CheckpointKey& place, std::string_view checkpoint_id, Row row,
                            std::uint64_t transaction) {
  const std::lock_guard lock(mutex_);
  last_change_ = transaction;
  remember(place, checkpoint_id, std::move(row), transaction);
}

void CheckpointCache::change(const CheckpointKey& place, std::uint64_t transaction) {
  const std::lock_guard lock(mutex_);
  last_change_ = transaction;
  rows_.forget(place);
}

// What a later transaction has changed meanwhile, be it committed or not, is not taken back.
void CheckpointCache::read(const CheckpointKey& key, Row row, std::uint64_t transaction) {
  const std::lock_guard lock(mutex_);
  if (transaction < last_change_) return;
  remember(key, key.checkpoint_id, std::move(row), transaction);
}

void CheckpointCache::remember(const CheckpointKey& place, std::string_view checkpoint_id, Row row,
                               std::uint64_t transaction) {
  const std::size_t bytes = row->bytes;
  rows_.remember(place, checkpoint_id, {std::move(row), transaction}, bytes);
}

}  // namespace clew::sqlite

#include "checkpoint/sqlite/version_cache.hpp"

namespace clew::sqlite {
namespace {

// A chain itself, with its name.
constexpr std::size_t kOverhead = 256;

std::size_t size_of(const Lineage& lineage) {
  std::size_t bytes = lineage.checkpoint.bytes();
  for (const auto& [channel, chain] : lineage.channels) bytes += chain.bytes() + kOverhead;
  return bytes;
}

VersionCache::Known newest_of(const Lineage& lineage) {
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
  return {checkpoint, std::move(values).build()};
}

}  // namespace

std::optional<VersionCache::Known> VersionCache::look(const CheckpointKey& key) {
  return lineages_.look(key, newest_of);
}

void VersionCache::remember(const CheckpointKey& place, std::string_view checkpoint_id,
                            Lineage lineage) {
  const std::size_t bytes = size_of(lineage);
  lineages_.remember(place, checkpoint_id, std::move(lineage), bytes);
}

}  // namespace clew::sqlite

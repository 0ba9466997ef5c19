// Removing from a namespace so that the rest stays whole, and its size.
#include <algorithm>

#include <clew/extension.hpp>

#include "checkpoint/memory/namespace.hpp"

namespace clew::memory {

using internal::CheckpointFacts;
using internal::Retention;
using internal::stored_form;
using internal::StoredValue;

namespace {

// Bytes of text and 16 for each value.
std::uint64_t estimated_size(const Value& root) {
  std::uint64_t bytes = 0;
  std::vector<Value> pending{root};
  while (!pending.empty()) {
    const Value value = std::move(pending.back());
    pending.pop_back();
    bytes += sizeof(Value);
    switch (value.kind()) {
      case Kind::string: bytes += value.as_string().size(); break;
      case Kind::bytes: bytes += value.as_bytes().size(); break;
      case Kind::list:
        for (const Value& element : value) pending.push_back(element);
        break;
      case Kind::object:
        for (auto [key, element] : value.items()) {
          bytes += key.size();
          pending.push_back(element);
        }
        break;
      case Kind::map:
        for (auto& [key, element] : value.as_map()) {
          pending.push_back(key);
          pending.push_back(element);
        }
        break;
      case Kind::extension:
        if (!detail::wrapped_type(value)) pending.push_back(value.as_extension().payload);
        break;
      default: break;
    }
  }
  return bytes;
}

}  // namespace

void Namespace::prune(const PruneOptions& options) {
  const Retention retention = this->retention();
  retain(retention.after_prune(options, [this](std::string_view id) {
    return records_.find(id)->second.writes.has_open_interrupt();
  }));
}

void Namespace::delete_for_runs(std::span<const std::string> run_ids) {
  const Retention retention = this->retention();
  retain(retention.after_deleting_runs(run_ids));
}

Retention Namespace::retention() const {
  std::vector<CheckpointFacts> facts;
  for (const auto& [id, record] : records_) {
    if (!record.is_stored) continue;
    facts.push_back(
        {id, record.parent_id, record.v, record.ts, record.metadata, record.channel_versions});
  }
  return Retention(std::move(facts), [this](std::string_view id, std::string_view channel) {
    const Value* value = stored_value(*find(id), channel);
    return value ? stored_form(*value) : StoredValue::none;
  });
}

void Namespace::retain(const Retention::Ids& kept) {
  if (kept.size() == checkpoint_count()) return;
  const std::string newest_id(head());
  for (std::string_view id : kept) resolve(records_.find(id)->second);
  for (std::string_view id : kept) {
    Record& record = records_.find(id)->second;
    if (!kept.contains(record.parent_id)) record.parent_id.clear();
  }
  std::erase_if(records_, [&](const auto& entry) {
    // Writes may arrive before their checkpoint, which is then the next newest.
    const bool is_awaited = !entry.second.is_stored && entry.first > newest_id;
    return !is_awaited && !kept.contains(entry.first);
  });
  blobs_ = BlobTable();
  for (const auto& [id, record] : records_) blobs_.add(record.new_versions, record.values);
}

std::size_t Namespace::checkpoint_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(records_, [](const auto& entry) { return entry.second.is_stored; }));
}

ThreadSize Namespace::size() {
  ThreadSize size;
  std::set<std::pair<std::string_view, Value>> counted;
  for (auto& [id, record] : records_) {
    for (const PendingWrite& write : record.writes.list()) {
      ++size.writes;
      size.write_bytes += estimated_size(write.value);
    }
    if (!record.is_stored) continue;
    ++size.checkpoints;
    size.bytes += estimated_size(record.metadata) + estimated_size(record.channel_versions) +
                  estimated_size(record.versions_seen);
    for (auto [channel, version] : record.channel_versions.items()) {
      const Value* value = stored_value(record, channel);
      if (!value || !counted.emplace(channel, version).second) continue;
      ++size.values;
      size.value_bytes += estimated_size(*value);
    }
  }
  size.bytes += size.write_bytes + size.value_bytes;
  return size;
}

}  // namespace clew::memory

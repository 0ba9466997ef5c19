// What may go from a namespace, and removing it so that the rest stays whole.
#include <algorithm>
#include <unordered_set>

#include <clew/extension.hpp>

#include "checkpoint/delta_counters.hpp"
#include "checkpoint/memory/namespace.hpp"

namespace clew::memory {

namespace {

using internal::kDeltaCounters;

// Older layouts keep the Sends of a step with its parent's writes.
constexpr int kFirstLayoutWithSends = 4;

bool is_delta_snapshot(const Value& value) {
  return value.is_extension() && value.as_extension().code == ExtensionCode::delta_snapshot;
}

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

Namespace::Ids Namespace::worth_keeping(const PruneOptions& options) {
  Ids kept;
  for (auto entry = records_.rbegin(); entry != records_.rend(); ++entry) {
    if (kept.size() == options.keep) break;
    if (entry->second.is_stored) kept.insert(entry->first);
  }
  for (std::string_view id : branch_ends()) {
    Record& record = records_.find(id)->second;
    if (options.keep_branches || record.writes.has_open_interrupt()) kept.insert(id);
  }
  return kept;
}

Namespace::Ids Namespace::branch_ends() const {
  Ids ends;
  std::unordered_set<std::string_view> parents;
  for (const auto& [id, record] : records_) {
    if (!record.is_stored) continue;
    ends.insert(id);
    parents.insert(record.parent_id);
  }
  std::erase_if(ends, [&](std::string_view id) { return parents.contains(id); });
  return ends;
}

Namespace::Ids Namespace::of_other_runs(std::span<const std::string> run_ids) const {
  Ids kept;
  for (const auto& [id, record] : records_) {
    const Value& run_id = record.metadata["run_id"];
    const bool is_of_run =
        run_id.is_string() && std::ranges::find(run_ids, run_id.as_string()) != run_ids.end();
    if (record.is_stored && !is_of_run) kept.insert(id);
  }
  return kept;
}

void Namespace::retain(Ids kept) {
  const std::string newest_id(head());
  const bool has_deltas = std::ranges::any_of(
      records_, [](const auto& entry) { return entry.second.metadata.contains(kDeltaCounters); });
  for (std::string_view id : Ids(kept)) {
    const Record& record = *find(id);
    const auto parent = records_.find(record.parent_id);
    const bool has_parent = parent != records_.end() && parent->second.is_stored;
    if (record.v < kFirstLayoutWithSends && has_parent) kept.insert(parent->first);
  }
  if (has_deltas) keep_delta_ancestors(kept);
  if (kept.size() == checkpoint_count()) return;

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

// A checkpoint that is kept for another's sake can still be asked for, so it
// needs its own ancestors too.
void Namespace::keep_delta_ancestors(Ids& kept) const {
  std::vector<std::string_view> unchecked(kept.begin(), kept.end());
  while (!unchecked.empty()) {
    const Record& record = *find(unchecked.back());
    unchecked.pop_back();
    for (std::string_view id : delta_ancestors(record)) {
      if (kept.insert(id).second) unchecked.push_back(id);
    }
  }
}

// A delta channel has a version and no value: it is rebuilt from the nearest
// ancestor that stores one and the writes on the way.
Namespace::Ids Namespace::delta_ancestors(const Record& record) const {
  Ids ancestors;
  for (auto [channel, version] : record.channel_versions.items()) {
    if (stored_value(record, channel)) continue;
    bool is_delta = record.metadata[kDeltaCounters].contains(channel);
    std::vector<std::string_view> path;
    std::unordered_set<const Record*> visited;
    for (const Record* current = &record; visited.insert(current).second;) {
      const auto parent = records_.find(current->parent_id);
      if (parent == records_.end() || !parent->second.is_stored) break;
      current = &parent->second;
      path.push_back(parent->first);
      is_delta = is_delta || current->metadata[kDeltaCounters].contains(channel);
      if (const Value* stored = stored_value(*current, channel)) {
        is_delta = is_delta || is_delta_snapshot(*stored);
        break;
      }
    }
    if (is_delta) ancestors.insert(path.begin(), path.end());
  }
  return ancestors;
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
      size.bytes += estimated_size(write.value);
    }
    if (!record.is_stored) continue;
    ++size.checkpoints;
    size.bytes += estimated_size(record.metadata) + estimated_size(record.channel_versions) +
                  estimated_size(record.versions_seen);
    for (auto [channel, version] : record.channel_versions.items()) {
      const Value* value = stored_value(record, channel);
      if (!value || !counted.emplace(channel, version).second) continue;
      ++size.values;
      size.bytes += estimated_size(*value);
    }
  }
  return size;
}

}  // namespace clew::memory

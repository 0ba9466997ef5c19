#include "checkpoint/memory/namespace.hpp"

#include <algorithm>
#include <unordered_set>

#include "checkpoint/thread_query.hpp"
#include "value/object.hpp"

namespace clew::memory {

void BlobTable::add(const Value& versions, const Value& values) {
  // All channels of a step get one version, so this is nearly always one entry.
  const Value* previous = nullptr;
  for (auto [channel, version] : versions.items()) {
    if (previous && same(*previous, version)) continue;
    previous = &version;
    add(version, versions, values);
  }
}

void BlobTable::add(const Value& version, const Value& versions, const Value& values) {
  const auto [entry, is_new] = by_version_.try_emplace(version);
  Blobs& blobs = entry->second;
  const bool is_repeated = !is_new && same(blobs.versions, versions) && same(blobs.values, values);
  if (is_repeated) return;
  if (!is_new) blobs.older = std::make_shared<const Blobs>(std::move(blobs));
  blobs.versions = versions;
  blobs.values = values;
}

const BlobTable::Blobs* BlobTable::find(const Value& version) const {
  const auto entry = by_version_.find(version);
  return entry == by_version_.end() ? nullptr : &entry->second;
}

Namespace::Records::const_iterator Namespace::newest_entry() const {
  for (auto record = records_.end(); record != records_.begin();) {
    if ((--record)->second.is_stored) return record;
  }
  return records_.end();
}

std::string_view Namespace::head() const {
  const auto entry = newest_entry();
  return entry == records_.end() ? std::string_view() : std::string_view(entry->first);
}

void Namespace::put(const CheckpointPut& put) {
  const Checkpoint& checkpoint = put.checkpoint;
  // Nearly all are the newest, and then the hint saves the search.
  Record& record = records_.try_emplace(records_.end(), checkpoint.id)->second;
  record.is_stored = true;
  record.is_resolved = false;
  record.v = checkpoint.v;
  record.parent_id = put.key.checkpoint_id;
  record.ts = checkpoint.ts;
  record.values = checkpoint.channel_values;
  record.new_versions = put.new_versions;
  record.channel_versions = checkpoint.channel_versions;
  record.versions_seen = checkpoint.versions_seen;
  record.updated_channels = checkpoint.updated_channels;
  record.metadata = put.metadata;
  blobs_.add(put.new_versions, checkpoint.channel_values);
}

void Namespace::put_writes(const WritesPut& put) {
  auto record = records_.find(put.key.checkpoint_id);
  if (record == records_.end()) record = records_.try_emplace(put.key.checkpoint_id).first;
  record->second.writes.add(put);
}

std::size_t Namespace::count_writes(std::string_view checkpoint_id) {
  const auto record = records_.find(checkpoint_id);
  if (record == records_.end()) return 0;
  std::size_t count = 0;
  for (const auto& task : record->second.writes.settled()) count += task.writes.size();
  return count;
}

std::optional<CheckpointTuple> Namespace::get(const CheckpointKey& key) {
  std::optional<CheckpointTuple> found;
  const auto entry =
      key.checkpoint_id.empty() ? changeable(newest_entry()) : records_.find(key.checkpoint_id);
  if (entry == records_.end() || !entry->second.is_stored) return found;
  fill(found.emplace(), key, entry->first, entry->second);
  return found;
}

void Namespace::list(const CheckpointKey& place, const ListOptions& options,
                     std::vector<CheckpointTuple>& found) {
  auto oldest_excluded =
      options.before.empty() ? records_.end() : records_.lower_bound(options.before);
  if (options.limit) found.reserve(std::min(*options.limit, found.size() + records_.size()));
  for (auto entry = std::make_reverse_iterator(oldest_excluded); entry != records_.rend();
       ++entry) {
    if (options.limit && found.size() >= *options.limit) return;
    auto& [id, record] = *entry;
    if (!record.is_stored) continue;
    if (!internal::matches_metadata(record.metadata, options.filter)) continue;
    fill(found.emplace_back(), place, id, record);
  }
}

void Namespace::fill(CheckpointTuple& tuple, const CheckpointKey& place, const std::string& id,
                     Record& record) {
  if (!record.is_resolved) resolve(record);
  tuple.key.thread_id = place.thread_id;
  tuple.key.checkpoint_ns = place.checkpoint_ns;
  tuple.key.checkpoint_id = id;
  tuple.checkpoint.v = record.v;
  tuple.checkpoint.id = id;
  tuple.checkpoint.ts = record.ts;
  tuple.checkpoint.channel_values = record.values;
  tuple.checkpoint.channel_versions = record.channel_versions;
  tuple.checkpoint.versions_seen = record.versions_seen;
  tuple.checkpoint.updated_channels = record.updated_channels;
  tuple.metadata = record.metadata;
  tuple.parent_id = record.parent_id;
  tuple.pending_writes = record.writes.list();
}

// Finds all values of the checkpoint, after which the record holds them itself.
// If put() was given exactly those, that object is shared.
void Namespace::resolve(Record& record) const {
  const std::size_t count = record.channel_versions.items().size();  // throws if it is no object
  std::vector<std::pair<std::string_view, const Value*>> found;
  found.reserve(count);
  Value known = record.channel_versions;
  bool is_as_given = record.values.is_object();
  const detail::Node* versions = ValueAccess::node(record.channel_versions);
  detail::KeyFinder own_versions(record.new_versions);
  detail::KeyFinder own_values(record.values);
  for (std::size_t i = 0; i < count; ++i) {
    const Value& key = detail::object_key(versions, i);
    const Value& version = detail::object_value(versions, i);
    const std::string_view channel = key.as_string();
    const Value* own = own_versions.find(key);
    const Value* given = own_values.find(key);
    const auto value = own && *own == version ? given : value_of_others(record, channel, version);
    if (!value) known = known.erase(channel);
    if (!value || !*value) continue;
    is_as_given = is_as_given && given && same(*given, **value);
    found.emplace_back(channel, *value);
  }
  if (!is_as_given || found.size() != record.values.size()) {
    ObjectBuilder values;
    for (const auto& [channel, value] : found) values.set(channel, *value);
    record.values = std::move(values).build();
  }
  // A value that is not here yet may come with a later put.
  record.is_resolved = known.size() == record.channel_versions.size();
  record.new_versions = std::move(known);
}

// What the record's checkpoint holds in `channel`, or nullptr.
const Value* Namespace::stored_value(const Record& record, std::string_view channel) const {
  const Value* version = record.channel_versions.find(channel);
  return version ? find_value(record, channel, *version).value_or(nullptr) : nullptr;
}

// The value of a version, which is nullptr if it holds nothing. Nothing if the
// version was never stored.
std::optional<const Value*> Namespace::find_value(const Record& record, std::string_view channel,
                                                  const Value& version) const {
  const Value* own = record.new_versions.find(channel);
  if (own && *own == version) return record.values.find(channel);
  return value_of_others(record, channel, version);
}

// The same of a version that came with another checkpoint.
std::optional<const Value*> Namespace::value_of_others(const Record& record,
                                                       std::string_view channel,
                                                       const Value& version) const {
  const BlobTable::Blobs* blobs = blobs_.find(version);
  if (blobs && blobs->older) {
    if (const auto value = inherited_value(record, channel, version)) return value;
  }
  for (; blobs; blobs = blobs->older.get()) {
    const Value* found = blobs->versions.find(channel);
    if (found && *found == version) return blobs->values.find(channel);
  }
  return std::nullopt;
}

// Two branches that both stored this version (a writer without random tails
// can do that) must not see each other's value: the nearest ancestor decides.
std::optional<const Value*> Namespace::inherited_value(const Record& record,
                                                       std::string_view channel,
                                                       const Value& version) const {
  std::unordered_set<const Record*> visited;
  for (const Record* ancestor = find(record.parent_id); ancestor;
       ancestor = find(ancestor->parent_id)) {
    if (!visited.insert(ancestor).second) break;
    const Value* own = ancestor->new_versions.find(channel);
    if (own && *own == version) return ancestor->values.find(channel);
  }
  return std::nullopt;
}

std::vector<DeltaHistory> Namespace::delta_history(std::string_view checkpoint_id,
                                                   std::span<const std::string> channels) {
  std::vector<DeltaHistory> histories(channels.size());
  std::size_t without_seed = channels.size();
  std::unordered_set<const Record*> visited;
  const Record* target = find(checkpoint_id.empty() ? head() : checkpoint_id);
  std::string_view parent_id = target ? std::string_view(target->parent_id) : std::string_view();
  while (without_seed > 0 && !parent_id.empty()) {
    const auto entry = records_.find(parent_id);
    if (entry == records_.end() || !entry->second.is_stored) break;
    Record& ancestor = entry->second;
    if (!visited.insert(&ancestor).second) break;

    const auto& tasks = ancestor.writes.settled();
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (histories[i].seed) continue;
      for (auto task = tasks.rbegin(); task != tasks.rend(); ++task) {
        for (auto write = task->writes.rbegin(); write != task->writes.rend(); ++write) {
          if (write->channel.as_string() != channels[i]) continue;
          histories[i].writes.push_back(
              {task->task_id, channels[i], write->value, std::string(task->task_path.as_string())});
        }
      }
      if (const Value* stored = stored_value(ancestor, channels[i])) {
        histories[i].seed = *stored;
        --without_seed;
      }
    }
    parent_id = ancestor.parent_id;
  }
  for (DeltaHistory& history : histories) std::ranges::reverse(history.writes);
  return histories;
}

const Record* Namespace::find(std::string_view checkpoint_id) const {
  const auto entry = records_.find(checkpoint_id);
  return entry == records_.end() || !entry->second.is_stored ? nullptr : &entry->second;
}

const Record* Namespace::newest() const {
  const auto entry = newest_entry();
  return entry == records_.end() ? nullptr : &entry->second;
}

Record* Namespace::newest() {
  const auto entry = changeable(newest_entry());
  return entry == records_.end() ? nullptr : &entry->second;
}

}  // namespace clew::memory

#include <algorithm>
#include <limits>
#include <tuple>

#include <clew/error.hpp>
#include <clew/json.hpp>

#include "checkpoint/sqlite/checkpoint_patch.hpp"
#include "checkpoint/sqlite/metadata_decoder.hpp"
#include "checkpoint/sqlite/native_layout.hpp"
#include "checkpoint/sqlite/value_patch.hpp"
#include "checkpoint/thread_query.hpp"

namespace clew::sqlite {
namespace {

// No way to a whole version is nearly as long, except where damage sends it in circles.
constexpr std::size_t kLongestPath = 4096;

Checkpoint checkpoint_from(std::string id, const Value& map) {
  Checkpoint checkpoint;
  checkpoint.v = static_cast<int>(map["v"].as_int());
  checkpoint.id = std::move(id);
  checkpoint.ts = map["ts"].as_string();
  checkpoint.channel_versions = map["channel_versions"];
  checkpoint.versions_seen = map["versions_seen"];
  checkpoint.updated_channels = map["updated_channels"];
  return checkpoint;
}

// From columns task_id, idx, channel, type, blob_data, task_path, node.
StoredWrite stored_write(const Rows& rows, int column, const Serializer& serializer) {
  return {rows.integer(column + 1),
          {.task_id = std::string(rows.text(column)),
           .channel = std::string(rows.text(column + 2)),
           .value = serializer.loads_typed(rows.text(column + 3), rows.text(column + 4)),
           .task_path = std::string(rows.text(column + 5)),
           .node = std::string(rows.text(column + 6))}};
}

// By task path, task and index.
std::vector<PendingWrite> in_order(std::vector<StoredWrite> writes) {
  const auto place = [](const StoredWrite& stored) {
    return std::tie(stored.write.task_path, stored.write.task_id, stored.index);
  };
  if (!std::ranges::is_sorted(writes, {}, place)) std::ranges::sort(writes, {}, place);
  std::vector<PendingWrite> ordered;
  ordered.reserve(writes.size());
  for (StoredWrite& stored : writes) ordered.push_back(std::move(stored.write));
  return ordered;
}

// From columns base, place, type, data.
StoredBlob stored_blob(const Rows& rows, int column) {
  return {.base = std::string(rows.text(column)),
          .base_checkpoint_id = {},
          .place = rows.integer(column + 1),
          .data = {std::string(rows.text(column + 2)), std::string(rows.text(column + 3))},
          .packed_in = {}};
}

// The same, and the checkpoint that the base came with.
StoredBlob blob_alone(const Rows& rows, int column) {
  StoredBlob blob = stored_blob(rows, column);
  blob.base_checkpoint_id = rows.text(column + 4);
  return blob;
}

template <class T>
std::optional<T> take(internal::ByText<T>& from, std::string_view key) {
  const auto found = from.find(key);
  if (found == from.end()) return std::nullopt;
  std::optional<T> taken = std::move(found->second);
  from.erase(found);
  return taken;
}

}  // namespace

bool is_plain(const Serializer& serializer) {
  return dynamic_cast<const JsonPlusSerializer*>(&serializer) != nullptr;
}

// Whoever encrypts must not be told what anybody wrote in plain text.
Value decode_metadata(const Serializer& serializer, std::string_view type, std::string_view bytes) {
  if (type == kJsonType && is_plain(serializer)) return parse_json(bytes);
  return serializer.loads_typed(type, bytes);
}

// The calls -----------------------------------------------------------------------

std::optional<CheckpointTuple> NativeLayout::get_tuple(Connection& connection,
                                                       const CheckpointKey& key) {
  NativeReader reader(connection, *serializer_, key.thread_id, key.checkpoint_ns);
  const std::string id = key.checkpoint_id.empty() ? reader.newest() : key.checkpoint_id;
  CheckpointKey place = key;
  place.checkpoint_id = id;
  if (const auto known = cache_.look(place)) return reader.get_tuple(id, &*known);
  std::optional<CheckpointTuple> tuple = reader.get_tuple(id, nullptr);
  // Whoever asks for it is likely to continue it.
  if (tuple) cache_.remember(place, id, reader.lineage(id));
  return tuple;
}

bool NativeLayout::get_tuple_at_hand(Connection& connection, const CheckpointKey& key,
                                     std::optional<CheckpointTuple>& found) {
  CheckpointKey place = key;
  if (place.checkpoint_id.empty()) place.checkpoint_id = newest_checkpoint(connection, key);
  if (place.checkpoint_id.empty()) return true;
  const auto known = cache_.look(place);
  if (!known) return false;
  NativeReader reader(connection, *serializer_, key.thread_id, key.checkpoint_ns);
  found = reader.get_tuple(place.checkpoint_id, &*known);
  return true;
}

std::vector<CheckpointTuple> NativeLayout::list(Connection& connection, std::string_view thread_id,
                                                std::optional<std::string_view> checkpoint_ns,
                                                const ListOptions& options) {
  std::vector<std::string> places;
  if (checkpoint_ns) {
    places.emplace_back(*checkpoint_ns);
  } else {
    places = namespaces_of(connection, thread_id);
  }
  std::vector<CheckpointTuple> found;
  for (const std::string& place : places) {
    NativeReader(connection, *serializer_, thread_id, place).list(options, found);
  }
  return found;
}

internal::GetTuple NativeLayout::reader(Connection& connection, const CheckpointKey& place) {
  const auto shared = std::make_shared<NativeReader>(connection, *serializer_, place.thread_id,
                                                     place.checkpoint_ns);
  return [shared](const CheckpointKey& key) {
    return shared->get_tuple(key.checkpoint_id.empty() ? shared->newest() : key.checkpoint_id,
                             nullptr);
  };
}

// Checkpoints -----------------------------------------------------------------------

NativeReader::NativeReader(Connection& connection, const Serializer& serializer,
                           std::string_view thread_id, std::string_view checkpoint_ns)
    : connection_(connection),
      serializer_(serializer),
      thread_id_(thread_id),
      checkpoint_ns_(checkpoint_ns) {}

std::string NativeReader::newest() {
  return newest_checkpoint(connection_, {thread_id_, checkpoint_ns_});
}

std::optional<CheckpointTuple> NativeReader::get_tuple(const std::string& checkpoint_id,
                                                       const VersionCache::Known* known) {
  Rows rows = connection_.query(
      "SELECT parent_checkpoint_id, metadata_type, metadata, replaced, base_checkpoint_id, place,"
      " type, checkpoint, new_blobs, data FROM checkpoints"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      thread_id_, checkpoint_ns_, checkpoint_id);
  if (!rows.next()) return std::nullopt;
  Value metadata = decode_metadata(serializer_, rows.text(1), rows.text(2));
  if (rows.integer(3) != 0) known = nullptr;  // it may be from before
  if (!known) {
    checkpoints_.ahead.insert_or_assign(checkpoint_id, stored_blob(rows, 4));
    add_packed(checkpoint_id, rows.text(8), rows.text(9));
  }
  const Value map = known ? known->checkpoint : checkpoint(checkpoint_id).value();
  CheckpointTuple found =
      tuple(checkpoint_id, std::string(rows.text(0)), std::move(metadata), map,
            known ? known->channel_values : channel_values(map, checkpoint_id, {}));
  found.pending_writes = writes(checkpoint_id);
  return found;
}

void NativeReader::list(const ListOptions& options, std::vector<CheckpointTuple>& found) {
  constexpr std::string_view kAfterAll = "\xFF";  // no text begins with it
  constexpr std::size_t kMostAhead = 64;
  const std::string_view before = options.before.empty() ? kAfterAll : options.before;
  const std::size_t limit = options.limit.value_or(std::numeric_limits<std::size_t>::max());
  const std::size_t first = std::min(found.size(), limit);
  const bool is_whole = options.filter.is_null();
  rows_ahead_ = std::min(limit - first, kMostAhead);
  Rows rows = connection_.query(
      "SELECT checkpoint_id, parent_checkpoint_id, metadata_type, metadata, base_checkpoint_id,"
      " place, type, checkpoint, new_blobs, data, step_writes FROM checkpoints"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id < ?"
      " ORDER BY checkpoint_id DESC",
      thread_id_, checkpoint_ns_, before);
  std::vector<std::vector<StoredWrite>> packed;  // of each that is found
  if (found.empty()) found.reserve(rows_ahead_);
  packed.reserve(rows_ahead_);
  StepWrites newer = {};  // what is packed in the row before this one
  PackedBlobs at_hand;
  MetadataDecoder metadata_of(serializer_);
  while (found.size() < limit && rows.next()) {
    Value metadata = metadata_of.decode(rows.text(2), rows.text(3));
    if (!internal::matches_metadata(metadata, options.filter)) continue;
    std::string id(rows.text(0));
    if (is_whole) {
      packed.push_back(packed.empty() ? writes_after(id) : newer.take(id));
      newer = {std::string(rows.text(1)), packed_writes(rows.text(10), rows.text(9), serializer_)};
    }
    const Value map = listed_checkpoint(id, rows, 4);
    at_hand.read(rows.text(8), rows.text(9));
    Value values = channel_values(map, id, at_hand);
    found.push_back(tuple(std::move(id), std::string(rows.text(1)), std::move(metadata), map,
                          std::move(values)));
  }
  const std::span listed = std::span(found).subspan(first);
  if (is_whole) return add_writes(listed, packed);
  for (CheckpointTuple& tuple : listed) tuple.pending_writes = writes(tuple.key.checkpoint_id);
}

CheckpointTuple NativeReader::tuple(std::string id, std::string parent_id, Value metadata,
                                    const Value& map, Value channel_values) const {
  CheckpointTuple tuple;
  tuple.key = {thread_id_, checkpoint_ns_, id};
  tuple.checkpoint = checkpoint_from(std::move(id), map);
  tuple.checkpoint.channel_values = std::move(channel_values);
  tuple.metadata = std::move(metadata);
  tuple.parent_id = std::move(parent_id);
  return tuple;
}

// Nobody needs a whole one again: what is based on it is newer, and was listed before.
Value NativeReader::listed_checkpoint(const std::string& id, const Rows& rows, int column) {
  if (!checkpoints_.find(id)) {
    const bool is_whole = rows.is_null(column);
    if (is_whole) return serializer_.loads_typed(rows.text(column + 2), rows.text(column + 3));
    checkpoints_.ahead.insert_or_assign(id, stored_blob(rows, column));
  }
  return checkpoint(id).value();
}

Value NativeReader::channel_values(const Value& checkpoint, std::string_view checkpoint_id,
                                   const PackedBlobs& at_hand) {
  ObjectBuilder values;
  for (auto [channel, version] : checkpoint["channel_versions"].items()) {
    if (is_trigger(channel)) {
      const Value* trigger = checkpoint["triggers"].find(channel);
      if (trigger) values.set(channel, *trigger);
      continue;
    }
    const PackedBlob* packed = at_hand.find(channel, version_text(version).as_string());
    const bool is_unread = packed && !versions_of(channel).find(packed->version);
    if (is_unread && packed->base.empty()) {
      if (packed->type == kEmptyType) continue;
      values.set(channel, serializer_.loads_typed(packed->type, packed->bytes));
      continue;
    }
    if (is_unread) {
      versions_of(channel).ahead.insert_or_assign(std::string(packed->version),
                                                  packed->stored(checkpoint_id));
    }
    const VersionChain& chain =
        value(channel, version, origin_of(checkpoint, checkpoint_id, channel));
    if (!chain.empty()) values.set(channel, chain.value());
  }
  return std::move(values).build();
}

NativeReader::Origin NativeReader::origin_of(const Value& checkpoint,
                                             std::string_view checkpoint_id,
                                             std::string_view channel) {
  const Value* earlier = checkpoint["origins"].find(channel);
  if (!earlier || !earlier->is_string()) return {checkpoint_id};
  return {checkpoint_id, earlier->as_string()};
}

// Writes ----------------------------------------------------------------------------

std::vector<StoredWrite> NativeReader::StepWrites::take(std::string_view id) {
  return checkpoint_id == id ? std::move(writes) : std::vector<StoredWrite>();
}

std::vector<PendingWrite> NativeReader::writes(std::string_view checkpoint_id) {
  std::vector<StoredWrite> step = writes_after(checkpoint_id);
  for (Rows rows = connection_.query(
           "SELECT task_id, idx, channel, type, blob_data, task_path, node FROM clew_writes"
           " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
           thread_id_, checkpoint_ns_, checkpoint_id);
       rows.next();) {
    step.push_back(stored_write(rows, 0, serializer_));
  }
  return in_order(std::move(step));
}

// Those that are packed, in the row after it.
std::vector<StoredWrite> NativeReader::writes_after(std::string_view checkpoint_id) {
  Rows rows = connection_.query(
      "SELECT parent_checkpoint_id, step_writes, data FROM checkpoints WHERE thread_id = ?"
      " AND checkpoint_ns = ? AND checkpoint_id > ? ORDER BY checkpoint_id LIMIT 1",
      thread_id_, checkpoint_ns_, checkpoint_id);
  if (!rows.next() || rows.text(0) != checkpoint_id) return {};
  return packed_writes(rows.text(1), rows.text(2), serializer_);
}

// `packed` are those of each checkpoint, as far as they are packed.
void NativeReader::add_writes(std::span<CheckpointTuple> newest_first,
                              std::span<std::vector<StoredWrite>> packed) {
  if (newest_first.empty()) return;
  std::size_t current = 0;
  for (Rows rows = connection_.query(
           "SELECT checkpoint_id, task_id, idx, channel, type, blob_data, task_path, node"
           " FROM clew_writes WHERE thread_id = ? AND checkpoint_ns = ?"
           " AND checkpoint_id BETWEEN ? AND ? ORDER BY checkpoint_id DESC",
           thread_id_, checkpoint_ns_, newest_first.back().key.checkpoint_id,
           newest_first.front().key.checkpoint_id);
       rows.next();) {
    const std::string_view id = rows.text(0);
    while (newest_first[current].key.checkpoint_id > id) ++current;
    // Else the checkpoint itself was never stored.
    if (newest_first[current].key.checkpoint_id == id)
      packed[current].push_back(stored_write(rows, 1, serializer_));
  }
  for (std::size_t i = 0; i < newest_first.size(); ++i) {
    newest_first[i].pending_writes = in_order(std::move(packed[i]));
  }
}

// Versions --------------------------------------------------------------------------

const VersionChain& NativeReader::checkpoint(std::string_view checkpoint_id) {
  return load(
      checkpoints_, Value(checkpoint_id), {checkpoint_id},
      [this](std::string_view id, Origin) { return find_checkpoint(id); }, apply_checkpoint_patch);
}

const VersionChain& NativeReader::value(std::string_view channel, const Value& version,
                                        Origin origin) {
  Versions& versions = versions_of(channel);
  return load(
      versions, version_text(version), origin,
      [&](std::string_view wanted, Origin came_with) {
        return find_value(versions, channel, wanted, came_with);
      },
      apply_patch);
}

bool NativeReader::has_value(std::string_view channel, std::string_view version, Origin origin) {
  Versions& versions = versions_of(channel);
  if (versions.find(version)) return true;
  auto found = find_value(versions, channel, version, origin);
  if (found) versions.ahead.insert_or_assign(std::string(version), std::move(*found));
  return found.has_value();
}

NativeReader::Versions& NativeReader::versions_of(std::string_view channel) {
  auto found = channels_.find(channel);
  if (found == channels_.end()) found = channels_.try_emplace(std::string(channel)).first;
  return found->second;
}

std::optional<StoredBlob> NativeReader::find_checkpoint(std::string_view id) {
  if (auto listed = take(checkpoints_.ahead, id)) return listed;
  Rows rows = connection_.query(
      "SELECT base_checkpoint_id, place, type, checkpoint FROM checkpoints"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      thread_id_, checkpoint_ns_, id);
  return rows.next() ? std::optional(stored_blob(rows, 0)) : std::nullopt;
}

std::optional<StoredBlob> NativeReader::find_value(Versions& versions, std::string_view channel,
                                                   std::string_view version, Origin origin) {
  if (auto found = take(versions.ahead, version)) return found;
  for (std::string_view checkpoint_id : {origin.earlier, origin.checkpoint_id}) {
    if (checkpoint_id.empty() || checkpoint_id == last_read_) continue;
    read_packed(checkpoint_id);
    if (auto found = take(versions.ahead, version)) return found;
  }
  if (auto found = find_alone(versions, channel, version)) return found;
  return search(versions, version);
}

// Returns the channels.
std::vector<std::string> NativeReader::read_packed(std::string_view checkpoint_id) {
  Rows rows = connection_.query(
      "SELECT new_blobs, data FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
      " AND checkpoint_id = ?",
      thread_id_, checkpoint_ns_, checkpoint_id);
  if (!rows.next()) return {};
  return add_packed(checkpoint_id, rows.text(0), rows.text(1));
}

std::vector<std::string> NativeReader::add_packed(std::string_view checkpoint_id,
                                                  std::string_view new_blobs,
                                                  std::string_view data) {
  last_read_ = checkpoint_id;
  std::vector<std::string> channels;
  PackedBlobs blobs;
  blobs.read(new_blobs, data);
  for (const PackedBlob& blob : blobs) {
    versions_of(blob.channel)
        .ahead.insert_or_assign(std::string(blob.version), blob.stored(checkpoint_id));
    channels.emplace_back(blob.channel);
  }
  return channels;
}

// In a row of its own.
std::optional<StoredBlob> NativeReader::find_alone(Versions& versions, std::string_view channel,
                                                   std::string_view version) {
  if (rows_ahead_ > 1) {
    read_ahead(versions, channel, version);
    return take(versions.ahead, version);
  }
  Rows rows = connection_.query(
      "SELECT base_version, place, type, blob_data, base_checkpoint_id FROM clew_blobs"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = ?",
      thread_id_, checkpoint_ns_, channel, version);
  return rows.next() ? std::optional(blob_alone(rows, 0)) : std::nullopt;
}

// Older checkpoints have older versions.
void NativeReader::read_ahead(Versions& versions, std::string_view channel,
                              std::string_view version) {
  versions.ahead.clear();
  for (Rows rows = connection_.query(
           "SELECT version, base_version, place, type, blob_data, base_checkpoint_id"
           " FROM clew_blobs WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ?"
           " AND version <= ? ORDER BY version DESC LIMIT ?",
           thread_id_, checkpoint_ns_, channel, version, static_cast<std::int64_t>(rows_ahead_));
       rows.next();) {
    versions.ahead.emplace(rows.text(0), blob_alone(rows, 1));
  }
}

// Wherever it is: of versions whose origin is not known.
std::optional<StoredBlob> NativeReader::search(Versions& versions, std::string_view version) {
  for (Rows rows = connection_.query(
           "SELECT checkpoint_id, new_blobs, data FROM checkpoints WHERE thread_id = ?"
           " AND checkpoint_ns = ? AND instr(new_blobs, ?)",
           thread_id_, checkpoint_ns_, version);
       rows.next();) {
    add_packed(rows.text(0), rows.text(1), rows.text(2));
    if (auto found = take(versions.ahead, version)) return found;
  }
  return std::nullopt;
}

const VersionChain* NativeReader::Versions::find(std::string_view version) const {
  if (last_version.is_string() && last_version.as_string() == version) return &last;
  if (known.empty()) return nullptr;
  const auto found = known.find(version);
  return found == known.end() ? nullptr : &found->second;
}

// Goes back to the nearest version that is known or stored whole, and from there
// forward again.
template <class FindRow>
const VersionChain& NativeReader::load(Versions& versions, const Value& version, Origin origin,
                                       const FindRow& find_row, ApplyPatch& apply) {
  if (const VersionChain* known = versions.find(version.as_string())) return *known;
  struct Step {
    Value version;
    StoredBlob stored;
  };
  std::vector<Step> path;
  Value wanted = version;
  const VersionChain* start = nullptr;
  while (!start) {
    std::optional<StoredBlob> row = find_row(wanted.as_string(), origin);
    if (!row && path.empty()) break;
    if (!row) {
      throw SerdeError("the stored version " + std::string(path.back().version.as_string()) +
                       " is a difference from " + std::string(wanted.as_string()) +
                       ", which is not in the file; repair() makes again what can be made");
    }
    if (path.size() > kLongestPath) {
      throw SerdeError("the stored version " + std::string(version.as_string()) +
                       " is a difference from one that leads back to itself");
    }
    path.push_back({wanted, std::move(*row)});
    const StoredBlob& stored = path.back().stored;
    if (stored.base.empty()) break;
    wanted = stored.base;
    origin = {stored.base_checkpoint_id};
    start = versions.find(stored.base);
  }
  VersionChain chain = start ? *start : VersionChain();
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const StoredBlob& row = step->stored;
    if (row.data.tag == kEmptyType) continue;
    const Value stored = serializer_.loads_typed(row.data);
    const Value value = row.base.empty() ? stored : apply(chain.value(), stored);
    chain.load(step->version, row.place, value, Value(row.packed_in), row.data.bytes.size());
    // A whole one is read again sooner than it is kept in case another is based on it.
    const bool is_wanted = step + 1 == path.rend();
    if (!is_wanted || !row.base.empty())
      versions.known.insert_or_assign(std::string(step->version.as_string()), chain);
  }
  versions.last_version = version;
  return versions.last = std::move(chain);
}

Lineage NativeReader::lineage(const std::string& checkpoint_id) {
  Lineage lineage;
  lineage.checkpoint = checkpoint(checkpoint_id);
  if (lineage.checkpoint.empty()) return lineage;
  for (std::string& channel : read_packed(checkpoint_id)) {
    lineage.new_origins.emplace_back(std::move(channel), checkpoint_id);
  }
  const Value map = lineage.checkpoint.value();
  for (auto [channel, version] : map["channel_versions"].items()) {
    if (is_trigger(channel)) continue;
    const Origin origin = origin_of(map, checkpoint_id, channel);
    const VersionChain& chain = value(channel, version, origin);
    if (chain.empty()) continue;
    const std::string_view found_in = chain.checkpoint_id();
    if (!found_in.empty() && found_in != origin.earlier && found_in != checkpoint_id) {
      lineage.new_origins.emplace_back(channel, found_in);
    }
    lineage.channels.emplace(channel, chain);
  }
  return lineage;
}

}  // namespace clew::sqlite

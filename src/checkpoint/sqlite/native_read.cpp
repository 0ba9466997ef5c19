#include <algorithm>
#include <limits>
#include <tuple>

#include <clew/error.hpp>
#include <clew/json.hpp>

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
  checkpoint.ts = map.get<std::string>("ts");
  checkpoint.channel_versions = map["channel_versions"];
  checkpoint.versions_seen = map["versions_seen"];
  checkpoint.updated_channels = map["updated_channels"];
  return checkpoint;
}

}  // namespace

bool is_plain(const Serializer& serializer) {
  return dynamic_cast<const JsonPlusSerializer*>(&serializer) != nullptr;
}

bool has_blob(Connection& connection, const CheckpointKey& place, std::string_view channel,
              std::string_view version) {
  return connection
      .value(
          "SELECT 1 FROM checkpoint_blobs WHERE thread_id = ? AND checkpoint_ns = ?"
          " AND channel = ? AND version = ?",
          place.thread_id, place.checkpoint_ns, channel, version)
      .has_value();
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
  if (tuple) cache_.remember(place, reader.lineage(id));
  return tuple;
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
      "SELECT parent_checkpoint_id, metadata_type, metadata, replaced FROM checkpoints"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      thread_id_, checkpoint_ns_, checkpoint_id);
  if (!rows.next()) return std::nullopt;
  Value metadata = decode_metadata(serializer_, rows.text(1), rows.text(2));
  if (rows.integer(3) != 0) known = nullptr;  // it may be from before
  CheckpointTuple found =
      tuple(checkpoint_id, std::string(rows.text(0)), std::move(metadata), known);
  found.pending_writes = writes(checkpoint_id);
  return found;
}

void NativeReader::list(const ListOptions& options, std::vector<CheckpointTuple>& found) {
  constexpr std::string_view kAfterAll = "\xFF";  // no text begins with it
  constexpr std::size_t kMostAhead = 64;
  const std::string_view before = options.before.empty() ? kAfterAll : options.before;
  const std::size_t limit = options.limit.value_or(std::numeric_limits<std::size_t>::max());
  const std::size_t first = std::min(found.size(), limit);
  rows_ahead_ = std::min(limit - first, kMostAhead);
  Rows rows = connection_.query(
      "SELECT checkpoint_id, parent_checkpoint_id, metadata_type, metadata, base_checkpoint_id,"
      " place, type, checkpoint FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
      " AND checkpoint_id < ? ORDER BY checkpoint_id DESC",
      thread_id_, checkpoint_ns_, before);
  while (found.size() < limit && rows.next()) {
    Value metadata = decode_metadata(serializer_, rows.text(2), rows.text(3));
    if (!internal::matches_metadata(metadata, options.filter)) continue;
    std::string id(rows.text(0));
    checkpoints_.ahead.insert_or_assign(id, row(rows, 4));
    found.push_back(tuple(std::move(id), std::string(rows.text(1)), std::move(metadata), nullptr));
  }
  const std::span listed = std::span(found).subspan(first);
  if (options.filter.is_null()) return add_writes(listed);
  for (CheckpointTuple& tuple : listed) tuple.pending_writes = writes(tuple.key.checkpoint_id);
}

CheckpointTuple NativeReader::tuple(std::string id, std::string parent_id, Value metadata,
                                    const VersionCache::Known* known) {
  CheckpointTuple tuple;
  tuple.key = {thread_id_, checkpoint_ns_, id};
  const Value map = known ? known->checkpoint : checkpoint(id).value();
  tuple.checkpoint = checkpoint_from(id, map);
  tuple.checkpoint.channel_values = known ? known->channel_values : channel_values(map);
  tuple.metadata = std::move(metadata);
  tuple.parent_id = std::move(parent_id);
  return tuple;
}

Value NativeReader::channel_values(const Value& checkpoint) {
  ObjectBuilder values;
  for (auto [channel, version] : checkpoint["channel_versions"].items()) {
    if (is_trigger(channel)) {
      const Value* trigger = checkpoint["triggers"].find(channel);
      if (trigger) values.set(channel, *trigger);
      continue;
    }
    const VersionChain& chain = value(channel, version);
    if (!chain.empty()) values.set(channel, chain.value());
  }
  return std::move(values).build();
}

// Writes ----------------------------------------------------------------------------

namespace {

// The writes of one checkpoint, in whichever order they are read.
class StepReader {
 public:
  explicit StepReader(const Serializer& serializer) : serializer_(serializer) {}

  // From columns task_id, idx, channel, type, blob_data, task_path, node.
  void add(const Rows& rows, int column) {
    writes_.push_back(
        {rows.integer(column + 1),
         {.task_id = std::string(rows.text(column)),
          .channel = std::string(rows.text(column + 2)),
          .value = serializer_.loads_typed(rows.text(column + 3), rows.text(column + 4)),
          .task_path = std::string(rows.text(column + 5)),
          .node = std::string(rows.text(column + 6))}});
  }

  // By task path, task and index.
  std::vector<PendingWrite> take() {
    std::ranges::sort(writes_, {}, [](const Stored& stored) {
      return std::tie(stored.write.task_path, stored.write.task_id, stored.index);
    });
    std::vector<PendingWrite> taken;
    taken.reserve(writes_.size());
    for (Stored& stored : writes_) taken.push_back(std::move(stored.write));
    writes_.clear();
    return taken;
  }

 private:
  struct Stored {
    std::int64_t index;
    PendingWrite write;
  };

  const Serializer& serializer_;
  std::vector<Stored> writes_;
};

}  // namespace

std::vector<PendingWrite> NativeReader::writes(std::string_view checkpoint_id) {
  StepReader step(serializer_);
  for (Rows rows = connection_.query(
           "SELECT task_id, idx, channel, type, blob_data, task_path, node FROM checkpoint_writes"
           " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
           thread_id_, checkpoint_ns_, checkpoint_id);
       rows.next();) {
    step.add(rows, 0);
  }
  return step.take();
}

void NativeReader::add_writes(std::span<CheckpointTuple> newest_first) {
  if (newest_first.empty()) return;
  StepReader step(serializer_);
  auto current = newest_first.begin();
  for (Rows rows = connection_.query(
           "SELECT checkpoint_id, task_id, idx, channel, type, blob_data, task_path, node"
           " FROM checkpoint_writes WHERE thread_id = ? AND checkpoint_ns = ?"
           " AND checkpoint_id BETWEEN ? AND ? ORDER BY checkpoint_id DESC",
           thread_id_, checkpoint_ns_, newest_first.back().key.checkpoint_id,
           newest_first.front().key.checkpoint_id);
       rows.next();) {
    const std::string_view id = rows.text(0);
    while (current->key.checkpoint_id > id) (current++)->pending_writes = step.take();
    // Else the checkpoint itself was never stored.
    if (current->key.checkpoint_id == id) step.add(rows, 1);
  }
  current->pending_writes = step.take();
}

// Versions --------------------------------------------------------------------------

const VersionChain& NativeReader::checkpoint(std::string_view checkpoint_id) {
  return load(checkpoints_, Value(checkpoint_id),
              [this](const Value& id) { return find_checkpoint(id.as_string()); });
}

const VersionChain& NativeReader::value(std::string_view channel, const Value& version) {
  auto found = channels_.find(channel);
  if (found == channels_.end()) found = channels_.try_emplace(std::string(channel)).first;
  Versions& versions = found->second;
  return load(versions, version_text(version), [&](const Value& wanted) {
    return find_value(versions, channel, wanted.as_string());
  });
}

// From columns base, place, type, data.
NativeReader::Row NativeReader::row(const Rows& rows, int column) {
  return {std::string(rows.text(column)),
          rows.integer(column + 1),
          {std::string(rows.text(column + 2)), std::string(rows.text(column + 3))}};
}

namespace {

template <class T>
std::optional<T> take(internal::ByText<T>& from, std::string_view key) {
  const auto found = from.find(key);
  if (found == from.end()) return std::nullopt;
  std::optional<T> taken = std::move(found->second);
  from.erase(found);
  return taken;
}

}  // namespace

std::optional<NativeReader::Row> NativeReader::find_checkpoint(std::string_view id) {
  if (auto listed = take(checkpoints_.ahead, id)) return listed;
  Rows rows = connection_.query(
      "SELECT base_checkpoint_id, place, type, checkpoint FROM checkpoints"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      thread_id_, checkpoint_ns_, id);
  return rows.next() ? std::optional(row(rows, 0)) : std::nullopt;
}

std::optional<NativeReader::Row> NativeReader::find_value(Versions& versions,
                                                          std::string_view channel,
                                                          std::string_view version) {
  if (rows_ahead_ > 1) {
    if (!versions.ahead.contains(version)) read_ahead(versions, channel, version);
    return take(versions.ahead, version);
  }
  Rows rows = connection_.query(
      "SELECT base_version, place, type, blob_data FROM checkpoint_blobs"
      " WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = ?",
      thread_id_, checkpoint_ns_, channel, version);
  return rows.next() ? std::optional(row(rows, 0)) : std::nullopt;
}

// Older checkpoints have older versions.
void NativeReader::read_ahead(Versions& versions, std::string_view channel,
                              std::string_view version) {
  versions.ahead.clear();
  for (Rows rows = connection_.query(
           "SELECT version, base_version, place, type, blob_data FROM checkpoint_blobs"
           " WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version <= ?"
           " ORDER BY version DESC LIMIT ?",
           thread_id_, checkpoint_ns_, channel, version, static_cast<std::int64_t>(rows_ahead_));
       rows.next();) {
    versions.ahead.emplace(rows.text(0), row(rows, 1));
  }
}

const VersionChain* NativeReader::Versions::find(std::string_view version) const {
  if (last_version.is_string() && last_version.as_string() == version) return &last;
  const auto found = known.find(version);
  return found == known.end() ? nullptr : &found->second;
}

// Goes back to the nearest version that is known or stored whole, and from there
// forward again.
template <class FindRow>
const VersionChain& NativeReader::load(Versions& versions, const Value& version,
                                       const FindRow& find_row) {
  std::vector<std::pair<Value, Row>> path;
  Value wanted = version;
  const VersionChain* start = versions.find(wanted.as_string());
  while (!start) {
    std::optional<Row> row = find_row(wanted);
    if (!row && path.empty()) break;
    if (!row) {
      throw SerdeError("the stored version " + std::string(path.back().first.as_string()) +
                       " is a difference from " + std::string(wanted.as_string()) +
                       ", which is not in the file");
    }
    if (path.size() > kLongestPath) {
      throw SerdeError("the stored version " + std::string(version.as_string()) +
                       " is a difference from one that leads back to itself");
    }
    const std::string base = row->base;
    path.emplace_back(wanted, std::move(*row));
    if (base.empty()) break;
    wanted = base;
    start = versions.find(base);
  }
  VersionChain chain = start ? *start : VersionChain();
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    const auto& [id, row] = *step;
    if (row.data.tag == kEmptyType) continue;
    const Value stored = serializer_.loads_typed(row.data);
    const Value value = row.base.empty() ? stored : apply_patch(chain.value(), stored);
    chain.load(id, row.place, value, row.data.bytes.size());
    // A whole one is read again sooner than it is kept in case another is based on it.
    const bool is_wanted = step + 1 == path.rend();
    if (!is_wanted || !row.base.empty())
      versions.known.insert_or_assign(std::string(id.as_string()), chain);
  }
  versions.last_version = version;
  return versions.last = std::move(chain);
}

Lineage NativeReader::lineage(const std::string& checkpoint_id) {
  Lineage lineage;
  lineage.checkpoint_id = checkpoint_id;
  lineage.checkpoint = checkpoint(checkpoint_id);
  if (lineage.checkpoint.empty()) return lineage;
  const Value versions = lineage.checkpoint.value()["channel_versions"];
  for (auto [channel, version] : versions.items()) {
    if (is_trigger(channel)) continue;
    const VersionChain& chain = value(channel, version);
    if (!chain.empty()) lineage.channels.emplace(channel, chain);
  }
  return lineage;
}

}  // namespace clew::sqlite

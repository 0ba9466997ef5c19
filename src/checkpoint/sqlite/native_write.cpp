#include <algorithm>
#include <cmath>
#include <set>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/time.hpp>

#include "checkpoint/sqlite/checkpoint_patch.hpp"
#include "checkpoint/sqlite/native_layout.hpp"
#include "checkpoint/thread_conflict.hpp"
#include "value/check.hpp"

namespace clew::sqlite {
namespace {

constexpr std::string_view kIdle = "idle";

std::optional<std::string_view> nothing_if_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<Blob> blob_unless_empty(std::string_view bytes) {
  return bytes.empty() ? std::nullopt : std::optional(Blob{bytes});
}

// The triggers that hold something: those of the put, and of the checkpoint
// before those that it did not change.
Value triggers_of(const CheckpointPut& put, const Value& parent) {
  Value triggers = parent["triggers"].is_object() ? parent["triggers"] : object();
  for (auto [channel, before] : parent["triggers"].items()) {
    const Value& version = put.checkpoint.channel_versions[channel];
    if (version != parent["channel_versions"][channel]) triggers = triggers.erase(channel);
  }
  for (auto [channel, value] : put.checkpoint.channel_values.items()) {
    if (is_trigger(channel)) triggers = triggers.set(channel, value);
  }
  return triggers;
}

// Which checkpoints the versions came with that are not new. Of those that are, what is
// there from before stays: taking it out would cost more.
Value origins_of(const CheckpointPut& put, const Lineage& parent) {
  const Value& before = parent.checkpoint.value();
  Value origins = before["origins"].is_object() ? before["origins"] : object();
  for (const auto& [channel, checkpoint_id] : parent.new_origins) {
    if (put.new_versions.contains(channel)) continue;
    origins = std::move(origins).set(channel, checkpoint_id);
  }
  return origins;
}

Value checkpoint_map(const CheckpointPut& put, const Lineage& parent) {
  const Value& before = parent.checkpoint.value();
  return make_checkpoint_map({put.checkpoint.v, put.checkpoint.ts, put.checkpoint.channel_versions,
                              put.checkpoint.versions_seen, put.checkpoint.updated_channels,
                              triggers_of(put, before), origins_of(put, parent)},
                             before);
}

// Whether the row of the thread can wait for the next checkpoint, which follows as soon as a
// node that waits has run. The view `threads` tells the time by a column meanwhile.
bool can_wait_for_next(const CheckpointPut& put) {
  constexpr std::string_view kUtc = "+00:00";
  const std::string& ts = put.checkpoint.ts;
  const bool is_told = ts.ends_with(kUtc) && ts.find_first_of(" +") == ts.size() - kUtc.size();
  if (!put.key.checkpoint_ns.empty() || !is_told) return false;
  for (auto [channel, value] : put.checkpoint.channel_values.items()) {
    if (is_trigger(channel)) return true;
  }
  return false;
}

// Whether JSON text holds all there is to the value.
bool is_json(const Value& value) {
  switch (value.kind()) {
    case Kind::null:
    case Kind::boolean:
    case Kind::integer:
    case Kind::string: return true;
    case Kind::floating: return std::isfinite(value.as_double());
    case Kind::list: return std::all_of(value.begin(), value.end(), is_json);
    case Kind::object:
      for (auto [key, entry] : value.items()) {
        if (!is_json(entry)) return false;
      }
      return true;
    default: return false;
  }
}

// Whether all values that the put does not bring are those of the checkpoint
// before, as they are unless it copies another one.
bool inherits_the_rest(const CheckpointPut& put, const Value& parent) {
  const Value& versions = put.checkpoint.channel_versions;
  const Value before = parent.is_null() ? object() : parent["channel_versions"];
  for (std::size_t position : difference(before, versions).changed) {
    const auto [channel, version] = versions.items()[position];
    if (!put.new_versions.contains(channel) && before[channel] != version) return false;
  }
  return true;
}

}  // namespace

std::string table_time_now() {
  return internal::table_time(format_time(std::chrono::system_clock::now()));
}

// Into rows of their own, without which some things cannot be done to it.
void unpack(Connection& connection, const CheckpointKey& place, std::string_view checkpoint_id) {
  connection.run(
      "DELETE FROM clew_packed WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      place.thread_id, place.checkpoint_ns, checkpoint_id);
}

void unpack_namespace(Connection& connection, const CheckpointKey& place) {
  connection.run("DELETE FROM clew_packed WHERE thread_id = ? AND checkpoint_ns = ?",
                 place.thread_id, place.checkpoint_ns);
}

// They are in the row of the checkpoint after it, if there is one.
void unpack_writes(Connection& connection, const CheckpointKey& key) {
  const auto next = connection.value(
      "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
      " AND checkpoint_id > ? ORDER BY checkpoint_id LIMIT 1",
      key.thread_id, key.checkpoint_ns, key.checkpoint_id);
  if (next) unpack(connection, key, *next);
}

bool is_trigger(std::string_view channel) { return channel.starts_with("branch:to:"); }

// Writes of tasks ---------------------------------------------------------------

struct NativeLayout::PreparedWrites {
  const WritesPut& put;
  std::vector<TypedBytes> values;

  // In rows of their own.
  void store(Connection& connection, std::string_view now, ThreadCounts& counts) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t index = write_index(put.writes[i].channel, i);
      if (insert(connection, now, index, put.writes[i].channel, values[i])) {
        ++counts.writes;
        counts.add_bytes(values[i]);
      } else if (index < 0) {
        counts.bytes -= stored_bytes(connection, index);
        replace(connection, index, values[i]);
        counts.add_bytes(values[i]);
      }
    }
  }

  bool insert(Connection& connection, std::string_view now, std::int64_t index,
              const std::string& channel, const TypedBytes& value) const {
    return connection.run(
               "INSERT OR IGNORE INTO clew_writes (thread_id, checkpoint_ns,"
               " checkpoint_ns_hash, checkpoint_id, task_id, task_path, node, idx, channel, type,"
               " blob_data, gmt_create) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
               put.key.thread_id, put.key.checkpoint_ns,
               internal::namespace_hash(put.key.checkpoint_ns), put.key.checkpoint_id, put.task_id,
               put.task_path, put.node, index, channel, value.tag, Blob{value.bytes}, now) > 0;
  }

  std::int64_t stored_bytes(Connection& connection, std::int64_t index) const {
    Rows rows = connection.query(
        "SELECT length(blob_data) FROM clew_writes WHERE thread_id = ?"
        " AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?",
        put.key.thread_id, put.key.checkpoint_ns, put.key.checkpoint_id, put.task_id, index);
    return rows.next() ? rows.integer(0) : 0;
  }

  // Of control channels the last write counts.
  void replace(Connection& connection, std::int64_t index, const TypedBytes& value) const {
    connection.run(
        "UPDATE clew_writes SET task_path = ?, type = ?, blob_data = ? WHERE thread_id = ?"
        " AND checkpoint_ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?",
        put.task_path, value.tag, Blob{value.bytes}, put.key.thread_id, put.key.checkpoint_ns,
        put.key.checkpoint_id, put.task_id, index);
  }

  // Of which the last counts.
  bool has_control_writes() const {
    return std::ranges::any_of(
        put.writes, [](const ChannelWrite& write) { return write_index(write.channel, 0) < 0; });
  }

  void note_status(Connection& connection) const {
    if (!put.key.checkpoint_ns.empty()) return;
    for (const ChannelWrite& write : put.writes) {
      const bool asks = write.channel == "__interrupt__";
      if (!asks && write.channel != "__error__") continue;
      const std::string_view status = asks ? "interrupted" : "error";
      count_up_to(connection, put.key.thread_id, put.key.checkpoint_id);
      connection.run(
          "UPDATE clew_threads SET status = ? WHERE thread_id = ? AND checkpoint_id = ?"
          " AND status <> 'interrupted'",
          status, put.key.thread_id, put.key.checkpoint_id);
    }
  }
};

NativeLayout::PreparedWrites NativeLayout::prepare(const WritesPut& put) const {
  PreparedWrites prepared{put, {}};
  prepared.values.reserve(put.writes.size());
  for (const ChannelWrite& write : put.writes) {
    prepared.values.push_back(encode_write(*serializer_, put, write));
  }
  return prepared;
}

Database::Change NativeLayout::put_writes(std::span<const WritesPut> puts,
                                          std::exception_ptr& unencodable) {
  auto prepared =
      encode_each(puts, unencodable, [this](const WritesPut& put) { return prepare(put); });
  return [this, prepared = std::move(prepared), now = table_time_now()](Connection& connection) {
    for (auto first = prepared.begin(); first != prepared.end();) {
      // Those of one thread are counted together.
      const std::string& thread_id = first->in_time.put.key.thread_id;
      ThreadCounts counts;
      auto next = first;
      for (; next != prepared.end() && next->in_time.put.key.thread_id == thread_id; ++next) {
        unpack_writes(connection, next->in_time.put.key);
        heads_.forget(next->in_time.put.key);
        next->to_store(connection).store(connection, now, counts);
      }
      counts.store(connection, thread_id, now);
      for (; first != next; ++first) first->in_time.note_status(connection);
    }
  };
}

// A checkpoint ------------------------------------------------------------------

// A version on its way to its row. If the base has gone meanwhile, another
// process having pruned the thread, it is stored whole.
struct NativeLayout::Version {
  Value version;
  Value value;
  StoredVersion stored;

  void store_whole(const Serializer& serializer) {
    stored = {serializer.dumps_typed(value), {}, 0};
  }
};

struct NativeLayout::PreparedPut {
  const CheckpointPut& put;
  const Serializer& serializer;
  std::string hash;
  Version checkpoint = {};
  TypedBytes metadata = {};
  std::vector<std::pair<std::string, Version>> channels = {};
  std::vector<PreparedWrites> writes = {};
  RowPack pack = {};      // of all channels and writes
  bool can_wait = false;  // the row of its thread

  // In the transaction.
  std::string now = {};
  KnownHead head = {};  // without an id if there is no checkpoint yet
  bool is_head_known = false;
  ThreadCounts counts = {};

  void store(Connection& connection, KnownHeads& heads, PutBatch& batch) {
    now = batch.now();
    counts = {};
    find_head(connection, heads);
    internal::expect_head(put, head.checkpoint_id);
    if (put.expected_writes) internal::expect_writes(put, stored_writes(connection));
    batch.begin(connection, put, head, is_head_known);
    find_bases(connection);
    const bool moves_head = put.checkpoint.id > head.checkpoint_id;
    const bool is_one_row = moves_head && pack.is_possible() && belong_to_head(connection);
    if (is_one_row) {
      store_packed(connection, pack);
      counts.checkpoints = 1;
    } else {
      batch.count_all(connection);
      const bool is_new = moves_head || make_way(connection);
      store_rows(connection, heads, is_new);
      counts.checkpoints = is_new ? 1 : 0;
    }
    const bool is_head = put.checkpoint.id >= head.checkpoint_id;
    const std::string_view status = is_head ? status_of_head(connection) : kIdle;
    batch.add({.put = put,
               .metadata = metadata,
               .counts = counts,
               .is_head = is_head,
               .status = status,
               .can_wait = is_one_row && can_wait && status == kIdle});
    if (moves_head) {
      heads.note(put.key, put.checkpoint.id, head.has_no_writes);
    } else {
      heads.forget(put.key);
    }
  }

  // Of the thread. Tasks may have asked or failed before the checkpoint was stored, or before it
  // is stored again.
  std::string_view status_of_head(Connection& connection) {
    if (!put.key.checkpoint_ns.empty() || finds_no_writes(connection)) return kIdle;
    Rows rows = connection.query(
        "SELECT max(channel = '__interrupt__') FROM clew_writes WHERE thread_id = ?"
        " AND checkpoint_ns = '' AND checkpoint_id = ?"
        " AND channel IN ('__interrupt__', '__error__')",
        put.key.thread_id, put.checkpoint.id);
    if (!rows.next() || rows.is_null(0)) return kIdle;
    return rows.integer(0) != 0 ? "interrupted" : "error";
  }

  void find_head(Connection& connection, KnownHeads& heads) {
    std::optional<KnownHead> known = heads.find(put.key);
    is_head_known = known.has_value();
    head = known ? std::move(*known) : KnownHead{newest_checkpoint(connection, put.key)};
  }

  // What is there needs no look. One that was only found may have been replaced.
  bool is_known(const Value& checkpoint_id) const {
    return is_head_known && checkpoint_id.is_string() &&
           checkpoint_id.as_string() == head.checkpoint_id;
  }

  // For a checkpoint that is not the newest. What is packed after it is found only there.
  // False if it replaces another.
  bool make_way(Connection& connection) {
    unpack_writes(connection, {put.key.thread_id, put.key.checkpoint_ns, put.checkpoint.id});
    if (!is_stored(connection)) return true;
    unpack(connection, put.key, put.checkpoint.id);
    store_dependents_whole(connection);
    counts.bytes -= stored_bytes(connection);
    return false;
  }

  // Stores versions whole that are based on what is gone, another process having removed it.
  void find_bases(Connection& connection) {
    bool changes = false;
    for (auto& [channel, version] : channels) {
      const StoredVersion& stored = version.stored;
      if (stored.base.is_null() || is_known(stored.base_checkpoint)) continue;
      if (has_base(connection, channel, stored)) continue;
      version.store_whole(serializer);
      changes = true;
    }
    if (changes) pack = make_pack(true);
  }

  bool has_base(Connection& connection, std::string_view channel,
                const StoredVersion& stored) const {
    return connection
        .value(
            "SELECT 1 FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2"
            " AND checkpoint_id = ?3 AND instr(new_blobs, '\"' || ?4 || '\",\"' || ?5 || '\"')"
            " UNION ALL SELECT 1 FROM clew_blobs WHERE thread_id = ?1 AND checkpoint_ns = ?2"
            " AND channel = ?4 AND version = ?5",
            put.key.thread_id, put.key.checkpoint_ns, stored.base_checkpoint.as_string(), channel,
            stored.base.as_string())
        .has_value();
  }

  // Whether the writes can be packed: those of the newest checkpoint are looked for in the
  // row after it, and are never in two places.
  bool belong_to_head(Connection& connection) {
    if (writes.empty()) return true;
    if (head.checkpoint_id.empty() || put.key.checkpoint_id != head.checkpoint_id) return false;
    for (const PreparedWrites& of_task : writes) {
      if (of_task.put.key != put.key || of_task.has_control_writes()) return false;
    }
    return are_of_different_tasks() && finds_no_writes(connection);
  }

  bool are_of_different_tasks() const {
    if (writes.size() == 1) return true;
    std::set<std::string_view> tasks;
    for (const PreparedWrites& of_task : writes) tasks.insert(of_task.put.task_id);
    return tasks.size() == writes.size();
  }

  bool finds_no_writes(Connection& connection) {
    if (head.has_no_writes) return true;
    const auto found = connection.value(
        "SELECT 1 FROM clew_writes WHERE thread_id = ? AND checkpoint_ns = ?"
        " AND checkpoint_id >= ? LIMIT 1",
        put.key.thread_id, put.key.checkpoint_ns, head.checkpoint_id);
    return head.has_no_writes = !found;
  }

  RowPack make_pack(bool with_writes) const {
    RowPack made;
    for (const auto& [channel, version] : channels) {
      made.add_blob(channel, version.version.as_string(), version.stored);
    }
    if (!with_writes) return made;
    for (const PreparedWrites& of_task : writes) made.add_writes(of_task.put, of_task.values);
    return made;
  }

  void store_packed(Connection& connection, const RowPack& packed) {
    store_checkpoint(connection, packed);
    counts.bytes += static_cast<std::int64_t>(packed.value_bytes());
    if (packed.step_writes().empty()) return;
    for (const PreparedWrites& of_task : writes) {
      counts.writes += static_cast<std::int64_t>(of_task.values.size());
    }
  }

  void store_rows(Connection& connection, KnownHeads& heads, bool is_new) {
    store_writes(connection, heads);
    if (is_new && pack.is_possible()) return store_packed(connection, make_pack(false));
    for (auto& [channel, version] : channels) store_value(connection, channel, version);
    store_checkpoint(connection, {});
  }

  void store_writes(Connection& connection, KnownHeads& heads) {
    head.has_no_writes = false;
    for (const PreparedWrites& of_task : writes) {
      heads.forget(of_task.put.key);
      unpack_writes(connection, of_task.put.key);
      of_task.store(connection, now, counts);
      of_task.note_status(connection);
    }
  }

  std::size_t stored_writes(Connection& connection) const {
    if (head.has_no_writes) return 0;
    Rows rows = connection.query(
        "SELECT count(*) FROM clew_writes WHERE thread_id = ? AND checkpoint_ns = ?"
        " AND checkpoint_id = ?",
        put.key.thread_id, put.key.checkpoint_ns, head.checkpoint_id);
    return rows.next() ? static_cast<std::size_t>(rows.integer(0)) : 0;
  }

  bool is_stored(Connection& connection) const {
    return connection
        .value(
            "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
            " AND checkpoint_id = ?",
            put.key.thread_id, put.key.checkpoint_ns, put.checkpoint.id)
        .has_value();
  }

  std::int64_t stored_bytes(Connection& connection) const {
    Rows rows = connection.query(
        "SELECT length(checkpoint) + length(metadata) FROM checkpoints WHERE thread_id = ?"
        " AND checkpoint_ns = ? AND checkpoint_id = ?",
        put.key.thread_id, put.key.checkpoint_ns, put.checkpoint.id);
    return rows.next() ? rows.integer(0) : 0;
  }

  void store_value(Connection& connection, const std::string& channel, const Version& version) {
    const StoredVersion& stored = version.stored;
    connection.keep_pages_of_value(stored.data.bytes.size());
    const bool is_added =
        connection.run(
            "INSERT OR IGNORE INTO clew_blobs (thread_id, checkpoint_ns, checkpoint_ns_hash,"
            " channel, version, base_version, place, type, blob_data, base_checkpoint_id)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            put.key.thread_id, put.key.checkpoint_ns, hash, channel, version.version.as_string(),
            nothing_if_null(stored.base), stored.place, stored.data.tag, Blob{stored.data.bytes},
            nothing_if_null(stored.base_checkpoint)) > 0;
    if (is_added) counts.add_bytes(stored.data);
  }

  // The checkpoint is about to be replaced: what is based on it must not change.
  void store_dependents_whole(Connection& connection) {
    std::vector<std::string> dependents;
    for (Rows rows = connection.query(
             "SELECT checkpoint_id, length(checkpoint) FROM checkpoints WHERE thread_id = ?"
             " AND checkpoint_ns = ? AND base_checkpoint_id = ?",
             put.key.thread_id, put.key.checkpoint_ns, put.checkpoint.id);
         rows.next();) {
      dependents.emplace_back(rows.text(0));
      counts.bytes -= rows.integer(1);
    }
    NativeReader reader(connection, serializer, put.key.thread_id, put.key.checkpoint_ns);
    for (const std::string& id : dependents) {
      const TypedBytes whole = serializer.dumps_typed(reader.checkpoint(id).value());
      counts.add_bytes(whole);
      connection.run(
          "UPDATE checkpoints SET base_checkpoint_id = NULL, place = 0, type = ?, checkpoint = ?"
          " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
          whole.tag, Blob{whole.bytes}, put.key.thread_id, put.key.checkpoint_ns, id);
    }
  }

  void store_checkpoint(Connection& connection, const RowPack& packed) {
    const Value& base = checkpoint.stored.base;
    if (!base.is_null() && !is_known(base) &&
        !connection.value("SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
                          " AND checkpoint_id = ? AND replaced = 0",
                          put.key.thread_id, put.key.checkpoint_ns, base.as_string())) {
      checkpoint.store_whole(serializer);
    }
    connection.run(
        "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_ns_hash, checkpoint_id,"
        " parent_checkpoint_id, base_checkpoint_id, place, type, checkpoint, metadata_type,"
        " metadata, gmt_create, gmt_modified, new_blobs, step_writes, data)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) DO UPDATE SET"
        " parent_checkpoint_id = excluded.parent_checkpoint_id,"
        " base_checkpoint_id = excluded.base_checkpoint_id, place = excluded.place, replaced = 1,"
        " type = excluded.type, checkpoint = excluded.checkpoint,"
        " metadata_type = excluded.metadata_type, metadata = excluded.metadata,"
        " gmt_modified = excluded.gmt_modified",
        put.key.thread_id, put.key.checkpoint_ns, hash, put.checkpoint.id,
        nothing_if_empty(put.key.checkpoint_id), nothing_if_null(checkpoint.stored.base),
        checkpoint.stored.place, checkpoint.stored.data.tag, Blob{checkpoint.stored.data.bytes},
        metadata.tag, Blob{metadata.bytes}, internal::table_time(put.checkpoint.ts), now,
        nothing_if_empty(packed.new_blobs()), nothing_if_empty(packed.step_writes()),
        blob_unless_empty(packed.data()));
    counts.add_bytes(checkpoint.stored.data);
    counts.add_bytes(metadata);
  }
};

Database::Change NativeLayout::put(const CheckpointPut& put) {
  Lineage lineage = lineage_of(put);
  const bool is_complete = inherits_the_rest(put, lineage.checkpoint.value());
  auto prepared = std::make_shared<PreparedPut>(
      PreparedPut{.put = put,
                  .serializer = *serializer_,
                  .hash = internal::namespace_hash(put.key.checkpoint_ns)});
  // First, so that a value that cannot be stored is said to be a node's.
  prepared->writes.reserve(put.writes.size());
  for (const WritesPut& of_task : put.writes) prepared->writes.push_back(prepare(of_task));
  prepared->channels.reserve(put.new_versions.size());
  for (auto [channel, version] : put.new_versions.items()) {
    if (is_trigger(channel)) continue;
    prepared->channels.emplace_back(channel, next_version(put, lineage, channel, version));
  }
  const Value id(put.checkpoint.id);
  prepared->checkpoint = {id, checkpoint_map(put, lineage), {}};
  prepared->checkpoint.stored = lineage.checkpoint.add(id, prepared->checkpoint.value, id,
                                                       *serializer_, make_checkpoint_patch);
  prepared->metadata = encode_metadata(put.metadata);
  prepared->pack = prepared->make_pack(true);
  prepared->can_wait = can_wait_for_next(put);
  lineage.new_origins.clear();
  for (const auto& [channel, version] : prepared->channels) {
    lineage.new_origins.emplace_back(channel, put.checkpoint.id);
  }
  if (is_complete) cache_.remember(put.key, put.checkpoint.id, std::move(lineage));
  return [this, prepared](Connection& connection) {
    CLEW_CHECK(batch_.has_value());
    prepared->store(connection, heads_, *batch_);
  };
}

void NativeLayout::begin_puts() { batch_.emplace(table_time_now(), heads_); }

void NativeLayout::finish_puts(Connection& connection) {
  batch_->finish(connection);
  batch_.reset();
}

// What the checkpoint that the new one follows holds. Bases are always older
// than what builds on them, so chains cannot run in circles.
Lineage NativeLayout::lineage_of(const CheckpointPut& put) {
  if (put.key.checkpoint_id.empty() || put.checkpoint.id <= put.key.checkpoint_id) return {};
  if (auto known = cache_.take(put.key)) return std::move(*known);
  return database_.read([&](Connection& connection) {
    NativeReader reader(connection, *serializer_, put.key.thread_id, put.key.checkpoint_ns);
    return reader.lineage(put.key.checkpoint_id);
  });
}

NativeLayout::Version NativeLayout::next_version(const CheckpointPut& put, Lineage& lineage,
                                                 std::string_view channel,
                                                 const Value& version) const {
  Version next{version_text(version), {}, {}};
  const Value* value = put.checkpoint.channel_values.find(channel);
  if (!value) {
    next.stored.data.tag = kEmptyType;
    lineage.channels.erase(std::string(channel));
    return next;
  }
  next.value = *value;
  VersionChain& chain = lineage.channels[std::string(channel)];
  next.stored = chain.add(next.version, next.value, put.checkpoint.id, *serializer_);
  return next;
}

TypedBytes NativeLayout::encode_metadata(const Value& metadata) const {
  // For whoever reads the file with SQL; what JSON cannot hold is kept exactly.
  if (is_plain_ && is_json(metadata)) return {std::string(kJsonType), to_json(metadata)};
  return serializer_->dumps_typed(metadata);
}

void NativeLayout::forget(const CheckpointKey& key) { cache_.forget_thread(key.thread_id); }

}  // namespace clew::sqlite

// What is done to whole threads in the native layout.
#include <map>
#include <set>

#include "checkpoint/sqlite/native_layout.hpp"
#include "checkpoint/thread_conflict.hpp"
#include "checkpoint/thread_query.hpp"

namespace clew::sqlite {
namespace {

using internal::CheckpointFacts;
using internal::Retention;
using internal::StoredValue;

std::int64_t number(const std::optional<std::string>& text) {
  return text && !text->empty() ? std::stoll(*text) : 0;
}

}  // namespace

void NativeLayout::delete_thread(Connection& connection, std::string_view thread_id) {
  connection.run("DELETE FROM checkpoints WHERE thread_id = ?", thread_id);
  connection.run("DELETE FROM clew_blobs WHERE thread_id = ?", thread_id);
  connection.run("DELETE FROM clew_writes WHERE thread_id = ?", thread_id);
  connection.run("DELETE FROM clew_threads WHERE thread_id = ?", thread_id);
  cache_.forget_thread(thread_id);
}

void NativeLayout::copy_thread(Connection& connection, std::string_view source,
                               std::string_view target) {
  constexpr std::string_view kExists = "SELECT 1 FROM clew_threads WHERE thread_id = ?";
  if (!connection.value(kExists, source)) return;
  if (connection.value(kExists, target)) internal::refuse_copy(source, target);
  const std::string now = table_time_now();
  connection.run(
      "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_ns_hash, checkpoint_id,"
      " parent_checkpoint_id, base_checkpoint_id, place, replaced, type, checkpoint,"
      " metadata_type, metadata, gmt_create, gmt_modified, new_blobs, step_writes, data)"
      " SELECT ?1, checkpoint_ns, checkpoint_ns_hash, checkpoint_id, parent_checkpoint_id,"
      " base_checkpoint_id, place, replaced, type, checkpoint, metadata_type, metadata,"
      " gmt_create, iif(step_writes IS NULL, ?3, gmt_modified), new_blobs, step_writes, data"
      " FROM checkpoints WHERE thread_id = ?2"
      " ORDER BY rowid",
      target, source, now);
  connection.run(
      "INSERT INTO clew_blobs (thread_id, checkpoint_ns, checkpoint_ns_hash, channel, version,"
      " base_version, place, type, blob_data, base_checkpoint_id) SELECT ?, checkpoint_ns,"
      " checkpoint_ns_hash, channel, version, base_version, place, type, blob_data,"
      " base_checkpoint_id FROM clew_blobs WHERE thread_id = ? ORDER BY rowid",
      target, source);
  connection.run(
      "INSERT INTO clew_writes (thread_id, checkpoint_ns, checkpoint_ns_hash,"
      " checkpoint_id, task_id, task_path, node, idx, channel, type, blob_data, gmt_create)"
      " SELECT ?, checkpoint_ns, checkpoint_ns_hash, checkpoint_id, task_id, task_path, node,"
      " idx, channel, type, blob_data, gmt_create FROM clew_writes WHERE thread_id = ?"
      " ORDER BY rowid",
      target, source);
  connection.run(
      "INSERT INTO clew_threads (thread_id, checkpoints, writes, bytes, status, checkpoint_id,"
      " updated_at, metadata_type, metadata, gmt_create, gmt_modified) SELECT ?1, checkpoints,"
      " writes, bytes, status,"
      " checkpoint_id, updated_at, metadata_type, metadata, gmt_create, ?3 FROM threads"
      " WHERE thread_id = ?2",
      target, source, now);
}

// Removing ------------------------------------------------------------------------

Retention NativeLayout::retention(Connection& connection, const CheckpointKey& place) const {
  const auto reader = std::make_shared<NativeReader>(connection, *serializer_, place.thread_id,
                                                     place.checkpoint_ns);
  std::vector<CheckpointFacts> facts;
  for (Rows rows = connection.query(
           "SELECT checkpoint_id, parent_checkpoint_id, metadata_type, metadata FROM checkpoints"
           " WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id",
           place.thread_id, place.checkpoint_ns);
       rows.next();) {
    const Value& map = reader->checkpoint(rows.text(0)).value();
    facts.push_back({std::string(rows.text(0)), std::string(rows.text(1)),
                     static_cast<int>(map["v"].as_int()), map.get<std::string>("ts"),
                     decode_metadata(*serializer_, rows.text(2), rows.text(3)),
                     map["channel_versions"]});
  }
  const auto stored = [reader](std::string_view id, std::string_view channel) {
    const Value map = reader->checkpoint(id).value();
    if (const Value* trigger = map["triggers"].find(channel))
      return internal::stored_form(*trigger);
    const VersionChain& chain = reader->value(channel, map["channel_versions"][channel],
                                              NativeReader::origin_of(map, id, channel));
    return chain.empty() ? StoredValue::none : internal::stored_form(chain.value());
  };
  return Retention(std::move(facts), stored);
}

// Questions are never packed.
bool NativeLayout::has_open_interrupt(Connection& connection, const CheckpointKey& key) const {
  return connection
      .value(
          "SELECT 1 FROM clew_writes WHERE thread_id = ? AND checkpoint_ns = ?"
          " AND checkpoint_id = ? AND channel = '__interrupt__' LIMIT 1",
          key.thread_id, key.checkpoint_ns, key.checkpoint_id)
      .has_value();
}

Value NativeLayout::newest_metadata(Connection& connection, const CheckpointKey& place) const {
  Rows rows = connection.query(
      "SELECT metadata_type, metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
      " ORDER BY checkpoint_id DESC LIMIT 1",
      place.thread_id, place.checkpoint_ns);
  return rows.next() ? decode_metadata(*serializer_, rows.text(0), rows.text(1)) : Value();
}

namespace {

using Versions = std::set<std::string>;

// The rows of one chain that stay, freed from those that go.
struct Rebasing {
  std::map<std::string, std::string> bases;  // version -> base, of all that are stored
  Versions kept;
  std::function<Value(const std::string& version)> value_of;
  std::function<VersionChain(const std::string& version)> chain_after;  // as it will be read
  std::function<void(const std::string& version, const StoredVersion& stored)> store;

  // Oldest first: what a version is based on is then as it will be. It takes the place
  // that follows there, so that chains stay as short as ever.
  void run(const Serializer& serializer) const {
    for (const std::string& version : kept) {
      const auto found = bases.find(version);
      if (found == bases.end()) continue;
      std::string base = found->second;
      if (base.empty() || kept.contains(base)) continue;
      while (!base.empty() && !kept.contains(base)) base = bases.at(base);
      VersionChain chain;
      if (!base.empty()) chain = chain_after(base);
      store(version, chain.add(Value(version), value_of(version), Value(""), serializer));
    }
  }
};

// What stays of one namespace.
class Retained {
 public:
  Retained(Connection& connection, const Serializer& serializer, const CheckpointKey& place,
           const Retention& retention, const Retention::Ids& kept)
      : connection_(connection),
        serializer_(serializer),
        place_(place),
        retention_(retention),
        kept_(kept),
        before_(connection, serializer, place.thread_id, place.checkpoint_ns),
        after_(connection, serializer, place.thread_id, place.checkpoint_ns) {}

  void apply() {
    rebase_checkpoints();
    for (const auto& [channel, versions] : versions_by_channel()) {
      retain_channel(channel, versions);
    }
    for (const CheckpointFacts& checkpoint : retention_.facts()) retain(checkpoint);
  }

 private:
  void rebase_checkpoints() {
    Rebasing rebasing;
    for (Rows rows = connection_.query(
             "SELECT checkpoint_id, base_checkpoint_id FROM checkpoints WHERE thread_id = ?"
             " AND checkpoint_ns = ?",
             place_.thread_id, place_.checkpoint_ns);
         rows.next();) {
      rebasing.bases.emplace(rows.text(0), rows.text(1));
    }
    rebasing.kept = Versions(kept_.begin(), kept_.end());
    rebasing.value_of = [this](const std::string& id) { return before_.checkpoint(id).value(); };
    rebasing.chain_after = [this](const std::string& id) { return after_.checkpoint(id); };
    rebasing.store = [this](const std::string& id, const StoredVersion& stored) {
      connection_.run(
          "UPDATE checkpoints SET base_checkpoint_id = ?, place = ?, type = ?, checkpoint = ?"
          " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
          nothing_if_null(stored.base), stored.place, stored.data.tag, Blob{stored.data.bytes},
          place_.thread_id, place_.checkpoint_ns, id);
    };
    rebasing.run(serializer_);
  }

  std::map<std::string, Versions> versions_by_channel() const {
    std::map<std::string, Versions> versions;
    for (const CheckpointFacts& checkpoint : retention_.facts()) {
      const bool stays = kept_.contains(checkpoint.id);
      for (auto [channel, version] : checkpoint.channel_versions.items()) {
        Versions& of_channel = versions[std::string(channel)];
        if (stays) of_channel.emplace(version_text(version).as_string());
      }
    }
    return versions;
  }

  void retain_channel(const std::string& channel, const Versions& versions) {
    Rebasing rebasing;
    for (Rows rows =
             connection_.query("SELECT version, base_version FROM clew_blobs WHERE thread_id = ?"
                               " AND checkpoint_ns = ? AND channel = ?",
                               place_.thread_id, place_.checkpoint_ns, channel);
         rows.next();) {
      rebasing.bases.emplace(rows.text(0), rows.text(1));
    }
    rebasing.kept = versions;
    rebasing.value_of = [&](const std::string& version) {
      return before_.value(channel, Value(version), {}).value();
    };
    rebasing.chain_after = [&](const std::string& version) {
      return after_.value(channel, Value(version), {});
    };
    rebasing.store = [&](const std::string& version, const StoredVersion& stored) {
      connection_.run(
          "UPDATE clew_blobs SET base_version = ?, base_checkpoint_id = NULL, place = ?, type = ?,"
          " blob_data = ? WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ? AND version = "
          "?",
          nothing_if_null(stored.base), stored.place, stored.data.tag, Blob{stored.data.bytes},
          place_.thread_id, place_.checkpoint_ns, channel, version);
    };
    rebasing.run(serializer_);
    for (const auto& [version, base] : rebasing.bases) {
      if (versions.contains(version)) continue;
      connection_.run(
          "DELETE FROM clew_blobs WHERE thread_id = ? AND checkpoint_ns = ? AND channel = ?"
          " AND version = ?",
          place_.thread_id, place_.checkpoint_ns, channel, version);
    }
  }

  void retain(const CheckpointFacts& checkpoint) {
    if (!kept_.contains(checkpoint.id)) {
      connection_.run(
          "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
          " AND checkpoint_id = ?",
          place_.thread_id, place_.checkpoint_ns, checkpoint.id);
    } else if (!checkpoint.parent_id.empty() && !kept_.contains(checkpoint.parent_id)) {
      connection_.run(
          "UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = ?"
          " AND checkpoint_ns = ? AND checkpoint_id = ?",
          place_.thread_id, place_.checkpoint_ns, checkpoint.id);
    }
  }

  Connection& connection_;
  const Serializer& serializer_;
  const CheckpointKey& place_;
  const Retention& retention_;
  const Retention::Ids& kept_;
  NativeReader before_;
  NativeReader after_;  // only of what is as it will be
};

// With all values, and the writes that are packed with them.
void delete_checkpoints(Connection& connection, const CheckpointKey& place) {
  for (const std::string_view sql :
       {"DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?",
        "DELETE FROM clew_blobs WHERE thread_id = ? AND checkpoint_ns = ?"}) {
    connection.run(sql, place.thread_id, place.checkpoint_ns);
  }
}

}  // namespace

void NativeLayout::retain(Connection& connection, const CheckpointKey& place,
                          const Retention& retention, const Retention::Ids& kept) {
  if (kept.size() == retention.facts().size()) return;
  if (kept.empty()) {
    delete_checkpoints(connection, place);
  } else {
    unpack_namespace(connection, place);
    Retained(connection, *serializer_, place, retention, kept).apply();
  }
  // Writes may arrive before their checkpoint, which is then the next newest.
  connection.run(
      "DELETE FROM clew_writes WHERE thread_id = ?1 AND checkpoint_ns = ?2"
      " AND checkpoint_id <= ?3 AND checkpoint_id NOT IN (SELECT checkpoint_id FROM checkpoints"
      " WHERE thread_id = ?1 AND checkpoint_ns = ?2)",
      place.thread_id, place.checkpoint_ns, retention.facts().back().id);
  cache_.forget_thread(place.thread_id);
}

void NativeLayout::delete_namespace(Connection& connection, const CheckpointKey& place) {
  delete_checkpoints(connection, place);
  connection.run("DELETE FROM clew_writes WHERE thread_id = ? AND checkpoint_ns = ?",
                 place.thread_id, place.checkpoint_ns);
  cache_.forget_thread(place.thread_id);
}

// Counts a thread anew after rows were removed.
void NativeLayout::recount(Connection& connection, std::string_view thread_id) {
  const ThreadSize size = thread_size(connection, thread_id);
  if (size.checkpoints + size.writes + size.values == 0) {
    connection.run("DELETE FROM clew_threads WHERE thread_id = ?", thread_id);
    return;
  }
  NativeReader reader(connection, *serializer_, thread_id, "");
  const std::string newest = reader.newest();
  const VersionChain& checkpoint = reader.checkpoint(newest);
  const std::string ts = checkpoint.empty() ? "" : checkpoint.value().get<std::string>("ts");
  connection.run(
      "UPDATE clew_threads SET checkpoints = ?2, writes = ?3, bytes = ?4, checkpoint_id = ?5,"
      " updated_at = ?6, status = ?7, gmt_modified = ?8 WHERE "
      "thread_id = ?1",
      thread_id, static_cast<std::int64_t>(size.checkpoints),
      static_cast<std::int64_t>(size.writes), static_cast<std::int64_t>(size.bytes), newest, ts,
      Value(internal::status_of(reader.writes(newest))).as_string(), table_time_now());
  connection.run(
      "UPDATE clew_threads SET (metadata_type, metadata) = (SELECT metadata_type, metadata"
      " FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = '' AND checkpoint_id = ?2"
      " UNION ALL SELECT 'null', x'' LIMIT 1) WHERE thread_id = ?1",
      thread_id, newest);
}

// Looking ---------------------------------------------------------------------------

std::vector<ThreadInfo> NativeLayout::list_threads(Connection& connection,
                                                   const ThreadQuery& query) {
  std::vector<ThreadInfo> found;
  Rows rows = connection.query(
      "SELECT thread_id, checkpoints, checkpoint_id, updated_at, metadata_type, metadata,"
      " status FROM threads WHERE (?1 = '' OR thread_id > ?1) ORDER BY thread_id",
      query.after);
  while ((!query.limit || found.size() < *query.limit) && rows.next()) {
    if (rows.integer(1) == 0) continue;  // asked for here, as SQLite would count twice
    ThreadInfo info;
    info.thread_id = rows.text(0);
    info.checkpoints = static_cast<std::size_t>(rows.integer(1));
    info.checkpoint_id = rows.text(2);
    info.updated_at = rows.text(3);
    const bool has_root = !info.checkpoint_id.empty();  // else nothing was encoded
    if (has_root) info.metadata = decode_metadata(*serializer_, rows.text(4), rows.text(5));
    info.status = Value(rows.text(6)).get<ThreadStatus>();
    if (internal::matches(info, query)) found.push_back(std::move(info));
  }
  return found;
}

ThreadSize NativeLayout::thread_size(Connection& connection, std::string_view thread_id) {
  const auto count = [&](std::string_view sql) {
    return static_cast<std::size_t>(number(connection.value(sql, thread_id)));
  };
  ThreadSize size;
  size.checkpoints = count("SELECT count(*) FROM checkpoints WHERE thread_id = ?");
  size.writes = count("SELECT count(*) FROM checkpoint_writes WHERE thread_id = ?");
  size.values =
      count("SELECT count(*) FROM checkpoint_blobs WHERE thread_id = ? AND type <> 'empty'");
  size.write_bytes =
      count("SELECT sum(length(blob_data)) FROM checkpoint_writes WHERE thread_id = ?");
  size.value_bytes =
      count("SELECT sum(length(blob_data)) FROM checkpoint_blobs WHERE thread_id = ?");
  size.bytes = size.write_bytes + size.value_bytes +
               count(
                   "SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints"
                   " WHERE thread_id = ?");
  return size;
}

}  // namespace clew::sqlite

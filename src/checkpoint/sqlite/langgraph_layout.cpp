// Storing and reading. What is done to whole threads is in langgraph_threads.cpp.
#include "checkpoint/sqlite/langgraph_layout.hpp"

#include <algorithm>

#include <clew/json.hpp>

#include "checkpoint/sqlite/langgraph_rows.hpp"
#include "checkpoint/thread_conflict.hpp"
#include "checkpoint/thread_query.hpp"
#include "serde/document.hpp"

namespace clew::sqlite {

namespace {

constexpr std::string_view kTables = R"sql(
CREATE TABLE IF NOT EXISTS checkpoints (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    parent_checkpoint_id TEXT,
    type TEXT,
    checkpoint BLOB,
    metadata BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    task_path TEXT NOT NULL DEFAULT '',
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
)sql";

// Sends are in the checkpoint since this version; before, some writers kept them
// beside its channels.
constexpr int kFirstVersionWithSends = 4;
constexpr std::string_view kSendsChannel = "__pregel_tasks";

// One task's writes as they are stored.
struct EncodedWrites {
  const WritesPut* put;
  std::vector<TypedBytes> values;
  bool replaces;
};

EncodedWrites encode(const WritesPut& put, const Serializer& serializer) {
  EncodedWrites encoded{&put, {}, true};
  encoded.values.reserve(put.writes.size());
  for (const ChannelWrite& write : put.writes) {
    encoded.values.push_back(encode_write(serializer, put, write));
    // One other write in the list, and what is stored stays, control writes included.
    encoded.replaces = encoded.replaces && write_index(write.channel, 0) < 0;
  }
  return encoded;
}

void store(Connection& connection, const EncodedWrites& encoded) {
  const std::string_view sql =
      encoded.replaces
          ? "INSERT OR REPLACE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, "
            "task_path, idx, channel, type, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
          : "INSERT OR IGNORE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, "
            "task_path, idx, channel, type, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
  const WritesPut& put = *encoded.put;
  for (std::size_t i = 0; i < put.writes.size(); ++i) {
    const std::string& channel = put.writes[i].channel;
    const TypedBytes& value = encoded.values[i];
    connection.run(sql, put.key.thread_id, put.key.checkpoint_ns, put.key.checkpoint_id,
                   put.task_id, put.task_path, write_index(channel, i), channel, value.tag,
                   Blob{value.bytes});
  }
}

// The map in the order of Python's keys.
Value checkpoint_map(const Checkpoint& checkpoint) {
  return object({{"v", checkpoint.v},
                 {"ts", checkpoint.ts},
                 {"id", checkpoint.id},
                 {"channel_values", checkpoint.channel_values},
                 {"channel_versions", checkpoint.channel_versions},
                 {"versions_seen", checkpoint.versions_seen},
                 {"updated_channels", checkpoint.updated_channels}});
}

std::size_t count_writes(Connection& connection, const CheckpointKey& key) {
  Rows rows = connection.query(
      "SELECT count(*) FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      key.thread_id, key.checkpoint_ns, key.checkpoint_id);
  return rows.next() ? static_cast<std::size_t>(rows.integer(0)) : 0;
}

Value object_or_empty(const Value& value) { return value.is_object() ? value : object(); }

std::string text_or(const Value& value, std::string_view otherwise) {
  return std::string(value.is_string() ? value.as_string() : otherwise);
}

// Moves Sends that lie beside the channels into the channel that holds them today.
void take_in_sends(const Value& sends, Checkpoint& checkpoint) {
  if (checkpoint.v >= kFirstVersionWithSends || !sends.is_list() || sends.empty()) return;
  Value newest;
  for (auto [channel, version] : checkpoint.channel_versions.items()) {
    newest = std::max(newest, version);
  }
  checkpoint.channel_values = checkpoint.channel_values.set(kSendsChannel, sends);
  checkpoint.channel_versions = checkpoint.channel_versions.set(kSendsChannel, newest);
}

// Reads maps with fields missing or unknown: other versions and languages have
// other ones.
Checkpoint checkpoint_from(std::string_view id, const Value& map) {
  Checkpoint checkpoint;
  checkpoint.v = map["v"].is_int() ? map.get<int>("v") : 1;
  checkpoint.id = text_or(map["id"], id);
  checkpoint.ts = text_or(map["ts"], "");
  checkpoint.channel_values = object_or_empty(map["channel_values"]);
  checkpoint.channel_versions = object_or_empty(map["channel_versions"]);
  checkpoint.versions_seen = object_or_empty(map["versions_seen"]);
  checkpoint.updated_channels = map["updated_channels"];
  take_in_sends(map["pending_sends"], checkpoint);
  return checkpoint;
}

// Old files, and those of LangGraph.js, have none.
bool has_task_path(Connection& connection) {
  return connection.value("SELECT 1 FROM pragma_table_info('writes') WHERE name = 'task_path'")
      .has_value();
}

}  // namespace

std::unique_ptr<Layout> make_langgraph_layout(Database& database,
                                              std::shared_ptr<const Serializer> serializer) {
  return std::make_unique<LangGraphLayout>(database, std::move(serializer));
}

LangGraphLayout::LangGraphLayout(Database& database, std::shared_ptr<const Serializer> serializer)
    : database_(database),
      serializer_(std::move(serializer)),
      plain_(dynamic_cast<const JsonPlusSerializer*>(serializer_.get())) {
  // A row is a whole state, whose pages are passed once: not much memory for them is quicker.
  constexpr std::size_t kPages = 1 << 20;
  database_.keep_pages(kPages);
}

Value parse_metadata(std::string_view json) {
  if (json.empty()) return object();
  return parse_json(json, {.allow_non_finite = true, .lone_surrogates = LoneSurrogates::replace});
}

bool LangGraphLayout::is_made(Connection& connection) {
  return connection.has_table("checkpoints") && has_task_path(connection);
}

void LangGraphLayout::create(Connection& connection) {
  connection.execute(std::string(kTables));
  if (!has_task_path(connection)) {
    connection.execute("ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''");
  }
  check_key(connection);
}

// Python may have encrypted some threads of a file and others not. One of the first that it has,
// if any, tells whether the key is the same.
void LangGraphLayout::check_key(Connection& connection) const {
  if (plain_) return;
  expect_readable(
      connection.query("SELECT type, checkpoint FROM checkpoints WHERE type LIKE '%+%' AND rowid"
                       " IN (SELECT rowid FROM checkpoints ORDER BY rowid LIMIT 100) LIMIT 1"),
      *serializer_);
}

// Writing -----------------------------------------------------------------------

struct LangGraphLayout::EncodedCheckpoint {
  TypedBytes dumped;
  std::shared_ptr<const internal::MsgpackDocument> document;  // if there is one, it has the bytes

  std::string_view bytes() const { return document ? document->bytes() : dumped.bytes; }
  bool is_read_as_written() const { return document && document->is_read_as_written; }
};

LangGraphLayout::EncodedCheckpoint LangGraphLayout::encode_checkpoint(const CheckpointPut& put,
                                                                      const Value& map) {
  if (!plain_) return {serializer_->dumps_typed(map), nullptr};
  const auto earlier = encodings_.look(put.key, [](const auto& shared) { return shared; });
  const auto document =
      spent_documents_->share(earlier ? serde::dump_document(*plain_, map, earlier->get(),
                                                             spent_documents_->take(**earlier))
                                      : serde::dump_document(*plain_, map, nullptr, {}));
  // Else there is nothing to copy from it.
  if (!document->long_lists.empty()) {
    encodings_.remember(put.key, put.checkpoint.id, document, document->size);
  }
  return {{std::string(serde::kDocumentTag), {}}, document};
}

Database::Change LangGraphLayout::put(const CheckpointPut& put) {
  struct Encoded {
    std::vector<EncodedWrites> writes;
    EncodedCheckpoint checkpoint;
  };
  auto encoded = std::make_shared<Encoded>();
  // First, so that a value that cannot be stored is said to be a node's.
  for (const WritesPut& writes : put.writes)
    encoded->writes.push_back(encode(writes, *serializer_));
  const auto row = std::make_shared<CheckpointRow>();
  row->checkpoint = checkpoint_map(put.checkpoint);
  row->parent_id = put.key.checkpoint_id;
  row->metadata =
      to_json(object_or_empty(put.metadata), {.spaced = true, .non_finite = NonFinite::literal});
  encoded->checkpoint = encode_checkpoint(put, row->checkpoint);
  row->bytes = encoded->checkpoint.bytes().size() + row->metadata.size();

  return [this, &put, encoded, row](Connection& connection) {
    const CheckpointKey& key = put.key;
    if (put.expected_head) internal::expect_head(put, newest_checkpoint(connection, key));
    if (put.expected_writes) internal::expect_writes(put, count_writes(connection, key));
    for (const EncodedWrites& writes : encoded->writes) store(connection, writes);
    connection.keep_pages_of_value(row->bytes);
    std::optional<std::string_view> parent_id;
    if (!row->parent_id.empty()) parent_id = row->parent_id;
    connection.run(
        "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
        "parent_checkpoint_id, type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)",
        key.thread_id, key.checkpoint_ns, put.checkpoint.id, parent_id,
        encoded->checkpoint.dumped.tag, Blob{encoded->checkpoint.bytes()}, Blob{row->metadata});
    if (encoded->checkpoint.is_read_as_written()) {
      checkpoints_.store(key, put.checkpoint.id, row, database_.transaction());
    } else {
      checkpoints_.change(key, database_.transaction());
    }
  };
}

void LangGraphLayout::forget(const CheckpointKey& key) {
  checkpoints_.forget(key);
  encodings_.forget(key);
}

Database::Change LangGraphLayout::put_writes(std::span<const WritesPut> puts,
                                             std::exception_ptr& unencodable) {
  auto encoded = encode_each(puts, unencodable,
                             [this](const WritesPut& put) { return encode(put, *serializer_); });
  return [encoded = std::move(encoded)](Connection& connection) {
    for (const auto& of_task : encoded) store(connection, of_task.to_store(connection));
  };
}

// Reading -----------------------------------------------------------------------

Checkpoint LangGraphLayout::load_checkpoint(std::string_view id, std::string_view tag,
                                            std::string_view bytes) const {
  return checkpoint_from(id, serializer_->loads_typed(tag, bytes));
}

std::vector<PendingWrite> LangGraphLayout::load_writes(Connection& connection,
                                                       const CheckpointKey& key) const {
  std::vector<PendingWrite> writes;
  Rows rows = connection.query(
      "SELECT task_id, channel, type, value, task_path FROM writes WHERE thread_id = ? AND "
      "checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_path, task_id, idx",
      key.thread_id, key.checkpoint_ns, key.checkpoint_id);
  while (rows.next()) {
    writes.push_back({.task_id = std::string(rows.text(0)),
                      .channel = std::string(rows.text(1)),
                      .value = serializer_->loads_typed(rows.text(2), rows.text(3)),
                      .task_path = std::string(rows.text(4))});
  }
  return writes;
}

std::optional<CheckpointTuple> LangGraphLayout::get_tuple(Connection& connection,
                                                          const CheckpointKey& key) {
  // It is not known what a connection shows that has begun to read before.
  const std::optional<Era> era = connection.is_reading() ? std::nullopt : database_.era();
  CheckpointKey found = key;
  if (key.checkpoint_id.empty()) found.checkpoint_id = newest_checkpoint(connection, key);
  if (era) {
    if (auto known = get_known(connection, found, *era)) return known;
  }
  const CheckpointCache::Row row = load_row(connection, found);
  if (!row) return std::nullopt;
  // Whoever asks for it is likely to continue it.
  if (era && database_.era() == era) checkpoints_.read(found, row, era->last);
  return tuple(connection, found, *row);
}

std::optional<CheckpointTuple> LangGraphLayout::get_known(Connection& connection,
                                                          const CheckpointKey& key,
                                                          const Era& era) {
  const CheckpointCache::Row row = checkpoints_.look(key, era);
  if (!row) return std::nullopt;
  CheckpointTuple known = tuple(connection, key, *row);
  // The writes are from the file: only now it is certain that both are from one state.
  if (database_.era() != era) return std::nullopt;
  return known;
}

CheckpointCache::Row LangGraphLayout::load_row(Connection& connection,
                                               const CheckpointKey& key) const {
  Rows row = connection.query(
      "SELECT parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints "
      "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
      key.thread_id, key.checkpoint_ns, key.checkpoint_id);
  if (!row.next()) return nullptr;
  return std::make_shared<CheckpointRow>(
      CheckpointRow{.checkpoint = serializer_->loads_typed(row.text(1), row.text(2)),
                    .parent_id = std::string(row.text(0)),
                    .metadata = std::string(row.text(3)),
                    .bytes = row.text(2).size() + row.text(3).size()});
}

CheckpointTuple LangGraphLayout::tuple(Connection& connection, const CheckpointKey& key,
                                       const CheckpointRow& row) const {
  return {.key = key,
          .checkpoint = checkpoint_from(key.checkpoint_id, row.checkpoint),
          .metadata = parse_metadata(row.metadata),
          .parent_id = row.parent_id,
          .pending_writes = load_writes(connection, key)};
}

// Over all namespaces by id alone, as Python lists them.
std::vector<CheckpointTuple> LangGraphLayout::list(Connection& connection,
                                                   std::string_view thread_id,
                                                   std::optional<std::string_view> checkpoint_ns,
                                                   const ListOptions& options) {
  std::vector<CheckpointTuple> found;
  std::optional<std::string_view> before;
  if (!options.before.empty()) before = options.before;
  // Each by its own statement: one for both could not follow the index.
  constexpr std::string_view kOfNamespace =
      "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata "
      "FROM checkpoints WHERE thread_id = ?1 AND checkpoint_ns = ?2 "
      "AND (?3 IS NULL OR checkpoint_id < ?3) ORDER BY checkpoint_id DESC";
  constexpr std::string_view kOfThread =
      "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata "
      "FROM checkpoints WHERE thread_id = ?1 AND ?2 IS NULL "
      "AND (?3 IS NULL OR checkpoint_id < ?3) ORDER BY checkpoint_id DESC";
  Rows rows =
      connection.query(checkpoint_ns ? kOfNamespace : kOfThread, thread_id, checkpoint_ns, before);
  while ((!options.limit || found.size() < *options.limit) && rows.next()) {
    Value metadata = parse_metadata(rows.text(5));
    if (!internal::matches_metadata(metadata, options.filter)) continue;
    CheckpointKey key{std::string(thread_id), std::string(rows.text(0)), std::string(rows.text(1))};
    Checkpoint checkpoint = load_checkpoint(rows.text(1), rows.text(3), rows.text(4));
    std::vector<PendingWrite> writes = load_writes(connection, key);
    found.push_back({.key = std::move(key),
                     .checkpoint = std::move(checkpoint),
                     .metadata = std::move(metadata),
                     .parent_id = std::string(rows.text(2)),
                     .pending_writes = std::move(writes)});
  }
  return found;
}

}  // namespace clew::sqlite

#include <clew/errors.hpp>

#include "checkpoint/sqlite/native_layout.hpp"

namespace clew::sqlite {
namespace {

constexpr std::int64_t kSchemaVersion = 1;

// The version has a table of its own: PRAGMA user_version may be another
// program's that keeps its tables in the same file.
constexpr std::string_view kTables = R"(
CREATE TABLE IF NOT EXISTS clew_schema (version INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS checkpoints (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_ns_hash TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  parent_checkpoint_id TEXT,
  base_checkpoint_id TEXT,
  place INTEGER NOT NULL DEFAULT 0,
  replaced INTEGER NOT NULL DEFAULT 0,
  type TEXT NOT NULL,
  checkpoint BLOB NOT NULL,
  metadata_type TEXT NOT NULL,
  metadata BLOB NOT NULL,
  gmt_create TEXT NOT NULL,
  gmt_modified TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS checkpoints_key
  ON checkpoints (thread_id, checkpoint_ns, checkpoint_id);

CREATE TABLE IF NOT EXISTS checkpoint_blobs (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_ns_hash TEXT NOT NULL,
  channel TEXT NOT NULL,
  version TEXT NOT NULL,
  base_version TEXT,
  place INTEGER NOT NULL DEFAULT 0,
  type TEXT NOT NULL,
  blob_data BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS checkpoint_blobs_key
  ON checkpoint_blobs (thread_id, checkpoint_ns, channel, version);

CREATE TABLE IF NOT EXISTS checkpoint_writes (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_ns_hash TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  task_path TEXT NOT NULL DEFAULT '',
  node TEXT NOT NULL DEFAULT '',
  idx INTEGER NOT NULL,
  channel TEXT NOT NULL,
  type TEXT NOT NULL,
  blob_data BLOB,
  gmt_create TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS checkpoint_writes_key
  ON checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx);

CREATE TABLE IF NOT EXISTS threads (
  thread_id TEXT NOT NULL PRIMARY KEY,
  checkpoints INTEGER NOT NULL DEFAULT 0,
  writes INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'idle',
  checkpoint_id TEXT NOT NULL DEFAULT '',
  updated_at TEXT NOT NULL DEFAULT '',
  metadata_type TEXT NOT NULL DEFAULT 'null',
  metadata BLOB NOT NULL DEFAULT x'',
  gmt_create TEXT NOT NULL,
  gmt_modified TEXT NOT NULL
) WITHOUT ROWID;
)";

}  // namespace

NativeLayout::NativeLayout(Database& database, std::shared_ptr<const Serializer> serializer)
    : database_(database), serializer_(std::move(serializer)), is_plain_(is_plain(*serializer_)) {}

std::unique_ptr<Layout> make_native_layout(Database& database,
                                           std::shared_ptr<const Serializer> serializer) {
  return std::make_unique<NativeLayout>(database, std::move(serializer));
}

void NativeLayout::create(Connection& connection) {
  connection.execute(std::string(kTables));
  const auto version = connection.value("SELECT max(version) FROM clew_schema");
  if (version->empty()) {
    connection.run("INSERT INTO clew_schema (version) VALUES (?)", kSchemaVersion);
  } else if (std::stoll(*version) > kSchemaVersion) {
    throw StorageError("the SQLite file has schema version " + *version +
                       ", this Clew knows up to " + std::to_string(kSchemaVersion) +
                       "; open it with the newer Clew that made it");
  }
  check_key(connection);
}

// A file that began encrypted holds something to try the key on, so that nobody adds rows
// that others cannot read.
void NativeLayout::check_key(Connection& connection) const {
  if (connection.has_table("clew_key")) return try_key(connection);
  if (is_plain_ || connection.value("SELECT 1 FROM checkpoints LIMIT 1")) return;
  const TypedBytes sample = serializer_->dumps_typed(object());
  connection.execute("CREATE TABLE clew_key (type TEXT NOT NULL, data BLOB NOT NULL)");
  connection.run("INSERT INTO clew_key (type, data) VALUES (?, ?)", sample.tag, Blob{sample.bytes});
}

void NativeLayout::try_key(Connection& connection) const {
  if (is_plain_) {
    throw CryptoError(
        "the SQLite file is encrypted; open it with the serializer and the key it was made with");
  }
  Rows rows = connection.query("SELECT type, data FROM clew_key");
  if (!rows.next()) return;
  try {
    static_cast<void>(serializer_->loads_typed(rows.text(0), rows.text(1)));
  } catch (const SerdeError& error) {
    throw CryptoError("the key is not the one that the SQLite file was made with: " +
                      std::string(error.what()));
  }
}

}  // namespace clew::sqlite

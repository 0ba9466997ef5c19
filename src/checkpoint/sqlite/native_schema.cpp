#include <clew/errors.hpp>

#include "checkpoint/sqlite/native_layout.hpp"

namespace clew::sqlite {
namespace {

constexpr std::int64_t kSchemaVersion = 4;

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
  gmt_modified TEXT NOT NULL,
  new_blobs TEXT,
  step_writes TEXT,
  data BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS checkpoints_key
  ON checkpoints (thread_id, checkpoint_ns, checkpoint_id);

CREATE TABLE IF NOT EXISTS clew_blobs (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_ns_hash TEXT NOT NULL,
  channel TEXT NOT NULL,
  version TEXT NOT NULL,
  base_version TEXT,
  place INTEGER NOT NULL DEFAULT 0,
  type TEXT NOT NULL,
  blob_data BLOB,
  base_checkpoint_id TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS checkpoint_blobs_key
  ON clew_blobs (thread_id, checkpoint_ns, channel, version);

CREATE TABLE IF NOT EXISTS clew_writes (
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
  ON clew_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx);

CREATE TABLE IF NOT EXISTS clew_threads (
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

// What is packed in the rows of checkpoints, and how a row is unpacked: by deleting it from
// clew_packed. A row that is damaged stays as it is.
constexpr std::string_view kPacked = R"(
CREATE VIEW IF NOT EXISTS clew_packed_blobs AS
  SELECT step.thread_id, step.checkpoint_ns, step.checkpoint_ns_hash,
    json_extract(blob.value, '$[0]') AS channel,
    json_extract(blob.value, '$[1]') AS version,
    json_extract(blob.value, '$[5]') AS base_version,
    ifnull(json_extract(blob.value, '$[7]'), 0) AS place,
    json_extract(blob.value, '$[2]') AS type,
    substr(step.data, json_extract(blob.value, '$[3]'), json_extract(blob.value, '$[4]'))
      AS blob_data,
    json_extract(blob.value, '$[6]') AS base_checkpoint_id,
    step.checkpoint_id AS packed_in
  FROM checkpoints AS step, json_each(iif(json_valid(step.new_blobs), step.new_blobs, NULL)) AS blob;

CREATE VIEW IF NOT EXISTS clew_packed_writes AS
  SELECT step.thread_id, step.checkpoint_ns, step.checkpoint_ns_hash,
    step.parent_checkpoint_id AS checkpoint_id,
    json_extract(task.value, '$[0]') AS task_id,
    json_extract(task.value, '$[1]') AS task_path,
    json_extract(task.value, '$[2]') AS node,
    json_extract(written.value, '$[0]') AS idx,
    json_extract(written.value, '$[1]') AS channel,
    json_extract(written.value, '$[2]') AS type,
    substr(step.data, json_extract(written.value, '$[3]'), json_extract(written.value, '$[4]'))
      AS blob_data,
    step.gmt_modified AS gmt_create,
    step.checkpoint_id AS packed_in
  FROM checkpoints AS step,
    json_each(iif(json_valid(step.step_writes), step.step_writes, NULL)) AS task,
    json_each(task.value, '$[3]') AS written;

CREATE VIEW IF NOT EXISTS clew_packed AS
  SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id FROM checkpoints
  WHERE (new_blobs IS NOT NULL OR step_writes IS NOT NULL)
    AND (new_blobs IS NULL OR json_valid(new_blobs))
    AND (step_writes IS NULL OR json_valid(step_writes));
DROP TRIGGER IF EXISTS clew_unpack;
CREATE TRIGGER clew_unpack INSTEAD OF DELETE ON clew_packed BEGIN
  UPDATE clew_threads SET (checkpoints, writes, bytes, status, checkpoint_id, updated_at,
      metadata_type, metadata, gmt_modified) = (SELECT checkpoints, writes, bytes, status,
      checkpoint_id, updated_at, metadata_type, metadata, gmt_modified FROM threads
      WHERE thread_id = OLD.thread_id)
    WHERE OLD.checkpoint_ns = '' AND thread_id = OLD.thread_id
    AND checkpoint_id < OLD.checkpoint_id;
  INSERT OR IGNORE INTO clew_blobs SELECT thread_id, checkpoint_ns, checkpoint_ns_hash, channel,
      version, base_version, place, type, blob_data, base_checkpoint_id
    FROM clew_packed_blobs WHERE thread_id = OLD.thread_id
    AND checkpoint_ns = OLD.checkpoint_ns AND packed_in = OLD.checkpoint_id;
  INSERT OR IGNORE INTO clew_writes SELECT thread_id, checkpoint_ns, checkpoint_ns_hash,
      checkpoint_id, task_id, task_path, node, idx, channel, type, blob_data, gmt_create
    FROM clew_packed_writes WHERE thread_id = OLD.thread_id
    AND checkpoint_ns = OLD.checkpoint_ns AND packed_in = OLD.checkpoint_id;
  UPDATE checkpoints SET new_blobs = NULL, step_writes = NULL, data = NULL
    WHERE thread_id = OLD.thread_id AND checkpoint_ns = OLD.checkpoint_ns
    AND checkpoint_id = OLD.checkpoint_id;
END;
)";

// A row of clew_threads counts all of a thread but the root checkpoints that are newer than the
// one it names: the writer leaves them out while some node waits to run. To SQL the threads are
// those rows with what they leave out; changing one counts that. A process of version 3 that
// still runs would count it twice, and its steps are refused.
constexpr std::string_view kThreads = R"(
CREATE VIEW IF NOT EXISTS clew_uncounted AS
  SELECT step.thread_id, step.checkpoint_id,
    (SELECT ifnull(sum(iif(task.type = 'array', json_array_length(task.value, '$[3]'), 0)), 0)
      FROM json_each(iif(json_valid(step.step_writes), step.step_writes, NULL)) AS task) AS writes,
    length(step.checkpoint) + length(step.metadata) +
    (SELECT ifnull(sum(iif(blob.type = 'array',
        max(0, min(json_extract(blob.value, '$[4]'), length(step.data))), 0)), 0)
      FROM json_each(iif(json_valid(step.new_blobs), step.new_blobs, NULL)) AS blob) +
    (SELECT ifnull(sum(iif(written.type = 'array',
        max(0, min(json_extract(written.value, '$[4]'), length(step.data))), 0)), 0)
      FROM json_each(iif(json_valid(step.step_writes), step.step_writes, NULL)) AS task,
        json_each(iif(task.type = 'array', task.value, NULL), '$[3]') AS written) AS bytes
  FROM clew_threads AS counted, checkpoints AS step
  WHERE step.thread_id = counted.thread_id AND step.checkpoint_ns = ''
    AND step.checkpoint_id > counted.checkpoint_id;

CREATE VIEW IF NOT EXISTS threads AS
  SELECT counted.thread_id,
    counted.checkpoints + iif(newest.checkpoint_id IS NULL, 0, (SELECT count(*)
      FROM clew_uncounted AS step WHERE step.thread_id = counted.thread_id)) AS checkpoints,
    counted.writes + iif(newest.checkpoint_id IS NULL, 0, (SELECT sum(step.writes)
      FROM clew_uncounted AS step WHERE step.thread_id = counted.thread_id)) AS writes,
    counted.bytes + iif(newest.checkpoint_id IS NULL, 0, (SELECT sum(step.bytes)
      FROM clew_uncounted AS step WHERE step.thread_id = counted.thread_id)) AS bytes,
    iif(newest.checkpoint_id IS NULL, counted.status, 'idle') AS status,
    ifnull(newest.checkpoint_id, counted.checkpoint_id) AS checkpoint_id,
    ifnull(replace(newest.gmt_create, ' ', 'T') || '+00:00', counted.updated_at) AS updated_at,
    ifnull(newest.metadata_type, counted.metadata_type) AS metadata_type,
    ifnull(newest.metadata, counted.metadata) AS metadata,
    counted.gmt_create,
    ifnull(newest.gmt_modified, counted.gmt_modified) AS gmt_modified
  FROM clew_threads AS counted LEFT JOIN checkpoints AS newest
    ON newest.thread_id = counted.thread_id AND newest.checkpoint_ns = ''
    AND newest.checkpoint_id > counted.checkpoint_id
    AND newest.checkpoint_id = (SELECT max(checkpoint_id) FROM checkpoints
      WHERE thread_id = counted.thread_id AND checkpoint_ns = '');
CREATE TRIGGER IF NOT EXISTS clew_threads_insert INSTEAD OF INSERT ON threads BEGIN
  INSERT INTO clew_threads (thread_id, checkpoints, writes, bytes, status, checkpoint_id,
      updated_at, metadata_type, metadata, gmt_create, gmt_modified)
    VALUES (NEW.thread_id, ifnull(NEW.checkpoints, 0), ifnull(NEW.writes, 0),
      ifnull(NEW.bytes, 0), ifnull(NEW.status, 'idle'), ifnull(NEW.checkpoint_id, ''),
      ifnull(NEW.updated_at, ''), ifnull(NEW.metadata_type, 'null'), ifnull(NEW.metadata, x''),
      NEW.gmt_create, NEW.gmt_modified);
END;
CREATE TRIGGER IF NOT EXISTS clew_threads_update INSTEAD OF UPDATE ON threads BEGIN
  SELECT RAISE(ABORT,
      'the counters of threads are kept by Clew; end an older one that has the file open')
    WHERE NEW.checkpoints IS NOT OLD.checkpoints OR NEW.writes IS NOT OLD.writes
    OR NEW.bytes IS NOT OLD.bytes OR NEW.checkpoint_id IS NOT OLD.checkpoint_id;
  UPDATE clew_threads SET thread_id = NEW.thread_id, checkpoints = NEW.checkpoints,
    writes = NEW.writes, bytes = NEW.bytes, status = NEW.status,
    checkpoint_id = NEW.checkpoint_id, updated_at = NEW.updated_at,
    metadata_type = NEW.metadata_type, metadata = NEW.metadata, gmt_create = NEW.gmt_create,
    gmt_modified = NEW.gmt_modified WHERE thread_id = OLD.thread_id;
END;
CREATE TRIGGER IF NOT EXISTS clew_threads_delete INSTEAD OF DELETE ON threads BEGIN
  DELETE FROM clew_threads WHERE thread_id = OLD.thread_id;
END;
)";

// What SQL sees: tables, which can be changed as such.
constexpr std::string_view kViews = R"(
CREATE VIEW IF NOT EXISTS checkpoint_blobs AS
  SELECT * FROM clew_packed_blobs UNION ALL SELECT *, NULL FROM clew_blobs;
CREATE TRIGGER IF NOT EXISTS checkpoint_blobs_insert INSTEAD OF INSERT ON checkpoint_blobs BEGIN
  INSERT INTO clew_blobs VALUES (NEW.thread_id, NEW.checkpoint_ns, NEW.checkpoint_ns_hash,
    NEW.channel, NEW.version, NEW.base_version, ifnull(NEW.place, 0), NEW.type, NEW.blob_data,
    NEW.base_checkpoint_id);
END;
CREATE TRIGGER IF NOT EXISTS checkpoint_blobs_update INSTEAD OF UPDATE ON checkpoint_blobs BEGIN
  DELETE FROM clew_packed WHERE thread_id = OLD.thread_id
    AND checkpoint_ns = OLD.checkpoint_ns AND checkpoint_id = OLD.packed_in;
  UPDATE clew_blobs SET thread_id = NEW.thread_id, checkpoint_ns = NEW.checkpoint_ns,
    checkpoint_ns_hash = NEW.checkpoint_ns_hash, channel = NEW.channel, version = NEW.version,
    base_version = NEW.base_version, place = NEW.place, type = NEW.type,
    blob_data = NEW.blob_data, base_checkpoint_id = NEW.base_checkpoint_id
    WHERE thread_id = OLD.thread_id AND checkpoint_ns = OLD.checkpoint_ns
    AND channel = OLD.channel AND version = OLD.version;
END;
CREATE TRIGGER IF NOT EXISTS checkpoint_blobs_delete INSTEAD OF DELETE ON checkpoint_blobs BEGIN
  DELETE FROM clew_packed WHERE thread_id = OLD.thread_id
    AND checkpoint_ns = OLD.checkpoint_ns AND checkpoint_id = OLD.packed_in;
  DELETE FROM clew_blobs WHERE thread_id = OLD.thread_id AND checkpoint_ns = OLD.checkpoint_ns
    AND channel = OLD.channel AND version = OLD.version;
END;

CREATE VIEW IF NOT EXISTS checkpoint_writes AS
  SELECT * FROM clew_packed_writes UNION ALL SELECT *, NULL FROM clew_writes;
CREATE TRIGGER IF NOT EXISTS checkpoint_writes_insert INSTEAD OF INSERT ON checkpoint_writes BEGIN
  INSERT INTO clew_writes VALUES (NEW.thread_id, NEW.checkpoint_ns, NEW.checkpoint_ns_hash,
    NEW.checkpoint_id, NEW.task_id, ifnull(NEW.task_path, ''), ifnull(NEW.node, ''), NEW.idx,
    NEW.channel, NEW.type, NEW.blob_data, NEW.gmt_create);
END;
CREATE TRIGGER IF NOT EXISTS checkpoint_writes_update INSTEAD OF UPDATE ON checkpoint_writes BEGIN
  DELETE FROM clew_packed WHERE thread_id = OLD.thread_id
    AND checkpoint_ns = OLD.checkpoint_ns AND checkpoint_id = OLD.packed_in;
  UPDATE clew_writes SET thread_id = NEW.thread_id, checkpoint_ns = NEW.checkpoint_ns,
    checkpoint_ns_hash = NEW.checkpoint_ns_hash, checkpoint_id = NEW.checkpoint_id,
    task_id = NEW.task_id, task_path = NEW.task_path, node = NEW.node, idx = NEW.idx,
    channel = NEW.channel, type = NEW.type, blob_data = NEW.blob_data,
    gmt_create = NEW.gmt_create
    WHERE thread_id = OLD.thread_id AND checkpoint_ns = OLD.checkpoint_ns
    AND checkpoint_id = OLD.checkpoint_id AND task_id = OLD.task_id AND idx = OLD.idx;
END;
CREATE TRIGGER IF NOT EXISTS checkpoint_writes_delete INSTEAD OF DELETE ON checkpoint_writes BEGIN
  DELETE FROM clew_packed WHERE thread_id = OLD.thread_id
    AND checkpoint_ns = OLD.checkpoint_ns AND checkpoint_id = OLD.packed_in;
  DELETE FROM clew_writes WHERE thread_id = OLD.thread_id AND checkpoint_ns = OLD.checkpoint_ns
    AND checkpoint_id = OLD.checkpoint_id AND task_id = OLD.task_id AND idx = OLD.idx;
END;
)";

// Of version 1, where everything had a row of its own.
constexpr std::string_view kUpgradeFrom1 = R"(
ALTER TABLE checkpoint_blobs RENAME TO clew_blobs;
ALTER TABLE checkpoint_writes RENAME TO clew_writes;
ALTER TABLE clew_blobs ADD COLUMN base_checkpoint_id TEXT;
ALTER TABLE checkpoints ADD COLUMN new_blobs TEXT;
ALTER TABLE checkpoints ADD COLUMN step_writes TEXT;
ALTER TABLE checkpoints ADD COLUMN data BLOB;
)";

// Of version 3, where the row of a thread counted all of it. Version 2 had the same tables; only
// its checkpoints are never stored as steps.
constexpr std::string_view kRenameThreads = "ALTER TABLE threads RENAME TO clew_threads";

// Renaming must not look into the views of other programs: those of these tables are to see the
// views that take their place.
void upgrade(Connection& connection, std::int64_t version) {
  connection.execute("PRAGMA legacy_alter_table = ON");
  if (version == 1) connection.execute(std::string(kUpgradeFrom1));
  connection.execute(std::string(kRenameThreads));
  connection.execute("PRAGMA legacy_alter_table = OFF");
}

// 0 of a file that has none yet.
std::int64_t schema_version(Connection& connection) {
  if (!connection.has_table("clew_schema")) return 0;
  Rows rows = connection.query("SELECT max(version) FROM clew_schema");
  return rows.next() ? rows.integer(0) : 0;
}

std::int64_t known_version(Connection& connection) {
  const std::int64_t version = schema_version(connection);
  if (version <= kSchemaVersion) return version;
  throw StorageError("the SQLite file has schema version " + std::to_string(version) +
                     ", this Clew knows up to " + std::to_string(kSchemaVersion) +
                     "; open it with the newer Clew that made it");
}

void make_tables(Connection& connection, std::int64_t version) {
  if (version != 0) upgrade(connection, version);
  for (const std::string_view part : {kTables, kPacked, kThreads, kViews}) {
    connection.execute(std::string(part));
  }
  connection.run(version == 0 ? "INSERT INTO clew_schema (version) VALUES (?)"
                              : "UPDATE clew_schema SET version = ?",
                 kSchemaVersion);
}

}  // namespace

NativeLayout::NativeLayout(Database& database, std::shared_ptr<const Serializer> serializer)
    : database_(database),
      serializer_(std::move(serializer)),
      is_plain_(is_plain(*serializer_)),
      heads_(database) {}

std::unique_ptr<Layout> make_native_layout(Database& database,
                                           std::shared_ptr<const Serializer> serializer) {
  return std::make_unique<NativeLayout>(database, std::move(serializer));
}

bool NativeLayout::is_made(Connection& connection) {
  return known_version(connection) == kSchemaVersion && !begins_encrypted(connection);
}

void NativeLayout::create(Connection& connection) {
  const std::int64_t version = known_version(connection);
  if (version < kSchemaVersion) make_tables(connection, version);
  if (begins_encrypted(connection)) add_key(connection);
  check_key(connection);
}

// A file that began encrypted holds something to try the key on, so that nobody adds rows
// that others cannot read.
bool NativeLayout::begins_encrypted(Connection& connection) const {
  return !is_plain_ && !connection.has_table("clew_key") &&
         !connection.value("SELECT 1 FROM checkpoints LIMIT 1");
}

void NativeLayout::check_key(Connection& connection) const {
  if (connection.has_table("clew_key")) return try_key(connection);
  if (is_plain_) return;
  for (const std::string_view sql :
       {"SELECT type, checkpoint FROM checkpoints ORDER BY rowid LIMIT 1",
        "SELECT type, checkpoint FROM checkpoints WHERE type LIKE '%+%' LIMIT 1"}) {
    expect_readable(connection.query(sql), *serializer_);
  }
}

void NativeLayout::add_key(Connection& connection) const {
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

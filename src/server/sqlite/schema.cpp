#include "server/sqlite/schema.hpp"

#include <clew/errors.hpp>

namespace clew::server::sqlite {
namespace {

constexpr std::int64_t kSchemaVersion = 1;

// Times are Unix microseconds. A label is an entry of some metadata; the table is
// the index by which searches find rows, the newest first.
constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS agent_schema (version INTEGER NOT NULL, secret BLOB NOT NULL);

CREATE TABLE IF NOT EXISTS agent_assistants (
  assistant_id TEXT NOT NULL PRIMARY KEY,
  graph_id TEXT NOT NULL,
  name TEXT NOT NULL,
  is_system INTEGER NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  metadata BLOB NOT NULL,
  body BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS agent_assistant_versions (
  assistant_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  graph_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  metadata BLOB NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (assistant_id, version)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS agent_threads (
  thread_id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  state_updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  metadata BLOB NOT NULL,
  body BLOB NOT NULL,
  thread_values BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS agent_threads_key ON agent_threads (thread_id);
CREATE INDEX IF NOT EXISTS agent_threads_created ON agent_threads (created_at, thread_id);
CREATE INDEX IF NOT EXISTS agent_threads_updated ON agent_threads (updated_at, thread_id);
CREATE INDEX IF NOT EXISTS agent_threads_state ON agent_threads (state_updated_at, thread_id);
CREATE INDEX IF NOT EXISTS agent_threads_status ON agent_threads (status, created_at, thread_id);
CREATE INDEX IF NOT EXISTS agent_threads_expiry ON agent_threads (expires_at)
  WHERE expires_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS agent_runs (
  run_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  assistant_id TEXT NOT NULL,
  status TEXT NOT NULL,
  multitask_strategy TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  metadata BLOB NOT NULL,
  kwargs BLOB NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS agent_runs_key ON agent_runs (run_id);
CREATE INDEX IF NOT EXISTS agent_runs_thread ON agent_runs (thread_id, created_at, run_id);
CREATE INDEX IF NOT EXISTS agent_runs_unfinished ON agent_runs (thread_id, created_at)
  WHERE status IN ('pending', 'running');

CREATE TABLE IF NOT EXISTS agent_crons (
  cron_id TEXT NOT NULL PRIMARY KEY,
  assistant_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  next_run_date INTEGER,
  end_time INTEGER,
  metadata BLOB NOT NULL,
  body BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS agent_crons_due ON agent_crons (next_run_date)
  WHERE enabled = 1 AND next_run_date IS NOT NULL;

CREATE TABLE IF NOT EXISTS agent_labels (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (kind, key, value, created_at, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS agent_events (
  thread_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  protocol_seq INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  data BLOB NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (thread_id, place)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS agent_events_run ON agent_events (run_id, seq);
)";

}  // namespace

void create_tables(clew::sqlite::Connection& connection) {
  connection.execute(kTables);
  const auto version = connection.value("SELECT max(version) FROM agent_schema");
  if (version && !version->empty() && std::stoll(*version) > kSchemaVersion) {
    throw StorageError("the SQLite file has version " + *version +
                       " of the server's tables, this Clew knows up to " +
                       std::to_string(kSchemaVersion) + "; open it with the newer Clew");
  }
}

std::optional<std::string> stored_secret(clew::sqlite::Connection& connection) {
  return connection.value("SELECT secret FROM agent_schema");
}

void store_secret(clew::sqlite::Connection& connection, std::string_view secret) {
  connection.run("INSERT INTO agent_schema (version, secret) VALUES (?, ?)", kSchemaVersion,
                 clew::sqlite::Blob{secret});
}

}  // namespace clew::server::sqlite

#include "checkpoint/sqlite/connection.hpp"

#include <clew/errors.hpp>

namespace clew::sqlite {
namespace {

// What to do about it, where there is something.
std::string_view advice(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program keeps the file locked: raise SqliteOptions::busy_timeout or end it";
    case SQLITE_FULL: return "; the disk is full: nothing of this call was stored";
    case SQLITE_READONLY: return "; give this user the right to write the file and its folder";
    case SQLITE_CANTOPEN: return "; check that the folder exists and may be written";
    case SQLITE_NOTADB: return "; take another path, or the key or program that made the file";
    case SQLITE_CORRUPT: return "; restore the file from a backup, or try sqlite3's .recover";
    default: return "";
  }
}

[[noreturn]] void fail(sqlite3* database, int code) {
  const char* name = database ? sqlite3_db_filename(database, nullptr) : nullptr;
  std::string message = "SQLite";
  if (name && *name) message += " file '" + std::string(name) + "'";
  message += ": " + std::string(database ? sqlite3_errmsg(database) : sqlite3_errstr(code));
  throw StorageError(message + " (code " + std::to_string(code) + ")" + std::string(advice(code)));
}

void check(sqlite3_stmt* statement, int code) {
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement), code);
}

}  // namespace

Rows::~Rows() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(sqlite3_db_handle(statement_), code);
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Rows::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Connection::Connection(const std::string& path, std::chrono::milliseconds busy_timeout) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &database_, flags, nullptr);
  try {
    if (code != SQLITE_OK) fail(database_, code);
    sqlite3_extended_result_codes(database_, 1);
    sqlite3_busy_timeout(database_, static_cast<int>(busy_timeout.count()));
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Connection::~Connection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(database_);
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(database_, code);
}

bool Connection::try_execute(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if ((code & 0xFF) == SQLITE_BUSY) return false;
  if (code != SQLITE_OK) fail(database_, code);
  return true;
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(database_) == 0; }

sqlite3_stmt* Connection::prepare(std::string_view sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement) return statement;
  const int code = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    statements_.erase(sql);
    fail(database_, code);
  }
  return statement;
}

std::int64_t Connection::finish(sqlite3_stmt* statement) {
  Rows rows(statement);
  const std::int64_t before = sqlite3_total_changes64(database_);
  while (rows.next()) {
  }
  return sqlite3_total_changes64(database_) - before;
}

// The bytes are not copied: they outlive the statement's run.
void Connection::bind(sqlite3_stmt* statement, int position, std::string_view text) {
  const char* bytes = text.data() ? text.data() : "";
  check(statement,
        sqlite3_bind_text64(statement, position, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Connection::bind(sqlite3_stmt* statement, int position, Blob blob) {
  const char* bytes = blob.bytes.data() ? blob.bytes.data() : "";
  check(statement,
        sqlite3_bind_blob64(statement, position, bytes, blob.bytes.size(), SQLITE_STATIC));
}

void Connection::bind(sqlite3_stmt* statement, int position, std::int64_t number) {
  check(statement, sqlite3_bind_int64(statement, position, number));
}

void Connection::bind(sqlite3_stmt* statement, int position, std::nullptr_t) {
  check(statement, sqlite3_bind_null(statement, position));
}

Snapshot::Snapshot(Connection& connection)
    : connection_(connection), is_ours_(!connection.in_transaction()) {
  if (is_ours_) connection_.run("BEGIN");
}

Snapshot::~Snapshot() {
  if (!is_ours_ || !connection_.in_transaction()) return;
  try {
    connection_.run("COMMIT");  // nothing was written: it only lets go of the snapshot
  } catch (const StorageError&) {
    // Then the connection has let go of it already.
  }
}

}  // namespace clew::sqlite

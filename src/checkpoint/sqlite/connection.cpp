#include "checkpoint/sqlite/connection.hpp"

#include <memory>

#include <clew/errors.hpp>

#include "checkpoint/sqlite/log_index.hpp"
#include "checkpoint/sqlite/log_vfs.hpp"

namespace clew::sqlite {
namespace {

// What to do about it, where there is something.
std::string_view advice(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another program keeps the file locked: raise SqliteOptions::busy_timeout or end it";
    case SQLITE_FULL:
      return "; the disk is full: nothing of this call was stored; free space and try again";
    case SQLITE_IOERR:
      return "; the disk failed or is full: see that it works and has space, and try again";
    case SQLITE_READONLY: return "; give this user the right to write the file and its folder";
    case SQLITE_CANTOPEN:
      return "; check that the folder exists, that the path is no folder itself, and that this user"
             " may read and write both";
    case SQLITE_NOTADB: return "; take another path, or the key or program that made the file";
    case SQLITE_CORRUPT: return "; restore the file from a backup, or try sqlite3's .recover";
    default: return "";
  }
}

[[noreturn]] void fail(sqlite3* database, int code, const char* path = nullptr) {
  const char* open_file = database ? sqlite3_db_filename(database, nullptr) : nullptr;
  const char* name = open_file && *open_file ? open_file : path;
  std::string message = "SQLite";
  if (name) message += " file '" + std::string(name) + "'";
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

double Rows::real(int column) const { return sqlite3_column_double(statement_, column); }

std::string_view Rows::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

Connection::Connection(const std::string& path, std::chrono::milliseconds busy_timeout)
    : busy_timeout_(static_cast<int>(busy_timeout.count())) {
  // SQLite would make a file that is gone when it is closed.
  if (path.empty()) throw StorageError("the path of the SQLite file is empty; name a file");
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &database_, flags, log_vfs());
  try {
    if (code != SQLITE_OK) fail(database_, code, path.c_str());
    sqlite3_extended_result_codes(database_, 1);
    sqlite3_busy_timeout(database_, busy_timeout_);
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
  sqlite3_busy_timeout(database_, 0);
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(database_, busy_timeout_);
  if ((code & 0xFF) == SQLITE_BUSY) return false;
  if (code != SQLITE_OK) fail(database_, code);
  return true;
}

namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

void bind_value(sqlite3_stmt* statement, int position, const Value& value) {
  switch (value.kind()) {
    case Kind::null: return check(statement, sqlite3_bind_null(statement, position));
    case Kind::boolean:
      return check(statement, sqlite3_bind_int(statement, position, value.as_bool()));
    case Kind::integer:
      return check(statement, sqlite3_bind_int64(statement, position, value.as_int()));
    case Kind::floating:
      return check(statement, sqlite3_bind_double(statement, position, value.as_double()));
    case Kind::string: {
      const std::string_view text = value.as_string();
      return check(statement, sqlite3_bind_text64(statement, position, text.data(), text.size(),
                                                  SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    case Kind::bytes: {
      const std::string_view bytes = value.as_bytes();
      return check(statement, sqlite3_bind_blob64(statement, position, bytes.data(), bytes.size(),
                                                  SQLITE_TRANSIENT));
    }
    default: throw ValueError("SQL takes no " + value.type_name() + " as a parameter");
  }
}

Value column_value(sqlite3_stmt* statement, int column) {
  const auto bytes = [&] {
    const void* data = sqlite3_column_blob(statement, column);
    return std::string_view(static_cast<const char*>(data),
                            static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return Value(std::int64_t{sqlite3_column_int64(statement, column)});
    case SQLITE_FLOAT: return Value(sqlite3_column_double(statement, column));
    case SQLITE_TEXT: return Value(bytes());
    case SQLITE_BLOB: return Value::bytes(bytes());
    default: return {};
  }
}

void set_result(sqlite3_context* context, const Value& result) {
  if (result.is_string()) {
    const std::string_view text = result.as_string();
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } else if (result.is_bytes()) {
    const std::string_view bytes = result.as_bytes();
    sqlite3_result_blob64(context, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  } else {
    sqlite3_result_null(context);
  }
}

// SQLite's callback: what is thrown becomes the error of the SELECT.
void call_function(sqlite3_context* context, int count, sqlite3_value** arguments) {
  try {
    std::vector<std::string> texts;
    for (int i = 0; i < count; ++i) {
      const void* data = sqlite3_value_blob(arguments[i]);
      texts.emplace_back(static_cast<const char*>(data ? data : ""),
                         static_cast<std::size_t>(sqlite3_value_bytes(arguments[i])));
    }
    const auto& function = *static_cast<Connection::Function*>(sqlite3_user_data(context));
    set_result(context, function(texts));
  } catch (const std::exception& error) {
    sqlite3_result_error(context, error.what(), -1);
  }
}

}  // namespace

Value Connection::select(const std::string& sql, const Value& parameters) {
  sqlite3_stmt* made = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &made, nullptr);
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(made);
  if (code != SQLITE_OK) fail(database_, code);
  if (!made) throw ValueError("there is no SQL statement");
  if (!sqlite3_stmt_readonly(made)) throw ValueError("the SQL statement would change the file");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    bind_value(made, static_cast<int>(i) + 1, parameters[i]);
  }
  ListBuilder rows;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(made)) == SQLITE_ROW) {
    ObjectBuilder row;
    for (int column = 0; column < sqlite3_column_count(made); ++column) {
      row.set(sqlite3_column_name(made, column), column_value(made, column));
    }
    rows.push_back(std::move(row).build());
  }
  if (step != SQLITE_DONE) fail(database_, step);
  return std::move(rows).build();
}

void Connection::add_function(const char* name, int arguments, Function function) {
  const auto destroy = [](void* owned) { delete static_cast<Function*>(owned); };
  const int code = sqlite3_create_function_v2(database_, name, arguments, SQLITE_UTF8,
                                              new Function(std::move(function)), call_function,
                                              nullptr, nullptr, destroy);
  if (code != SQLITE_OK) fail(database_, code);
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(database_) == 0; }

bool Connection::is_reading() const {
  return sqlite3_txn_state(database_, "main") != SQLITE_TXN_NONE;
}

std::int64_t Connection::total_changes() const { return sqlite3_total_changes64(database_); }

void Connection::keep_pages(std::size_t bytes) {
  constexpr std::size_t kKilobyte = 1024;  // by which SQLite counts numbers below zero
  execute("PRAGMA cache_size = -" + std::to_string(bytes / kKilobyte));
  kept_bytes_ = bytes;
}

void Connection::keep_pages_of_value(std::size_t bytes) {
  // Its pages, those of the value before, and others.
  constexpr std::size_t kTimes = 3;
  constexpr std::size_t kMost = 64 << 20;
  const std::size_t wanted = std::min(kTimes * bytes, kMost);
  if (wanted > kept_bytes_) keep_pages(wanted);
}

void Connection::copy_log_after(int pages) {
  most_pages_ = pages;
  sqlite3_wal_hook(database_, copy_log, this);
}

// SQLite's callback after a commit. What cannot be copied now stays in the log until later; the
// commit is done all the same. Nobody is waited for: who reads or writes may take long.
int Connection::copy_log(void* connection, sqlite3* database, const char* name, int pages) {
  const auto& self = *static_cast<const Connection*>(connection);
  if (pages < self.most_pages_) return SQLITE_OK;
  sqlite3_busy_timeout(database, 0);
  sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_FULL, nullptr, nullptr);
  sqlite3_busy_timeout(database, self.busy_timeout_);
  return SQLITE_OK;
}

std::uint32_t* Connection::log_index() {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database_, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (!file || !file->pMethods || file->pMethods->iVersion < 2) return nullptr;
  if (!file->pMethods->xShmMap) return nullptr;
  void volatile* index = nullptr;
  if (file->pMethods->xShmMap(file, 0, kIndexRegion, 0, &index) != SQLITE_OK) return nullptr;
  return static_cast<std::uint32_t*>(const_cast<void*>(index));
}

sqlite3_stmt* Connection::prepare(std::string_view sql) {
  sqlite3_stmt*& statement = statements_[sql.data()];
  if (statement) return statement;
  const int code = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    statements_.erase(sql.data());
    fail(database_, code);
  }
  return statement;
}

std::int64_t Connection::finish(sqlite3_stmt* statement) {
  Rows rows(statement);
  const std::int64_t before = total_changes();
  while (rows.next()) {
  }
  return total_changes() - before;
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

void Connection::bind(sqlite3_stmt* statement, int position, double number) {
  check(statement, sqlite3_bind_double(statement, position, number));
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

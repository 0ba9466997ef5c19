// SQLite's C interface with owners and exceptions. What SQLite reports becomes a
// StorageError here and nowhere else.
//
//   Connection connection(path, kReadWrite, busy_timeout);
//   connection.run("DELETE FROM writes WHERE thread_id = ?", thread_id);
//   for (Rows rows = connection.query("SELECT checkpoint_id FROM ..."); rows.next();)
//     use(rows.text(0));
//
// A connection belongs to one thread at a time. Statements are compiled once
// per connection and SQL text; the text must be a literal.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <clew/value.hpp>

namespace clew::sqlite {

// Bytes that are stored as a BLOB; text is stored as TEXT.
struct Blob {
  std::string_view bytes;
};

// The rows of a running query. Ends the query when it goes.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows();

  bool next();

  // Of the current row; views are valid until the next one.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // of TEXT and BLOB alike; empty for NULL

 private:
  sqlite3_stmt* statement_;
};

class Connection {
 public:
  Connection(const std::string& path, std::chrono::milliseconds busy_timeout);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Runs a statement to its end; returns how many rows it changed.
  template <class... Arguments>
  std::int64_t run(std::string_view sql, const Arguments&... arguments) {
    sqlite3_stmt* statement = prepare(sql);
    int position = 0;
    (bind(statement, ++position, arguments), ...);
    return finish(statement);
  }

  // The arguments must live as long as the rows.
  template <class... Arguments>
  Rows query(std::string_view sql, const Arguments&... arguments) {
    sqlite3_stmt* statement = prepare(sql);
    int position = 0;
    (bind(statement, ++position, arguments), ...);
    return Rows(statement);
  }

  // The rows of any SELECT, each an object by column.
  Value select(const std::string& sql, const Value& parameters);

  // A function for SQL: of these arguments' texts, a text or bytes, or null.
  using Function = std::function<Value(const std::vector<std::string>& arguments)>;
  void add_function(const char* name, int arguments, Function function);

  // Several statements without arguments or results, not kept.
  void execute(const std::string& sql);
  // The same; false if another connection is in the way, which is not waited for.
  bool try_execute(const std::string& sql);

  // The first column of the first row, or nothing.
  template <class... Arguments>
  std::optional<std::string> value(std::string_view sql, const Arguments&... arguments) {
    Rows rows = query(sql, arguments...);
    if (!rows.next()) return std::nullopt;
    return std::string(rows.text(0));
  }

  bool has_table(std::string_view name) {
    return value("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name).has_value();
  }

  bool in_transaction() const;
  // Whether it sees one state of the file by now: a transaction does from its first statement on
  // that looks there.
  bool is_reading() const;

  // How many rows were changed since it was opened.
  std::int64_t total_changes() const;

  // How many bytes of the file's pages it keeps in memory.
  void keep_pages(std::size_t bytes);
  // Keeps enough of them to store such a value time and again. Memory for what is more is asked of
  // the system each time, and given back.
  void keep_pages_of_value(std::size_t bytes);

  // A commit that leaves so many pages in the log copies them to the file. If no other process
  // writes at the moment, none does until that is done: the log can begin anew then, unless
  // somebody reads it, and is copied many pages at a time.
  void copy_log_after(int pages);

  // The index of the file's log, which all that use the file share in memory.
  // Null if there is none, as for a file in memory.
  std::uint32_t* log_index();

 private:
  static int copy_log(void* connection, sqlite3* database, const char* name, int pages);
  sqlite3_stmt* prepare(std::string_view sql);
  std::int64_t finish(sqlite3_stmt* statement);
  static void bind(sqlite3_stmt* statement, int position, std::string_view text);
  static void bind(sqlite3_stmt* statement, int position, Blob blob);
  static void bind(sqlite3_stmt* statement, int position, std::int64_t number);
  static void bind(sqlite3_stmt* statement, int position, double number);
  static void bind(sqlite3_stmt* statement, int position, std::nullptr_t);
  template <class T>
  static void bind(sqlite3_stmt* statement, int position, const std::optional<T>& value) {
    if (value) return bind(statement, position, *value);
    bind(statement, position, nullptr);
  }

  sqlite3* database_ = nullptr;
  const int busy_timeout_;                                     // in milliseconds
  int most_pages_ = 0;                                         // in the log
  std::size_t kept_bytes_ = 0;                                 // of pages
  std::unordered_map<const char*, sqlite3_stmt*> statements_;  // by where their text is
};

// A look at one state of the file, whatever is committed meanwhile.
class Snapshot {
 public:
  explicit Snapshot(Connection& connection);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

 private:
  Connection& connection_;
  bool is_ours_;
};

}  // namespace clew::sqlite

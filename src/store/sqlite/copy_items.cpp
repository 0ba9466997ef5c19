#include "store/sqlite/copy_items.hpp"

#include <clew/errors.hpp>

#include "store/sqlite/items.hpp"

namespace clew::sqlite {
namespace {

// Another file under the name `source`, which no transaction may be open for.
class Attached {
 public:
  Attached(Connection& connection, const std::string& path) : connection_(connection) {
    connection_.run("ATTACH ? AS source", path);
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached() {
    try {
      if (connection_.in_transaction()) connection_.execute("ROLLBACK");
      connection_.execute("DETACH source");
    } catch (const StorageError&) {
      // Whatever led here is being thrown already.
    }
  }

 private:
  Connection& connection_;
};

std::int64_t count_items(Connection& connection) {
  Rows rows = connection.query("SELECT count(*) FROM main.store");
  rows.next();
  return rows.integer(0);
}

bool has_vectors(Connection& connection) {
  return connection
      .value("SELECT 1 FROM source.sqlite_schema WHERE type = 'table' AND name = 'store_vectors'")
      .has_value();
}

}  // namespace

std::size_t copy_items(Database& database, const std::string& source) {
  std::int64_t copied = 0;
  database.maintain([&](Connection& connection) {
    const Attached attached(connection, source);
    connection.execute("BEGIN IMMEDIATE");
    if (has_vectors(connection)) {
      create_store_tables(connection, true);
      // Of items that are about to be added, and of no others.
      connection.execute(
          "INSERT INTO store_vectors (prefix, key, field_name, embedding, created_at, updated_at)"
          " SELECT prefix, key, field_name, embedding, created_at, updated_at"
          " FROM source.store_vectors WHERE (prefix, key) IN (SELECT prefix, key FROM source.store)"
          " AND (prefix, key) NOT IN (SELECT prefix, key FROM store)");
    }
    connection.execute(
        "INSERT OR IGNORE INTO clew_store_index (prefix, key, paths) SELECT prefix, key, paths"
        " FROM source.clew_store_index WHERE (prefix, key) NOT IN (SELECT prefix, key FROM store)");
    const std::int64_t before = count_items(connection);
    connection.execute(
        "INSERT OR IGNORE INTO store (prefix, key, value, created_at, updated_at, expires_at,"
        " ttl_minutes) SELECT prefix, key, value, created_at, updated_at, expires_at, ttl_minutes"
        " FROM source.store ORDER BY rowid");
    copied = count_items(connection) - before;
    connection.execute("COMMIT");
  });
  return static_cast<std::size_t>(copied);
}

}  // namespace clew::sqlite

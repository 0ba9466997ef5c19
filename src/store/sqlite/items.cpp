#include "store/sqlite/items.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <clew/errors.hpp>
#include <clew/time.hpp>

#include "store/operations.hpp"

namespace clew::sqlite {
namespace {

static_assert(std::endian::native == std::endian::little,
              "vectors are stored as they lie in memory");

// LangGraph numbers its changes of the tables and stores the numbers that it has
// made: a file that has fewer of them is an older one.
constexpr std::string_view kStoreMigrations[] = {
    "CREATE TABLE IF NOT EXISTS store (prefix text NOT NULL, key text NOT NULL, value text NOT "
    "NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT "
    "CURRENT_TIMESTAMP, PRIMARY KEY (prefix, key))",
    "CREATE INDEX IF NOT EXISTS store_prefix_idx ON store (prefix)",
    "ALTER TABLE store ADD COLUMN expires_at TIMESTAMP",
    "ALTER TABLE store ADD COLUMN ttl_minutes REAL",
    "CREATE INDEX IF NOT EXISTS idx_store_expires_at ON store (expires_at) WHERE expires_at IS NOT "
    "NULL",
};
constexpr std::string_view kVectorMigrations[] = {
    "CREATE TABLE IF NOT EXISTS store_vectors (prefix text NOT NULL, key text NOT NULL, field_name "
    "text NOT NULL, embedding BLOB, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at "
    "TIMESTAMP DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (prefix, key, field_name), FOREIGN KEY "
    "(prefix, key) REFERENCES store(prefix, key) ON DELETE CASCADE)",
};

// Clew's own. The newest items of a namespace come from an index, and an item
// whose put chose what to index keeps the choice for a reindex().
constexpr const char* kClewTables =
    "CREATE INDEX IF NOT EXISTS clew_store_newest ON store (prefix, updated_at, expires_at);"
    "CREATE TABLE IF NOT EXISTS clew_store_index (prefix TEXT NOT NULL, key TEXT NOT NULL, paths "
    "TEXT NOT NULL, PRIMARY KEY (prefix, key)) WITHOUT ROWID;";

void migrate(Connection& connection, const std::string& table,
             std::span<const std::string_view> migrations) {
  connection.execute("CREATE TABLE IF NOT EXISTS " + table + " (v INTEGER PRIMARY KEY)");
  const Value newest = connection.select("SELECT max(v) AS v FROM " + table, list())[0]["v"];
  const std::size_t made = newest.is_null() ? 0 : static_cast<std::size_t>(newest.as_int()) + 1;
  for (std::size_t i = made; i < migrations.size(); ++i) {
    connection.execute(std::string(migrations[i]));
    connection.execute("INSERT INTO " + table + " (v) VALUES (" + std::to_string(i) + ")");
  }
}

constexpr double kMillisecondsPerMinute = 60'000;

std::optional<std::chrono::milliseconds> read_ttl(const Rows& rows, int column) {
  if (rows.is_null(column)) return std::nullopt;
  return std::chrono::milliseconds(std::llround(rows.real(column) * kMillisecondsPerMinute));
}

double minutes_of(std::chrono::milliseconds ttl) {
  return static_cast<double>(ttl.count()) / kMillisecondsPerMinute;
}

// Texts have years up to 9999, which is as good as for ever.
std::string expiry_text(Item::Time now, std::chrono::milliseconds ttl) {
  using std::chrono::sys_days, std::chrono::December, std::chrono::year;
  constexpr Item::Time kLast = sys_days(year(9999) / December / 31);
  return time_text(std::min(store::expiry(now, ttl), kLast));
}

// Columns: prefix, key, value, created_at, updated_at, ttl_minutes, rowid.
StoredItem item_without_value(const Rows& rows) {
  StoredItem stored;
  stored.item.namespace_ = namespace_of(rows.text(0));
  stored.item.key = rows.text(1);
  stored.item.created_at = parse_time(rows.text(3));
  stored.item.updated_at = parse_time(rows.text(4));
  stored.ttl = read_ttl(rows, 5);
  stored.row = rows.integer(6);
  return stored;
}

StoredItem item_of(const Rows& rows, const ItemCodec& codec) {
  StoredItem stored = item_without_value(rows);
  stored.item.value = codec.decode(rows.text(2), rows.text(0), rows.text(1));
  return stored;
}

// Behind the same columns: expires_at.
KeptItem kept_of(const Rows& rows, const ItemCodec& codec) {
  KeptItem kept{.stored = item_without_value(rows)};
  kept.bytes = rows.text(0).size() + rows.text(1).size() + rows.text(2).size();
  kept.is_whole = rows.is_null(5) && rows.is_null(7);
  if (!kept.is_whole) return kept;
  try {
    kept.stored.item.value = codec.decode(rows.text(2), rows.text(0), rows.text(1));
  } catch (const Error&) {
    kept.is_whole = false;
  }
  return kept;
}

std::int64_t last_row(Connection& connection) {
  Rows rows = connection.query("SELECT last_insert_rowid()");
  rows.next();
  return rows.integer(0);
}

// Behind every prefix that begins with this one: '/' is the character after '.'.
std::string end_of(std::string_view prefix) {
  return prefix.empty() ? "\xFF" : std::string(prefix) + '/';
}

}  // namespace

// Tables -------------------------------------------------------------------------

void create_store_tables(Connection& connection, bool with_vectors) {
  migrate(connection, "store_migrations", kStoreMigrations);
  if (with_vectors) migrate(connection, "vector_migrations", kVectorMigrations);
  connection.execute(kClewTables);
}

bool has_vector_table(Connection& connection) { return connection.has_table("store_vectors"); }

// Texts --------------------------------------------------------------------------

std::string prefix_of(const StoreNamespace& ns) {
  std::string prefix;
  for (const std::string_view label : ns) {
    if (!prefix.empty()) prefix += '.';
    prefix += label;
  }
  return prefix;
}

StoreNamespace namespace_of(std::string_view prefix) {
  std::vector<std::string> labels;
  for (std::size_t begin = 0; begin <= prefix.size();) {
    const std::size_t end = std::min(prefix.find('.', begin), prefix.size());
    std::string& label = labels.emplace_back(prefix.substr(begin, end - begin));
    // Only another program can have written it. One such row must not hide the others.
    std::ranges::replace(label, '\0', '?');
    begin = end + 1;
  }
  return labels;
}

bool is_below(std::string_view prefix, std::string_view other) {
  if (other.empty() || prefix == other) return true;
  return prefix.starts_with(other) && prefix[other.size()] == '.';
}

std::string time_text(Item::Time time) {
  std::string text = format_time(time);
  text[text.find('T')] = ' ';
  return text.substr(0, text.rfind('+'));
}

// One item -----------------------------------------------------------------------

std::optional<StoredItem> find_item(Connection& connection, const ItemCodec& codec,
                                    std::string_view prefix, std::string_view key,
                                    const LivesAfter& lives_after) {
  Rows rows = connection.query(
      "SELECT prefix, key, value, created_at, updated_at, ttl_minutes, rowid FROM store "
      "WHERE prefix = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)",
      prefix, key, lives_after);
  if (!rows.next()) return std::nullopt;
  return item_of(rows, codec);
}

StoredItem read_item(Connection& connection, const ItemCodec& codec, std::int64_t row) {
  Rows rows = connection.query(
      "SELECT prefix, key, value, created_at, updated_at, ttl_minutes, rowid FROM store "
      "WHERE rowid = ?",
      row);
  if (!rows.next()) throw StorageError("an item was removed while it was read; search again");
  return item_of(rows, codec);
}

std::optional<KeptItem> find_kept(Connection& connection, const ItemCodec& codec,
                                  std::string_view prefix, std::string_view key) {
  Rows rows = connection.query(
      "SELECT prefix, key, value, created_at, updated_at, ttl_minutes, rowid, expires_at "
      "FROM store WHERE prefix = ? AND key = ?",
      prefix, key);
  if (!rows.next()) return std::nullopt;
  return kept_of(rows, codec);
}

std::int64_t put_item(Connection& connection, const ItemPut& put, Item::Time now,
                      bool with_vectors) {
  const std::string time = time_text(now);
  std::optional<std::string> expires_at;
  std::optional<double> minutes;
  if (put.ttl) {
    expires_at = expiry_text(now, *put.ttl);
    minutes = minutes_of(*put.ttl);
  }
  connection.run(
      "INSERT INTO store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes) "
      "VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6) ON CONFLICT (prefix, key) DO UPDATE SET "
      "value = excluded.value, created_at = excluded.created_at, updated_at = excluded.updated_at, "
      "expires_at = excluded.expires_at, ttl_minutes = excluded.ttl_minutes",
      put.prefix, put.key, Blob{put.value}, time, expires_at, minutes);
  const std::int64_t row = last_row(connection);
  if (put.paths) {
    connection.run("INSERT OR REPLACE INTO clew_store_index (prefix, key, paths) VALUES (?, ?, ?)",
                   put.prefix, put.key, *put.paths);
  } else {
    connection.run("DELETE FROM clew_store_index WHERE prefix = ? AND key = ?", put.prefix,
                   put.key);
  }
  if (with_vectors) replace_vectors(connection, put.prefix, put.key, put.index, now);
  return row;
}

void delete_item(Connection& connection, std::string_view prefix, std::string_view key,
                 bool with_vectors) {
  connection.run("DELETE FROM store WHERE prefix = ? AND key = ?", prefix, key);
  connection.run("DELETE FROM clew_store_index WHERE prefix = ? AND key = ?", prefix, key);
  if (with_vectors) replace_vectors(connection, prefix, key, {}, {});
}

void replace_vectors(Connection& connection, std::string_view prefix, std::string_view key,
                     std::span<const store::IndexedText> index, Item::Time now) {
  connection.run("DELETE FROM store_vectors WHERE prefix = ? AND key = ?", prefix, key);
  const std::string time = index.empty() ? std::string() : time_text(now);
  for (const store::IndexedText& text : index) {
    const auto* bytes = reinterpret_cast<const char*>(text.vector.data());
    connection.run(
        "INSERT OR REPLACE INTO store_vectors (prefix, key, field_name, embedding, created_at, "
        "updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        prefix, key, text.field, Blob{{bytes, text.vector.size() * sizeof(float)}}, time);
  }
}

void refresh_item(Connection& connection, std::string_view prefix, std::string_view key,
                  std::chrono::milliseconds ttl, Item::Time now) {
  connection.run("UPDATE store SET expires_at = ? WHERE prefix = ? AND key = ?",
                 expiry_text(now, ttl), prefix, key);
}

// Many ---------------------------------------------------------------------------

std::size_t sweep_items(Connection& connection, Item::Time now, bool with_vectors) {
  const std::string time = time_text(now);
  const auto expired =
      connection.value("SELECT count(*) FROM store WHERE expires_at <= ?", time).value();
  if (with_vectors) {
    connection.run(
        "DELETE FROM store_vectors WHERE (prefix, key) IN "
        "(SELECT prefix, key FROM store WHERE expires_at <= ?)",
        time);
  }
  connection.run(
      "DELETE FROM clew_store_index WHERE (prefix, key) IN "
      "(SELECT prefix, key FROM store WHERE expires_at <= ?)",
      time);
  connection.run("DELETE FROM store WHERE expires_at <= ?", time);
  return std::stoull(expired);
}

void visit_kept(Connection& connection, const ItemCodec& codec,
                const std::function<void(std::string_view prefix, KeptItem item)>& visit) {
  for (Rows rows = connection.query(
           "SELECT prefix, key, value, created_at, updated_at, ttl_minutes, rowid, expires_at "
           "FROM store ORDER BY prefix, rowid");
       rows.next();) {
    visit(rows.text(0), kept_of(rows, codec));
  }
}

// From one prefix to the next by the index, however many items each has.
std::vector<std::string> live_prefixes(Connection& connection, const LivesAfter& lives_after) {
  Rows rows = connection.query(
      "WITH RECURSIVE prefixes (prefix) AS (SELECT min(prefix) FROM store UNION ALL "
      "SELECT (SELECT min(prefix) FROM store WHERE prefix > prefixes.prefix) FROM prefixes "
      "WHERE prefix IS NOT NULL) "
      "SELECT prefix FROM prefixes WHERE EXISTS (SELECT 1 FROM store WHERE "
      "store.prefix = prefixes.prefix AND (expires_at IS NULL OR expires_at > ?))",
      lives_after);
  std::vector<std::string> prefixes;
  while (rows.next()) prefixes.emplace_back(rows.text(0));
  return prefixes;
}

// In order -----------------------------------------------------------------------

namespace {

// What lies between "a" and "a/" is "a" itself, what begins with "a.", and what
// goes on with a character before the dot, which is another label.
class NewestRows final : public OrderedRows {
 public:
  NewestRows(Connection& connection, RowQuery query)
      : query_(std::move(query)),
        before_(query_.after ? time_text(time_of(query_.after->rank)) : "\xFF"),
        before_row_(query_.after ? query_.after->row : 0),
        end_(end_of(query_.prefix)),
        rows_(connection.query(
            "SELECT rowid, updated_at FROM store WHERE prefix >= ?1 AND prefix < ?2 AND "
            "(?1 = '' OR length(prefix) = length(?1) OR substr(prefix, length(?1) + 1, 1) = '.') "
            "AND (expires_at IS NULL OR expires_at > ?3) "
            "AND (updated_at < ?4 OR (updated_at = ?4 AND rowid < ?5)) "
            "ORDER BY updated_at DESC, rowid DESC",
            query_.prefix, end_, query_.lives_after, before_, before_row_)) {}

  std::optional<RowPlace> next() override {
    if (!rows_.next()) return std::nullopt;
    return RowPlace{parse_time(rows_.text(1)).time_since_epoch().count(), rows_.integer(0)};
  }

 private:
  static Item::Time time_of(std::int64_t rank) { return Item::Time(Item::Time::duration(rank)); }

  // What the running query refers to.
  const RowQuery query_;
  const std::string before_;
  const std::int64_t before_row_;
  const std::string end_;
  Rows rows_;
};

// Row numbers ascend as items come: an upsert keeps the number, REPLACE does not.
class FirstStoredRows final : public OrderedRows {
 public:
  FirstStoredRows(Connection& connection, RowQuery query)
      : connection_(connection), query_(std::move(query)) {
    read_namespaces();
    if (query_.after) go_behind(*query_.after);
  }

  std::optional<RowPlace> next() override {
    while (next_row_ == rows_.size()) {
      if (next_namespace_ == namespaces_.size()) return std::nullopt;
      read_rows(namespaces_[next_namespace_++].prefix, std::numeric_limits<std::int64_t>::min());
    }
    return RowPlace{namespaces_[next_namespace_ - 1].first_row, rows_[next_row_++]};
  }

 private:
  struct Namespace {
    std::int64_t first_row;
    std::string prefix;
  };

  void read_namespaces() {
    const std::string end = end_of(query_.prefix);
    for (Rows rows = connection_.query(
             "SELECT min(rowid), prefix FROM store WHERE prefix >= ?1 AND prefix < ?2 AND "
             "(?1 = '' OR length(prefix) = length(?1) OR substr(prefix, length(?1) + 1, 1) = '.') "
             "GROUP BY prefix",
             query_.prefix, end);
         rows.next();) {
      namespaces_.push_back({rows.integer(0), std::string(rows.text(1))});
    }
    std::ranges::sort(namespaces_, {}, &Namespace::first_row);
  }

  // A namespace whose first item is gone stands elsewhere now. The item that the
  // place was of tells which one it is, and its own place only if it is gone too.
  void go_behind(const RowPlace& after) {
    const auto prefix = connection_.value("SELECT prefix FROM store WHERE rowid = ?", after.row);
    auto found = std::ranges::find(namespaces_, prefix, &Namespace::prefix);
    if (found == namespaces_.end()) {
      found = std::ranges::lower_bound(namespaces_, after.rank, {}, &Namespace::first_row);
    }
    next_namespace_ = static_cast<std::size_t>(found - namespaces_.begin());
    if (found == namespaces_.end()) return;
    if (found->prefix != prefix && found->first_row != after.rank) return;
    ++next_namespace_;
    read_rows(found->prefix, after.row);
  }

  void read_rows(const std::string& prefix, std::int64_t behind) {
    rows_.clear();
    next_row_ = 0;
    for (Rows rows = connection_.query("SELECT rowid FROM store WHERE prefix = ? AND rowid > ? "
                                       "AND (expires_at IS NULL OR expires_at > ?) ORDER BY rowid",
                                       prefix, behind, query_.lives_after);
         rows.next();) {
      rows_.push_back(rows.integer(0));
    }
  }

  Connection& connection_;
  const RowQuery query_;
  std::vector<Namespace> namespaces_;
  std::size_t next_namespace_ = 0;
  std::vector<std::int64_t> rows_;  // of the namespace before the next one
  std::size_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<OrderedRows> rows_in_order(Connection& connection, StoreOrder order,
                                           RowQuery query) {
  if (order == StoreOrder::first_stored) {
    return std::make_unique<FirstStoredRows>(connection, std::move(query));
  }
  return std::make_unique<NewestRows>(connection, std::move(query));
}

// Searching ----------------------------------------------------------------------

class FileItems::InOrder final : public OrderedItems {
 public:
  InOrder(const FileItems& items, std::unique_ptr<OrderedRows> rows)
      : items_(items), rows_(std::move(rows)) {}

  std::optional<PlacedItem> next() override {
    const std::optional<RowPlace> place = rows_->next();
    if (!place) return std::nullopt;
    stored_ = read_item(items_.connection_, items_.codec_, place->row);
    return PlacedItem{&stored_, *place};
  }

 private:
  const FileItems& items_;
  const std::unique_ptr<OrderedRows> rows_;
  StoredItem stored_;
};

std::unique_ptr<OrderedItems> FileItems::in_order(const std::string& prefix,
                                                  const std::optional<RowPlace>& after) const {
  auto rows = rows_in_order(connection_, order_,
                            {.prefix = prefix, .lives_after = lives_after_, .after = after});
  return std::make_unique<InOrder>(*this, std::move(rows));
}

std::optional<StoredItem> FileItems::find(std::string_view prefix, std::string_view key) const {
  return find_item(connection_, codec_, prefix, key, lives_after_);
}

bool FileItems::has_expired() const {
  return connection_.value("SELECT 1 FROM store WHERE expires_at <= ? LIMIT 1", lives_after_)
      .has_value();
}

}  // namespace clew::sqlite

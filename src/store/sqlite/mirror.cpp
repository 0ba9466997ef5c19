#include "store/sqlite/mirror.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>

#include <clew/json.hpp>

#include "store/sqlite/items.hpp"

namespace clew::sqlite {
namespace {

// `store` has every item that changes, `store_vectors` those whose vectors come
// in a transaction of their own, as LangGraph may write them.
constexpr const char* kChangeLog =
    "CREATE TABLE IF NOT EXISTS clew_store_changes (number INTEGER PRIMARY KEY, prefix TEXT NOT "
    "NULL, key TEXT NOT NULL);"
    "CREATE TRIGGER IF NOT EXISTS clew_store_put AFTER INSERT ON store BEGIN "
    "INSERT INTO clew_store_changes (prefix, key) VALUES (new.prefix, new.key); END;"
    "CREATE TRIGGER IF NOT EXISTS clew_store_replace AFTER UPDATE OF value ON store BEGIN "
    "INSERT INTO clew_store_changes (prefix, key) VALUES (new.prefix, new.key); END;"
    "CREATE TRIGGER IF NOT EXISTS clew_store_expiry AFTER UPDATE OF expires_at ON store "
    "WHEN old.expires_at IS NULL AND new.expires_at IS NOT NULL BEGIN "
    "INSERT INTO clew_store_changes (prefix, key) VALUES (new.prefix, new.key); END;"
    "CREATE TRIGGER IF NOT EXISTS clew_store_delete AFTER DELETE ON store BEGIN "
    "INSERT INTO clew_store_changes (prefix, key) VALUES (old.prefix, old.key); END;";
constexpr const char* kVectorTriggers =
    "CREATE TRIGGER IF NOT EXISTS clew_vector_put AFTER INSERT ON store_vectors BEGIN "
    "INSERT INTO clew_store_changes (prefix, key) VALUES (new.prefix, new.key); END;"
    "CREATE TRIGGER IF NOT EXISTS clew_vector_delete AFTER DELETE ON store_vectors BEGIN "
    "INSERT INTO clew_store_changes (prefix, key) VALUES (old.prefix, old.key); END;";

// A mirror that is further behind than this reads everything again. The newest
// change stays in any case: its number is what the next one counts from.
constexpr std::int64_t kChangesKept = 10'000;

// After so many changes the old ones are forgotten.
constexpr std::int64_t kChangesBetweenSweeps = 4'096;

void forget_old_changes(Connection& connection) {
  connection.run(
      "DELETE FROM clew_store_changes WHERE number <= "
      "(SELECT max(number) FROM clew_store_changes) - ?",
      kChangesKept);
}

std::vector<store::TextPath> fields_of(const std::optional<IndexOptions>& index) {
  return store::parse_paths(index ? index->fields : IndexOptions().fields);
}

Embedder::Vector vector_of(std::string_view bytes) {
  if (bytes.size() % sizeof(float) != 0) return {};
  Embedder::Vector vector(bytes.size() / sizeof(float));
  std::memcpy(vector.data(), bytes.data(), bytes.size());
  return vector;
}

std::optional<std::string> text_or_null(const Rows& rows, int column) {
  if (rows.is_null(column)) return std::nullopt;
  return std::string(rows.text(column));
}

}  // namespace

void create_change_log(Connection& connection) {
  connection.execute(kChangeLog);
  if (has_vector_table(connection)) connection.execute(kVectorTriggers);
  forget_old_changes(connection);
}

Mirror::Mirror(Database& database, const ItemCodec& codec, MirrorOptions options)
    : database_(database),
      codec_(codec),
      options_(std::move(options)),
      fields_(fields_of(options_.index)),
      dims_(options_.index ? options_.index->dims : 0) {
  clear();
  database_.write([this](Connection& connection) {
    watch_.emplace(connection);
    if (connection.value("SELECT 1 FROM store LIMIT 1")) return;
    has_vectors_ = options_.index.has_value();
    keep_items(std::make_unique<KeptItems>(options_.order));
    seen_ = newest_change(connection);
  });
}

// Looking ------------------------------------------------------------------------

bool Mirror::look_up(std::string_view prefix, std::string_view key,
                     std::optional<Item>& item) const {
  if (!items_) return false;
  const KeptItem* kept = items_->look_up(prefix, key);
  if (kept && kept->is_whole) item = kept->stored.item;
  return !kept || kept->is_whole;
}

const KeptItems* Mirror::items_below(std::string_view prefix) const {
  return items_ && items_->has_all_below(prefix) ? items_.get() : nullptr;
}

std::optional<store::Candidates> Mirror::below(std::string_view prefix) const {
  if (ids_.empty() || prefix.empty()) return std::nullopt;
  // Names with a dot behind the prefix have no others between them.
  const std::string labels = std::string(prefix) + '.';
  const bool are_all = ids_.begin()->first.first.starts_with(labels) &&
                       ids_.rbegin()->first.first.starts_with(labels);
  if (are_all) return std::nullopt;
  store::Candidates found;
  for (auto item = ids_.lower_bound(Name(prefix, "")); item != ids_.end(); ++item) {
    const std::string& own = item->first.first;
    if (!own.starts_with(prefix)) break;
    if (is_below(own, prefix)) found.push_back(item->second);
  }
  if (found.size() == ids_.size()) return std::nullopt;
  std::ranges::sort(found);
  return found;
}

std::optional<store::ItemId> Mirror::find(std::string_view prefix, std::string_view key) const {
  const auto item = ids_.find(Name(prefix, key));
  if (item == ids_.end()) return std::nullopt;
  return item->second;
}

store::Indexes Mirror::indexes(const SearchOptions& options) const {
  store::Indexes indexes;
  if (store::needs_vectors(options, options_.index.has_value())) indexes.vectors = &*vectors_;
  if (store::needs_words(options)) indexes.words = &*words_;
  return indexes;
}

// Keeping up ---------------------------------------------------------------------

std::int64_t Mirror::newest_change(Connection& connection) {
  Rows rows = connection.query("SELECT max(number) FROM clew_store_changes");
  rows.next();
  return rows.integer(0);  // 0 for none
}

bool Mirror::has(const Needs& needs) const {
  return (has_vectors_ || !needs.vectors) && (words_ || !needs.words) && (items_ || !needs.items);
}

bool Mirror::is_caught_up(std::int64_t newest, const Needs& needs,
                          const std::optional<FileState>& state) const {
  const std::shared_lock lock(mutex_);
  return seen_ >= newest && has(needs) && (seen_ > newest || shown_ == state);
}

// `state` is one that the file had before the connection looked at it.
void Mirror::catch_up(Connection& connection, const Needs& needs,
                      const std::optional<FileState>& state) {
  const std::int64_t newest = newest_change(connection);
  if (is_caught_up(newest, needs, state)) return;
  const std::lock_guard lock(mutex_);
  // Another reader may have seen more than this one: then it must not go back.
  if (seen_ > newest) return;
  if (seen_ >= 0 && seen_ < newest) load_changes(connection);
  if (needs.vectors && !has_vectors_) load_all_vectors(connection);
  if (needs.words && !words_) load_all_words(connection);
  if (needs.items && !items_) load_all_items(connection);
  seen_ = newest;
  shown_ = state;
}

// If too many changes were made to be kept, everything is read again.
void Mirror::load_changes(Connection& connection) {
  Rows oldest = connection.query("SELECT min(number) FROM clew_store_changes");
  oldest.next();
  if (oldest.integer(0) > seen_ + 1) return clear();

  std::set<Name> changed;
  for (Rows rows =
           connection.query("SELECT prefix, key FROM clew_store_changes WHERE number > ?", seen_);
       rows.next();) {
    changed.emplace(rows.text(0), rows.text(1));
  }
  for (const Name& name : changed) load(connection, name);
  limit_items();
}

void Mirror::load_all_vectors(Connection& connection) {
  std::vector<Embedder::Vector> vectors;
  Name name;
  const auto finish_item = [&] {
    if (!vectors.empty()) vectors_->put(id_of(name), vectors);
    vectors.clear();
  };
  for (Rows rows = connection.query(
           "SELECT prefix, key, embedding FROM store_vectors "
           "WHERE EXISTS (SELECT 1 FROM store WHERE store.prefix = store_vectors.prefix AND "
           "store.key = store_vectors.key) ORDER BY prefix, key");
       rows.next();) {
    if (rows.text(0) != name.first || rows.text(1) != name.second) {
      finish_item();
      name = Name(rows.text(0), rows.text(1));
    }
    add_vector(vector_of(rows.text(2)), vectors);
  }
  finish_item();
  has_vectors_ = true;
}

void Mirror::load_all_words(Connection& connection) {
  words_.emplace();
  try {
    for (Rows rows = connection.query(
             "SELECT store.value, clew_store_index.paths, store.prefix, store.key FROM store "
             "LEFT JOIN clew_store_index USING (prefix, key) ORDER BY store.rowid");
         rows.next();) {
      const Name name(rows.text(2), rows.text(3));
      put_words(name, codec_.decode(rows.text(0), name.first, name.second), text_or_null(rows, 1));
    }
  } catch (...) {
    clear();  // the words of some items must not look like all there are
    throw;
  }
}

// Whether it is worth it: nothing is kept of a file of which little is read, and
// of one that is too large.
void Mirror::load_all_items(Connection& connection) {
  const auto reads = static_cast<std::int64_t>(reads_);
  Rows more = connection.query("SELECT 1 FROM store LIMIT 1 OFFSET ?", reads);
  Rows bytes =
      connection.query("SELECT total(length(prefix) + length(key) + length(value)) FROM store");
  if (more.next() || (bytes.next() && bytes.real(0) > static_cast<double>(options_.cache_bytes))) {
    reads_until_load_ = 2 * static_cast<std::size_t>(reads);
    return;
  }
  auto items = std::make_unique<KeptItems>(options_.order);
  visit_kept(connection, codec_,
             [&](std::string_view prefix, KeptItem item) { items->put(prefix, std::move(item)); });
  keep_items(std::move(items));
  limit_items();
}

void Mirror::load(Connection& connection, const Name& name) {
  forget(name);
  if (items_) {
    std::optional<KeptItem> kept = find_kept(connection, codec_, name.first, name.second);
    if (kept) items_->put(name.first, *std::move(kept));
  }
  if (!words_ && !has_vectors_) return;
  Rows item = connection.query(
      "SELECT store.value, clew_store_index.paths FROM store "
      "LEFT JOIN clew_store_index USING (prefix, key) WHERE store.prefix = ? AND store.key = ?",
      name.first, name.second);
  if (!item.next()) return;
  if (words_) {
    put_words(name, codec_.decode(item.text(0), name.first, name.second), text_or_null(item, 1));
  }
  if (!has_vectors_) return;
  std::vector<Embedder::Vector> vectors;
  for (Rows rows =
           connection.query("SELECT embedding FROM store_vectors WHERE prefix = ? AND key = ?",
                            name.first, name.second);
       rows.next();) {
    add_vector(vector_of(rows.text(0)), vectors);
  }
  if (!vectors.empty()) vectors_->put(id_of(name), vectors);
}

void Mirror::forget(const Name& name) {
  if (items_) items_->erase(name.first, name.second);
  const auto item = ids_.find(name);
  if (item == ids_.end()) return;
  vectors_->erase(item->second);
  if (words_) words_->erase(item->second);
  names_.erase(item->second);
  ids_.erase(item);
}

void Mirror::clear() {
  ids_.clear();
  names_.clear();
  const IndexOptions options = options_.index.value_or(IndexOptions());
  vectors_.emplace(options.distance, options.hnsw);
  has_vectors_ = false;
  words_.reset();
  keep_items(nullptr);
  seen_ = -1;
  shown_.reset();
}

void Mirror::keep_items(std::unique_ptr<KeptItems> items) {
  items_ = options_.cache_bytes > 0 ? std::move(items) : nullptr;
  keeps_items_ = items_ != nullptr;
  reads_ = 0;
}

void Mirror::limit_items() {
  if (items_ && items_->bytes() > options_.cache_bytes) keep_items(nullptr);
}

store::ItemId Mirror::id_of(const Name& name) {
  const auto [item, is_new] = ids_.try_emplace(name, next_id_);
  if (is_new) names_.emplace(next_id_++, &item->first);
  return item->second;
}

// Vectors of another length are those of another model, which say nothing here.
void Mirror::add_vector(Embedder::Vector vector, std::vector<Embedder::Vector>& vectors) {
  if (vector.empty()) return;
  if (dims_ == 0) dims_ = vector.size();
  if (vector.size() == dims_) vectors.push_back(std::move(vector));
}

void Mirror::put_words(const Name& name, const Value& value,
                       const std::optional<std::string>& paths) {
  std::vector<std::string> texts;
  if (paths) {
    const auto own = parse_json(*paths).get<std::vector<std::string>>();
    texts = store::texts_at(value, store::parse_paths(own));
  } else {
    texts = store::texts_at(value, fields_);
  }
  if (!texts.empty()) words_->put(id_of(name), texts);
}

void Mirror::note_reads(std::size_t count) {
  if (options_.cache_bytes == 0 || (reads_ += count) < reads_until_load_ || keeps_items()) return;
  read({.items = true}, [](Connection&) { return true; });
}

// Own changes --------------------------------------------------------------------

void Mirror::begin(Connection& connection, OwnChange& change) {
  change.before = newest_change(connection);
}

void Mirror::end(Connection& connection, OwnChange& change) {
  change.after = newest_change(connection);
  if (change.before / kChangesBetweenSweeps != change.after / kChangesBetweenSweeps) {
    forget_old_changes(connection);
  }
}

// If something else was changed before, the next read finds both in the log.
void Mirror::follow(const OwnChange& change, std::span<const ItemPut> puts, Item::Time now) {
  const std::lock_guard lock(mutex_);
  if (seen_ != change.before) return;
  try {
    for (std::size_t i = 0; i < puts.size(); ++i) follow(puts[i], change.rows[i], now);
    limit_items();
    seen_ = change.after;
  } catch (const std::exception&) {
    clear();  // what is committed is committed: it will be read from the file
  }
}

void Mirror::follow(const ItemPut& put, std::int64_t new_row, Item::Time now) {
  const Name name(put.prefix, put.key);
  const KeptItem* old = items_ ? items_->look_up(put.prefix, put.key) : nullptr;
  const std::int64_t row = old ? old->stored.row : new_row;
  forget(name);
  if (put.item.is_null()) return;
  if (items_) {
    KeptItem kept;
    kept.is_whole = !put.ttl;
    kept.stored.item = {put.item, put.key, namespace_of(put.prefix), now, now};
    kept.stored.row = row;
    kept.bytes = put.prefix.size() + put.key.size() + put.value.size();
    items_->put(put.prefix, std::move(kept));
  }
  if (words_) put_words(name, put.item, put.paths);
  if (!has_vectors_) return;
  std::vector<Embedder::Vector> vectors;
  for (const store::IndexedText& text : put.index) add_vector(text.vector, vectors);
  if (!vectors.empty()) vectors_->put(id_of(name), vectors);
}

}  // namespace clew::sqlite

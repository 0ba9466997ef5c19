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

void create_change_log(Connection& connection) {
  connection.execute(kChangeLog);
  if (has_vector_table(connection)) connection.execute(kVectorTriggers);
  connection.run(
      "DELETE FROM clew_store_changes WHERE number <= "
      "(SELECT max(number) FROM clew_store_changes) - ?",
      kChangesKept);
}

std::vector<store::TextPath> fields_of(const std::optional<IndexOptions>& index) {
  return store::parse_paths(index ? index->fields : IndexOptions().fields);
}

}  // namespace

Mirror::Mirror(Database& database, const ItemCodec& codec, const std::optional<IndexOptions>& index)
    : database_(database),
      codec_(codec),
      index_(index),
      fields_(fields_of(index)),
      dims_(index ? index->dims : 0) {
  clear();
  database_.write(create_change_log);
}

// Looking ------------------------------------------------------------------------

std::optional<store::Candidates> Mirror::below(std::string_view prefix) const {
  if (prefix.empty()) return std::nullopt;
  store::Candidates found;
  for (auto item = ids_.lower_bound(Name(prefix, "")); item != ids_.end(); ++item) {
    const std::string& own = item->first.first;
    if (!own.starts_with(prefix)) break;
    if (own.size() == prefix.size() || own[prefix.size()] == '.') found.push_back(item->second);
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
  if (store::needs_vectors(options, index_.has_value())) indexes.vectors = &*vectors_;
  if (store::needs_words(options)) indexes.words = &*words_;
  return indexes;
}

// Keeping up ---------------------------------------------------------------------

std::int64_t Mirror::newest_change(Connection& connection) {
  Rows rows = connection.query("SELECT max(number) FROM clew_store_changes");
  rows.next();
  return rows.integer(0);  // 0 for none
}

void Mirror::catch_up(Connection& connection, bool with_words) {
  const std::int64_t newest = newest_change(connection);
  {
    const std::shared_lock lock(mutex_);
    if (seen_ >= newest && (words_ || !with_words)) return;
  }
  const std::lock_guard lock(mutex_);
  if (seen_ >= 0 && seen_ < newest) load_changes(connection);
  if (seen_ < 0) load_all_vectors(connection);
  // Another reader may have seen more than this one: then it must not go back.
  if (with_words && !words_ && seen_ <= newest) load_all_words(connection);
  seen_ = std::max(seen_, newest);
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
}

void Mirror::load_all_vectors(Connection& connection) {
  if (!index_) return;
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
    add_vector(rows.text(2), vectors);
  }
  finish_item();
}

void Mirror::load_all_words(Connection& connection) {
  words_.emplace();
  try {
    for (Rows rows = connection.query(
             "SELECT store.value, clew_store_index.paths, store.prefix, store.key FROM store "
             "LEFT JOIN clew_store_index USING (prefix, key) ORDER BY store.rowid");
         rows.next();) {
      put_words(Name(rows.text(2), rows.text(3)), rows);
    }
  } catch (...) {
    clear();  // the words of some items must not look like all there are
    throw;
  }
}

void Mirror::load(Connection& connection, const Name& name) {
  forget(name);
  Rows item = connection.query(
      "SELECT store.value, clew_store_index.paths FROM store "
      "LEFT JOIN clew_store_index USING (prefix, key) WHERE store.prefix = ? AND store.key = ?",
      name.first, name.second);
  if (!item.next()) return;
  if (words_) put_words(name, item);
  if (!index_) return;
  std::vector<Embedder::Vector> vectors;
  for (Rows rows =
           connection.query("SELECT embedding FROM store_vectors WHERE prefix = ? AND key = ?",
                            name.first, name.second);
       rows.next();) {
    add_vector(rows.text(0), vectors);
  }
  if (!vectors.empty()) vectors_->put(id_of(name), vectors);
}

void Mirror::forget(const Name& name) {
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
  const IndexOptions options = index_.value_or(IndexOptions());
  vectors_.emplace(options.distance, options.hnsw);
  words_.reset();
  seen_ = -1;
}

store::ItemId Mirror::id_of(const Name& name) {
  const auto [item, is_new] = ids_.try_emplace(name, next_id_);
  if (is_new) names_.emplace(next_id_++, &item->first);
  return item->second;
}

// Vectors of another length are those of another model, which say nothing here.
void Mirror::add_vector(std::string_view bytes, std::vector<Embedder::Vector>& vectors) {
  if (bytes.empty() || bytes.size() % sizeof(float) != 0) return;
  Embedder::Vector vector(bytes.size() / sizeof(float));
  if (dims_ == 0) dims_ = vector.size();
  if (vector.size() != dims_) return;
  std::memcpy(vector.data(), bytes.data(), bytes.size());
  vectors.push_back(std::move(vector));
}

// Columns: value, paths.
void Mirror::put_words(const Name& name, const Rows& rows) {
  const Value value = codec_.decode(rows.text(0), name.first, name.second);
  std::vector<std::string> texts;
  if (rows.is_null(1)) {
    texts = store::texts_at(value, fields_);
  } else {
    const auto paths = parse_json(rows.text(1)).get<std::vector<std::string>>();
    texts = store::texts_at(value, store::parse_paths(paths));
  }
  if (!texts.empty()) words_->put(id_of(name), texts);
}

}  // namespace clew::sqlite

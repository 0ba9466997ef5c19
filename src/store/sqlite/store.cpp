#include <algorithm>
#include <mutex>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/sqlite_store.hpp>

#include "store/operations.hpp"
#include "store/ranking.hpp"
#include "store/sqlite/items.hpp"
#include "store/sqlite/mirror.hpp"
#include "store/sqlite/reindex.hpp"
#include "store/sqlite/search.hpp"

namespace clew {

using sqlite::Connection;
using sqlite::Database;
using sqlite::FoundItem;
using sqlite::ItemPut;
using sqlite::LivesAfter;
using sqlite::Mirror;
using sqlite::StoredItem;

namespace {

// An item that was read lives anew.
struct Refresh {
  std::string prefix;
  std::string key;
  std::chrono::milliseconds ttl;
};

// What one batch is about to do and has found.
struct Batch {
  std::span<const StoreOp> ops = {};
  Item::Time now;
  LivesAfter lives_after = {};
  std::vector<Embedder::Vector> queries = {};  // of the searches among `ops`, at their places
  std::vector<StoreResult> results = {};
  std::vector<Refresh> refreshes = {};
};

bool has_reads(std::span<const StoreOp> ops) {
  return !std::ranges::all_of(ops,
                              [](const StoreOp& op) { return std::holds_alternative<PutOp>(op); });
}

SearchItem to_search_item(FoundItem&& found) {
  SearchItem item;
  static_cast<Item&>(item) = std::move(found.stored.item);
  item.score = found.score;
  item.cursor = found.cursor;
  return item;
}

// JSON, which is all that the file keeps; other things would come back changed.
std::string encode(const PutOp& put) {
  std::string json = to_json(put.value);
  if (parse_json(json) != put.value) {
    throw ValueError("the item '" + put.key +
                     "' has a value that JSON does not know, such as bytes or a time; store its "
                     "text or numbers instead");
  }
  return json;
}

std::optional<std::string> encode_paths(const PutOptions& options) {
  if (!options.index) return std::nullopt;
  return to_json(Value(*options.index));
}

}  // namespace

struct SqliteStore::Parts {
  Parts(const std::string& path, SqliteStoreOptions options)
      : database(path, {.synchronous = options.synchronous, .busy_timeout = options.busy_timeout}),
        codec(std::move(options.cipher)),
        index(std::move(options.index)),
        ttl(options.ttl),
        order(options.order) {
    if (index) indexer.emplace(*index);
    database.write([this](Connection& connection) {
      sqlite::create_store_tables(connection, index.has_value());
      with_vectors = sqlite::has_vector_table(connection);
      codec.check_key(connection);
    });
  }

  // Reading ----------------------------------------------------------------------

  LivesAfter lives_after(Item::Time now) const {
    return ttl ? sqlite::time_text(now) : LivesAfter();
  }

  // Embedders may take long: they are asked before anything is locked.
  void embed_queries(Batch& batch) const {
    batch.queries.resize(batch.ops.size());
    for (std::size_t i = 0; i < batch.ops.size(); ++i) {
      const auto* op = std::get_if<SearchOp>(&batch.ops[i]);
      if (op && store::needs_vectors(op->options, indexer.has_value())) {
        batch.queries[i] = indexer->embed_query(op->options.query);
      }
    }
  }

  bool needs_mirror(const SearchOptions& options) const {
    return store::needs_words(options) || store::needs_vectors(options, indexer.has_value());
  }

  void read(Batch& batch) {
    if (!has_reads(batch.ops)) return;
    bool ranks = false;
    bool with_words = false;
    for (const StoreOp& op : batch.ops) {
      const auto* search = std::get_if<SearchOp>(&op);
      if (!search) continue;
      ranks = ranks || needs_mirror(search->options);
      with_words = with_words || store::needs_words(search->options);
    }
    const auto look = [&](Connection& connection) {
      read(connection, batch);
      return true;
    };
    if (ranks) {
      shared_mirror().read(with_words, look);
    } else {
      database.read(look);
    }
  }

  void read(Connection& connection, Batch& batch) {
    batch.refreshes.clear();
    for (std::size_t i = 0; i < batch.ops.size(); ++i) {
      StoreResult& result = batch.results[i];
      if (const auto* op = std::get_if<GetOp>(&batch.ops[i])) result = get(connection, *op, batch);
      if (const auto* op = std::get_if<SearchOp>(&batch.ops[i])) {
        result = search(connection, *op, batch.queries[i], batch);
      }
      if (const auto* op = std::get_if<ListNamespacesOp>(&batch.ops[i])) {
        result = list(connection, op->options, batch.lives_after);
      }
    }
  }

  std::optional<Item> get(Connection& connection, const GetOp& op, Batch& batch) const {
    std::optional<StoredItem> stored = sqlite::find_item(
        connection, codec, sqlite::prefix_of(op.namespace_), op.key, batch.lives_after);
    if (!stored) return std::nullopt;
    note_refresh(*stored, op.refresh_ttl, batch.refreshes);
    return std::move(stored->item);
  }

  std::vector<SearchItem> search(Connection& connection, const SearchOp& op,
                                 const Embedder::Vector& query, Batch& batch) const {
    sqlite::Search search(connection, codec, order, op, batch.lives_after);
    std::vector<SearchItem> items;
    for (FoundItem& found :
         needs_mirror(op.options) ? search.ranked(*mirror, query) : search.in_order()) {
      note_refresh(found.stored, op.options.refresh_ttl, batch.refreshes);
      items.push_back(to_search_item(std::move(found)));
    }
    return items;
  }

  static std::vector<StoreNamespace> list(Connection& connection,
                                          const ListNamespacesOptions& options,
                                          const LivesAfter& lives_after) {
    std::vector<StoreNamespace> all;
    for (const std::string& prefix : sqlite::live_prefixes(connection, lives_after)) {
      all.push_back(sqlite::namespace_of(prefix));
    }
    std::ranges::sort(all);
    store::NamespaceList listed(options);
    for (const StoreNamespace& ns : all) listed.add(ns);
    return std::move(listed).take();
  }

  void note_refresh(const StoredItem& stored, std::optional<bool> wanted,
                    std::vector<Refresh>& refreshes) const {
    if (!stored.ttl || !store::is_refreshed(wanted, ttl)) return;
    refreshes.push_back({sqlite::prefix_of(stored.item.namespace_), stored.item.key, *stored.ttl});
  }

  // Most stores are never searched that way.
  Mirror& shared_mirror() {
    std::call_once(mirror_made,
                   [this] { mirror = std::make_unique<Mirror>(database, codec, index); });
    return *mirror;
  }

  // Writing ----------------------------------------------------------------------

  std::vector<ItemPut> encode_puts(std::span<const PutOp* const> puts) const {
    std::vector<std::vector<store::IndexedText>> texts(puts.size());
    if (indexer) texts = indexer->index(puts);
    std::vector<ItemPut> encoded;
    for (std::size_t i = 0; i < puts.size(); ++i) {
      const PutOp& put = *puts[i];
      ItemPut& item = encoded.emplace_back();
      item.prefix = sqlite::prefix_of(put.namespace_);
      item.key = put.key;
      if (put.value.is_null()) continue;
      item.value = codec.encode(encode(put));
      item.paths = encode_paths(put.options);
      store::check_ttl(put.options, ttl);
      item.ttl = store::ttl_of(put.options, ttl);
      item.index = std::move(texts[i]);
    }
    return encoded;
  }

  void write(std::span<const ItemPut> puts, const Batch& batch) {
    if (puts.empty() && batch.refreshes.empty()) return;
    database.write([&](Connection& connection) {
      for (const Refresh& refresh : batch.refreshes) {
        sqlite::refresh_item(connection, refresh.prefix, refresh.key, refresh.ttl, batch.now);
      }
      for (const ItemPut& put : puts) {
        if (put.value.empty()) {
          sqlite::delete_item(connection, put.prefix, put.key, with_vectors);
        } else {
          sqlite::put_item(connection, put, batch.now, with_vectors);
        }
      }
    });
  }

  Database database;
  const sqlite::ItemCodec codec;
  const std::optional<IndexOptions> index;
  const std::optional<StoreTtl> ttl;
  const StoreOrder order;
  std::optional<store::Indexer> indexer;
  bool with_vectors = false;
  std::once_flag mirror_made;
  std::unique_ptr<Mirror> mirror;
};

std::shared_ptr<SqliteStore> SqliteStore::open(const std::string& path,
                                               SqliteStoreOptions options) {
  return std::shared_ptr<SqliteStore>(
      new SqliteStore(std::make_unique<Parts>(path, std::move(options))));
}

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SqliteStore::~SqliteStore() = default;

std::vector<StoreResult> SqliteStore::batch(std::span<const StoreOp> ops) {
  store::check(ops);
  Batch batch{.ops = ops, .now = store::now()};
  batch.lives_after = parts_->lives_after(batch.now);
  batch.results.resize(ops.size());
  parts_->embed_queries(batch);
  const std::vector<ItemPut> puts = parts_->encode_puts(store::last_puts(ops));
  parts_->read(batch);
  parts_->write(puts, batch);
  return std::move(batch.results);
}

std::optional<Item> SqliteStore::get_checked(const StoreNamespace& ns, std::string_view key,
                                             std::optional<bool> refresh_ttl) {
  const Item::Time now = store::now();
  const LivesAfter lives_after = parts_->lives_after(now);
  std::optional<StoredItem> stored = parts_->database.read([&](Connection& connection) {
    return sqlite::find_item(connection, parts_->codec, sqlite::prefix_of(ns), key, lives_after);
  });
  if (!stored) return std::nullopt;
  Batch batch{.now = now};
  parts_->note_refresh(*stored, refresh_ttl, batch.refreshes);
  parts_->write({}, batch);
  return std::move(stored->item);
}

std::size_t SqliteStore::reindex(const ReindexOptions& options) {
  if (!parts_->indexer) return 0;
  return sqlite::reindex_items(parts_->database, parts_->codec, *parts_->indexer, options);
}

std::size_t SqliteStore::missing_vectors() {
  if (!parts_->index) return 0;
  return parts_->database.read([&](Connection& connection) {
    return sqlite::count_missing_vectors(connection, parts_->index->dims);
  });
}

std::size_t SqliteStore::sweep_ttl() {
  std::size_t removed = 0;
  parts_->database.write([&](Connection& connection) {
    removed = sqlite::sweep_items(connection, store::now(), parts_->with_vectors);
  });
  return removed;
}

void SqliteStore::vacuum() {
  parts_->database.maintain([](Connection& connection) {
    connection.execute("PRAGMA incremental_vacuum");
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

std::uint64_t SqliteStore::commits() const { return parts_->database.commits(); }

}  // namespace clew

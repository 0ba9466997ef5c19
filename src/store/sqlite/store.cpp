#include <algorithm>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/sqlite_store.hpp>

#include "store/operations.hpp"
#include "store/ranking.hpp"
#include "store/sqlite/copy_items.hpp"
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
  std::size_t items_read = 0;
};

// Where to read: in what the mirror shows, in the file, or where it is to be found.
struct View {
  const Mirror* mirror = nullptr;
  Connection* connection = nullptr;
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
void encode(const PutOp& put, ItemPut& item) {
  item.value = to_json(put.value);
  item.item = parse_json(item.value);
  if (item.item != put.value) {
    throw ValueError("the item '" + put.key +
                     "' has a value that JSON does not know, such as bytes or a time; store its "
                     "text or numbers instead");
  }
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
      sqlite::create_change_log(connection);
    });
    mirror = std::make_unique<Mirror>(
        database, codec,
        sqlite::MirrorOptions{.index = index, .order = order, .cache_bytes = options.cache_bytes});
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

  Mirror::Needs needs_of(std::span<const StoreOp> ops) const {
    Mirror::Needs needs;
    for (const StoreOp& op : ops) {
      const auto* search = std::get_if<SearchOp>(&op);
      if (!search) continue;
      needs.vectors |= store::needs_vectors(search->options, indexer.has_value());
      needs.words |= store::needs_words(search->options);
    }
    return needs;
  }

  // From memory if that is possible.
  void read(Batch& batch) {
    if (!has_reads(batch.ops)) return;
    const Mirror::Needs needs = needs_of(batch.ops);
    if (mirror->try_read(needs, [&] { return read({.mirror = mirror.get()}, batch); })) return;
    if (needs.vectors || needs.words || mirror->keeps_items()) {
      mirror->read(needs, [&](Connection& connection) {
        return read({.mirror = mirror.get(), .connection = &connection}, batch);
      });
    } else {
      database.read(
          [&](Connection& connection) { return read({.connection = &connection}, batch); });
    }
    mirror->note_reads(batch.items_read);
  }

  // False if it takes a connection and there is none.
  bool read(const View& view, Batch& batch) const {
    batch.refreshes.clear();
    batch.items_read = 0;
    for (std::size_t i = 0; i < batch.ops.size(); ++i) {
      const auto read_op = [&](const auto& op) { return read(view, op, batch, i); };
      if (!std::visit(read_op, batch.ops[i])) return false;
    }
    return true;
  }

  static bool read(const View&, const PutOp&, Batch&, std::size_t) { return true; }

  bool read(const View& view, const GetOp& op, Batch& batch, std::size_t place) const {
    StoreResult& result = batch.results[place];
    const std::string prefix = sqlite::prefix_of(op.namespace_);
    std::optional<Item> known;
    if (view.mirror && view.mirror->look_up(prefix, op.key, known)) {
      result = std::move(known);
      return true;
    }
    if (!view.connection) return false;
    result = std::optional<Item>();
    std::optional<StoredItem> stored =
        sqlite::find_item(*view.connection, codec, prefix, op.key, batch.lives_after);
    ++batch.items_read;
    if (!stored) return true;
    note_refresh(*stored, op.refresh_ttl, batch.refreshes);
    result = std::optional(std::move(stored->item));
    return true;
  }

  bool read(const View& view, const SearchOp& op, Batch& batch, std::size_t place) const {
    const std::string prefix = sqlite::prefix_of(op.prefix);
    if (const auto* items = view.mirror ? view.mirror->items_below(prefix) : nullptr) {
      search(*items, op, batch, place);
      return true;
    }
    if (!view.connection) return false;
    search(sqlite::FileItems(*view.connection, codec, order, batch.lives_after), op, batch, place);
    return true;
  }

  void search(const sqlite::ItemSource& source, const SearchOp& op, Batch& batch,
              std::size_t place) const {
    sqlite::Search search(source, order, op);
    std::vector<SearchItem> items;
    for (FoundItem& found : needs_mirror(op.options) ? search.ranked(*mirror, batch.queries[place])
                                                     : search.in_order()) {
      note_refresh(found.stored, op.options.refresh_ttl, batch.refreshes);
      items.push_back(to_search_item(std::move(found)));
    }
    batch.items_read += items.size();
    batch.results[place] = std::move(items);
  }

  bool read(const View& view, const ListNamespacesOp& op, Batch& batch, std::size_t place) const {
    if (!view.connection) return false;
    batch.results[place] = list(*view.connection, op.options, batch.lives_after);
    return true;
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
      encode(put, item);
      item.value = codec.encode(std::move(item.value));
      item.paths = encode_paths(put.options);
      store::check_ttl(put.options, ttl);
      item.ttl = store::ttl_of(put.options, ttl);
      item.index = std::move(texts[i]);
    }
    return encoded;
  }

  void write(std::span<const ItemPut> puts, const Batch& batch) {
    if (puts.empty() && batch.refreshes.empty()) return;
    Mirror::OwnChange change{.rows = std::vector<std::int64_t>(puts.size())};
    database.write([&](Connection& connection) {
      Mirror::begin(connection, change);
      for (const Refresh& refresh : batch.refreshes) {
        sqlite::refresh_item(connection, refresh.prefix, refresh.key, refresh.ttl, batch.now);
      }
      for (std::size_t i = 0; i < puts.size(); ++i) {
        const ItemPut& put = puts[i];
        if (put.item.is_null()) {
          sqlite::delete_item(connection, put.prefix, put.key, with_vectors);
        } else {
          change.rows[i] = sqlite::put_item(connection, put, batch.now, with_vectors);
        }
      }
      Mirror::end(connection, change);
    });
    if (!puts.empty()) mirror->follow(change, puts, batch.now);
  }

  Database database;
  const sqlite::ItemCodec codec;
  const std::optional<IndexOptions> index;
  const std::optional<StoreTtl> ttl;
  const StoreOrder order;
  std::optional<store::Indexer> indexer;
  bool with_vectors = false;
  std::unique_ptr<Mirror> mirror;
};

std::shared_ptr<SqliteStore> SqliteStore::open(const std::string& path,
                                               SqliteStoreOptions options) {
  return std::shared_ptr<SqliteStore>(
      new SqliteStore(std::make_unique<Parts>(path, std::move(options))));
}

bool SqliteStore::is_in(const std::string& path) {
  return sqlite::Connection(path, SqliteStoreOptions().busy_timeout).has_table("store");
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
  std::optional<Item> known;
  const auto look = [&] { return parts_->mirror->look_up(sqlite::prefix_of(ns), key, known); };
  if (parts_->mirror->try_read({}, look)) return known;
  return Store::get_checked(ns, key, refresh_ttl);
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

std::size_t SqliteStore::copy_items(const std::string& path) {
  return sqlite::copy_items(parts_->database, path);
}

void SqliteStore::vacuum() {
  parts_->database.maintain([](Connection& connection) { sqlite::vacuum(connection); });
}

std::uint64_t SqliteStore::commits() const { return parts_->database.commits(); }

}  // namespace clew

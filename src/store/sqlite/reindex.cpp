#include "store/sqlite/reindex.hpp"

#include <algorithm>
#include <limits>

#include <clew/json.hpp>

#include "store/operations.hpp"
#include "store/sqlite/items.hpp"

namespace clew::sqlite {
namespace {

// As many as an embedder likes to get at once.
constexpr std::int64_t kItemsAtOnce = 64;

struct Page {
  std::vector<PutOp> items = {};
  std::vector<std::string> values = {};  // as they are stored
  std::int64_t last_row = 0;
};

Page read_page(Connection& connection, const ItemCodec& codec, std::int64_t behind_row) {
  Page page{.last_row = behind_row};
  for (Rows rows = connection.query(
           "SELECT store.rowid, prefix, key, value, clew_store_index.paths FROM store "
           "LEFT JOIN clew_store_index USING (prefix, key) "
           "WHERE store.rowid > ? ORDER BY store.rowid LIMIT ?",
           behind_row, kItemsAtOnce);
       rows.next();) {
    page.last_row = rows.integer(0);
    PutOp& item = page.items.emplace_back();
    item.namespace_ = namespace_of(rows.text(1));
    item.key = rows.text(2);
    item.value = codec.decode(rows.text(3), rows.text(1), rows.text(2));
    if (!rows.is_null(4)) {
      item.options.index = parse_json(rows.text(4)).get<std::vector<std::string>>();
    }
    page.values.emplace_back(rows.text(3));
  }
  return page;
}

// An item that was replaced meanwhile has the right vectors already.
bool is_unchanged(Connection& connection, std::string_view prefix, const PutOp& item,
                  std::string_view value) {
  return connection
      .value("SELECT 1 FROM store WHERE prefix = ? AND key = ? AND CAST(value AS BLOB) = ?", prefix,
             item.key, Blob{value})
      .has_value();
}

std::size_t write_page(Connection& connection, const Page& page,
                       std::span<const std::vector<store::IndexedText>> index) {
  std::size_t indexed = 0;
  for (std::size_t i = 0; i < page.items.size(); ++i) {
    const std::string prefix = prefix_of(page.items[i].namespace_);
    if (!is_unchanged(connection, prefix, page.items[i], page.values[i])) continue;
    replace_vectors(connection, prefix, page.items[i].key, index[i], store::now());
    if (!index[i].empty()) ++indexed;
  }
  return indexed;
}

std::size_t count_items(Connection& connection) {
  return std::stoull(connection.value("SELECT count(*) FROM store").value());
}

}  // namespace

std::size_t reindex_items(Database& database, const ItemCodec& codec, const store::Indexer& indexer,
                          const ReindexOptions& options) {
  const std::size_t total = database.read(count_items);
  std::size_t done = 0;
  std::size_t indexed = 0;
  std::int64_t last_row = std::numeric_limits<std::int64_t>::min();
  while (!options.stop.stop_requested()) {
    const Page page = database.read(
        [&](Connection& connection) { return read_page(connection, codec, last_row); });
    if (page.items.empty()) break;
    last_row = page.last_row;
    std::vector<const PutOp*> puts;
    for (const PutOp& item : page.items) puts.push_back(&item);
    const auto index = indexer.index(puts);
    std::size_t indexed_now = 0;
    database.write(
        [&](Connection& connection) { indexed_now = write_page(connection, page, index); });
    indexed += indexed_now;
    done += page.items.size();
    if (options.progress) options.progress(done, std::max(done, total));
  }
  return indexed;
}

std::size_t count_missing_vectors(Connection& connection, std::size_t dims) {
  return std::stoull(
      connection
          .value("SELECT count(*) FROM store WHERE NOT EXISTS (SELECT 1 FROM store_vectors WHERE "
                 "store_vectors.prefix = store.prefix AND store_vectors.key = store.key AND "
                 "(?1 = 0 OR length(embedding) = 4 * ?1)) AND NOT EXISTS (SELECT 1 FROM "
                 "clew_store_index WHERE clew_store_index.prefix = store.prefix AND "
                 "clew_store_index.key = store.key AND paths = '[]')",
                 static_cast<std::int64_t>(dims))
          .value());
}

}  // namespace clew::sqlite

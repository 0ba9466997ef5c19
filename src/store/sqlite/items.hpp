// The tables in which LangGraph's SqliteStore keeps items, and what Clew keeps
// beside them; docs/format/sqlite.md describes both.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <clew/sqlite_store.hpp>
#include <clew/store.hpp>

#include "checkpoint/sqlite/connection.hpp"
#include "store/indexer.hpp"
#include "store/sqlite/item_codec.hpp"

namespace clew::sqlite {

// Makes the tables that are missing, and adds what older versions of them lack.
void create_store_tables(Connection& connection, bool with_vectors);
bool has_vector_table(Connection& connection);

// Labels joined with dots, as the files have them.
std::string prefix_of(const StoreNamespace& ns);
StoreNamespace namespace_of(std::string_view prefix);

// As the files have it; sorts as the time does.
std::string time_text(Item::Time time);

// What a time of expiry must be later than, as text: now, or "" if nothing expires.
using LivesAfter = std::string;

struct StoredItem {
  Item item;
  std::int64_t row = 0;
  std::optional<std::chrono::milliseconds> ttl;
};

std::optional<StoredItem> find_item(Connection& connection, const ItemCodec& codec,
                                    std::string_view prefix, std::string_view key,
                                    const LivesAfter& lives_after);
StoredItem read_item(Connection& connection, const ItemCodec& codec, std::int64_t row);

// What a put stores, made before the transaction.
struct ItemPut {
  std::string prefix;
  std::string key;
  std::string value;                 // as ItemCodec makes it
  std::optional<std::string> paths;  // PutOptions::index, as JSON
  std::optional<std::chrono::milliseconds> ttl;
  std::vector<store::IndexedText> index;
};

void put_item(Connection& connection, const ItemPut& put, Item::Time now, bool with_vectors);
void delete_item(Connection& connection, std::string_view prefix, std::string_view key,
                 bool with_vectors);
void replace_vectors(Connection& connection, std::string_view prefix, std::string_view key,
                     std::span<const store::IndexedText> index, Item::Time now);

// The item lives for its ttl from now on.
void refresh_item(Connection& connection, std::string_view prefix, std::string_view key,
                  std::chrono::milliseconds ttl, Item::Time now);

// Removes what does not live any more; returns how many items that was.
std::size_t sweep_items(Connection& connection, Item::Time now, bool with_vectors);

// The prefixes of all items that live, sorted.
std::vector<std::string> live_prefixes(Connection& connection, const LivesAfter& lives_after);

// Where a row stands among others.
struct RowPlace {
  std::int64_t rank = 0;  // newest_first: microseconds; first_stored: the namespace's first row
  std::int64_t row = 0;
};

// The rows of the items below a namespace.
struct RowQuery {
  std::string prefix;
  LivesAfter lives_after;
  // Only those behind it.
  std::optional<RowPlace> after = {};
};

class OrderedRows {
 public:
  virtual ~OrderedRows() = default;
  virtual std::optional<RowPlace> next() = 0;
};

// The rows one by one: what is not asked for is not sorted, or not even read.
std::unique_ptr<OrderedRows> rows_in_order(Connection& connection, StoreOrder order,
                                           RowQuery query);

}  // namespace clew::sqlite

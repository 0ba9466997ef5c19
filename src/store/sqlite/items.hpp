// The tables in which LangGraph's SqliteStore keeps items, and what Clew keeps
// beside them; docs/format/sqlite.md describes both.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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
// Whether the one prefix is the other or begins with its labels.
bool is_below(std::string_view prefix, std::string_view other);

// As the files have it; sorts as the time does.
std::string time_text(Item::Time time);

// What a time of expiry must be later than, as text: now, or "" if nothing expires.
using LivesAfter = std::string;

struct StoredItem {
  Item item;
  std::int64_t row = 0;
  std::optional<std::chrono::milliseconds> ttl;
};

// An item for those who keep it in memory.
struct KeptItem {
  StoredItem stored;
  // Else it lives for a time only, which changes unnoticed, or cannot be read:
  // whoever wants it has to read it from the file.
  bool is_whole = true;
  std::size_t bytes = 0;  // of its name and value, as the file has them
};

std::optional<KeptItem> find_kept(Connection& connection, const ItemCodec& codec,
                                  std::string_view prefix, std::string_view key);
void visit_kept(Connection& connection, const ItemCodec& codec,
                const std::function<void(std::string_view prefix, KeptItem item)>& visit);

std::optional<StoredItem> find_item(Connection& connection, const ItemCodec& codec,
                                    std::string_view prefix, std::string_view key,
                                    const LivesAfter& lives_after);
StoredItem read_item(Connection& connection, const ItemCodec& codec, std::int64_t row);

// What a put stores, made before the transaction.
struct ItemPut {
  std::string prefix;
  std::string key;
  Value item;                        // as it is read back; null removes it
  std::string value;                 // as ItemCodec makes it
  std::optional<std::string> paths;  // PutOptions::index, as JSON
  std::optional<std::chrono::milliseconds> ttl;
  std::vector<store::IndexedText> index;
};

// Returns its row, if it is a new one.
std::int64_t put_item(Connection& connection, const ItemPut& put, Item::Time now,
                      bool with_vectors);
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

// Searching ----------------------------------------------------------------------

struct PlacedItem {
  const StoredItem* stored;
  RowPlace place;
};

class OrderedItems {
 public:
  virtual ~OrderedItems() = default;
  // Valid until the next one.
  virtual std::optional<PlacedItem> next() = 0;
};

// Where a search finds the items that live.
class ItemSource {
 public:
  virtual ~ItemSource() = default;
  virtual std::unique_ptr<OrderedItems> in_order(const std::string& prefix,
                                                 const std::optional<RowPlace>& after) const = 0;
  virtual std::optional<StoredItem> find(std::string_view prefix, std::string_view key) const = 0;
  // Whether there are items, anywhere, that do not live any more.
  virtual bool has_expired() const = 0;
};

// All that it refers to must live as long.
class FileItems final : public ItemSource {
 public:
  FileItems(Connection& connection, const ItemCodec& codec, StoreOrder order,
            const LivesAfter& lives_after)
      : connection_(connection), codec_(codec), order_(order), lives_after_(lives_after) {}

  std::unique_ptr<OrderedItems> in_order(const std::string& prefix,
                                         const std::optional<RowPlace>& after) const override;
  std::optional<StoredItem> find(std::string_view prefix, std::string_view key) const override;
  bool has_expired() const override;

 private:
  class InOrder;

  Connection& connection_;
  const ItemCodec& codec_;
  const StoreOrder order_;
  const LivesAfter& lives_after_;
};

}  // namespace clew::sqlite

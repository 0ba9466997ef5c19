// A Store is what a program remembers across threads: JSON objects under a
// namespace and a key, to be read back, filtered and searched by meaning.
//
//   auto store = std::make_shared<InMemoryStore>();
//   store->put({"1", "memories"}, "food", {{"preference", "I like pizza"}});
//   for (const SearchItem& memory : store->search({"1", "memories"}))
//     std::cout << memory << '\n';
//
//   IndexOptions index{.embed = embedder, .dims = 1536, .fields = {"text"}};
//   InMemoryStore semantic({.index = index});
//   semantic.search({"1"}, {.query = "What does the user like to eat?", .limit = 3});
//
// In a graph: compile({.store = store}), then runtime.store() in a node.
//
// InMemoryStore is here; SqliteStore, in <clew/sqlite_store.hpp>, keeps items in
// a file. All methods may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <clew/store_index.hpp>
#include <clew/store_namespace.hpp>
#include <clew/task.hpp>
#include <clew/value.hpp>

namespace clew {

struct Item {
  using Time = std::chrono::sys_time<std::chrono::microseconds>;

  Value value;  // an object
  std::string key;
  StoreNamespace namespace_;
  Time created_at;
  Time updated_at;

  friend bool operator==(const Item&, const Item&) = default;
};

// A place in the results of a search, see SearchOptions::after. Means something
// only to the store that gave it.
struct SearchCursor {
  double rank = 0;
  std::int64_t place = 0;

  friend bool operator==(const SearchCursor&, const SearchCursor&) = default;
};

struct SearchItem : Item {
  // How well it fits the query; greater is better. Nothing without a query, and
  // for items that are not indexed.
  std::optional<double> score;

  // Where it stands among all that the search finds.
  SearchCursor cursor;

  friend bool operator==(const SearchItem&, const SearchItem&) = default;
};

// {"value", "key", "namespace", "created_at", "updated_at"}, and "score".
Value to_value(const Item& item);
Value to_value(const SearchItem& item);
// The same as JSON.
std::ostream& operator<<(std::ostream& out, const Item& item);
std::ostream& operator<<(std::ostream& out, const SearchItem& item);

struct PutOptions {
  // Which parts of the value are indexed for this item: paths as in
  // IndexOptions::fields, or none at all. Nothing: those of the store.
  std::optional<std::vector<std::string>> index = {};

  // How long the item lives. Nothing: as the store's options say.
  std::optional<std::chrono::milliseconds> ttl = {};
};

// A ttl for items that are kept for good, whatever the store's options say.
inline constexpr std::chrono::milliseconds kNoTtl = std::chrono::milliseconds::max();

// What the query is compared with.
enum class SearchMode {
  semantic,  // the meaning of the texts, by their vectors
  text,      // the words of the texts; needs no embedder
  hybrid,    // both: what is among the first by either comes first
};

struct SearchOptions {
  // What to look for. Searched by meaning, it is ignored by stores without an
  // index.
  std::string query = {};
  SearchMode mode = SearchMode::semantic;

  // Entries that the value must have; null for no condition. A value that is an
  // object matches if it has all entries of the one given, and so on inwards.
  // {"$gt": 3} and $gte, $lt, $lte compare numbers, $eq and $ne anything.
  Value filter = {};

  std::size_t limit = 10;
  std::size_t offset = 0;

  // Only what stands behind this place: the cursor of the last item of the page
  // before. Such pages fit together although items come and go in between, which
  // an offset cannot promise. (By words all texts make the ranking: there an item
  // may overtake another between two pages.)
  std::optional<SearchCursor> after = {};

  // Whether the items found live anew. Nothing: as the store's options say.
  std::optional<bool> refresh_ttl = {};
};

struct ListNamespacesOptions {
  // How a namespace begins and ends. The label "*" stands for any one label.
  StoreNamespace prefix = {};
  StoreNamespace suffix = {};

  // Cuts longer namespaces off; each is listed once.
  std::optional<std::size_t> max_depth = {};

  std::size_t limit = 100;
  std::size_t offset = 0;
};

// ---- Operations, for batch()

struct GetOp {
  StoreNamespace namespace_;
  std::string key;
  std::optional<bool> refresh_ttl = {};
};

struct PutOp {
  StoreNamespace namespace_;
  std::string key;
  Value value;  // null removes the item
  PutOptions options = {};
};

struct SearchOp {
  StoreNamespace prefix;
  SearchOptions options = {};
};

struct ListNamespacesOp {
  ListNamespacesOptions options = {};
};

using StoreOp = std::variant<GetOp, PutOp, SearchOp, ListNamespacesOp>;

// What the operation of the same place gives; nothing for a PutOp.
using StoreResult = std::variant<std::monostate, std::optional<Item>, std::vector<SearchItem>,
                                 std::vector<StoreNamespace>>;

struct ReindexOptions {
  // Called after every few items.
  std::function<void(std::size_t done, std::size_t total)> progress = {};

  // Ends it after the items that are under way. What is done stays done.
  std::stop_token stop = {};
};

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // Stores `value`, an object, in place of what is there. Throws
  // InvalidNamespaceError, and what the embedder throws; then nothing changes.
  void put(const StoreNamespace& ns, std::string_view key, Value value,
           const PutOptions& options = {});

  // The methods below throw InvalidNamespaceError for labels that put() would
  // not take, but know the empty namespace and the reserved one.

  std::optional<Item> get(const StoreNamespace& ns, std::string_view key,
                          std::optional<bool> refresh_ttl = {});

  // Nothing happens if there is no such item.
  void delete_item(const StoreNamespace& ns, std::string_view key);

  // Items of all namespaces that begin with the labels of `prefix`. With a
  // query the best first, then those that are not indexed; else in the order of
  // the backend. Throws ValueError for a filter that makes no sense.
  std::vector<SearchItem> search(const StoreNamespace& prefix, const SearchOptions& options = {});

  // The namespaces that hold items, sorted label by label.
  std::vector<StoreNamespace> list_namespaces(const ListNamespacesOptions& options = {});

  // Runs all at once. Reads see what was there before; of several puts to one
  // key the last counts. If one fails, nothing changes.
  virtual std::vector<StoreResult> batch(std::span<const StoreOp> ops) = 0;

  // The same for coroutines, on a thread of default_executor(). The store must
  // live until the task ends. In a statement with co_await, name what you pass
  // (see compiled_graph.hpp).
  Task<void> async_put(StoreNamespace ns, std::string key, Value value, PutOptions options);
  Task<void> async_put(StoreNamespace ns, std::string key, Value value);
  Task<std::optional<Item>> async_get(StoreNamespace ns, std::string key,
                                      std::optional<bool> refresh_ttl = {});
  Task<void> async_delete_item(StoreNamespace ns, std::string key);
  Task<std::vector<SearchItem>> async_search(StoreNamespace prefix, SearchOptions options);
  Task<std::vector<SearchItem>> async_search(StoreNamespace prefix);
  Task<std::vector<StoreNamespace>> async_list_namespaces(ListNamespacesOptions options);
  Task<std::vector<StoreNamespace>> async_list_namespaces();
  Task<std::vector<StoreResult>> async_batch(std::vector<StoreOp> ops);

  // Embeds the texts of all items anew, after a change of the model or of
  // IndexOptions::fields; an item's own PutOptions::index stays what it was.
  // Returns how many items were embedded. Other calls go on meanwhile.
  virtual std::size_t reindex(const ReindexOptions& options = {}) = 0;

  // Removes the items whose time is over, which no call returns any more, and
  // returns how many there were. A StoreSweeper does it now and then.
  virtual std::size_t sweep_ttl() = 0;

 protected:
  // What get() and put() do once the namespace is checked. By default a batch;
  // backends may have a shorter way.
  virtual std::optional<Item> get_checked(const StoreNamespace& ns, std::string_view key,
                                          std::optional<bool> refresh_ttl);
  virtual void put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                           const PutOptions& options);
};

// ---- Options of a store

// How long items live. An item whose time is over is gone at once for every
// call; sweep_ttl() gives its space back.
struct StoreTtl {
  // For items that are put without a ttl. Nothing: for good.
  std::optional<std::chrono::milliseconds> default_ttl = {};

  // Whether an item that get() or search() returns lives anew.
  bool refresh_on_read = true;
};

struct StoreOptions {
  // Nothing: no search by meaning.
  std::optional<IndexOptions> index = {};

  // Nothing: items live for good.
  std::optional<StoreTtl> ttl = {};
};

// Calls sweep_ttl() in a thread of its own, from now until it is destroyed. What
// goes wrong is tried again at the next interval.
class StoreSweeper {
 public:
  explicit StoreSweeper(std::shared_ptr<Store> store,
                        std::chrono::milliseconds interval = std::chrono::minutes(5));
  StoreSweeper(const StoreSweeper&) = delete;
  StoreSweeper& operator=(const StoreSweeper&) = delete;
  ~StoreSweeper();

 private:
  struct Worker;
  std::unique_ptr<Worker> worker_;
};

// ---- In memory

// Keeps items in the order in which they were first stored: without a query,
// search() gives the namespaces and their items in that order, oldest first.
// (Stores in databases give what was put last first, unless told otherwise.)
class InMemoryStore final : public Store {
 public:
  // Throws ValueError for an index without an embedder. Without StoreOptions::ttl
  // an item with a ttl is refused.
  explicit InMemoryStore(StoreOptions options = {});
  ~InMemoryStore() override;

  std::vector<StoreResult> batch(std::span<const StoreOp> ops) override;
  std::size_t reindex(const ReindexOptions& options = {}) override;
  std::size_t sweep_ttl() override;

 private:
  struct Data;

  std::optional<Item> get_checked(const StoreNamespace& ns, std::string_view key,
                                  std::optional<bool> refresh_ttl) override;
  void put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                   const PutOptions& options) override;

  std::unique_ptr<Data> data_;
};

}  // namespace clew

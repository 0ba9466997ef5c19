// A Store is what a program remembers across threads: JSON objects under a
// namespace and a key, to be read back, filtered and searched by meaning.
//
//   auto store = std::make_shared<InMemoryStore>();
//   store->put({"1", "memories"}, "food", {{"preference", "I like pizza"}});
//   for (const SearchItem& memory : store->search({"1", "memories"}))
//     std::cout << memory << '\n';
//
//   InMemoryStore semantic(IndexOptions{.embed = embedder, .dims = 1536, .fields = {"text"}});
//   semantic.search({"1"}, {.query = "What does the user like to eat?", .limit = 3});
//
// In a graph: compile({.store = store}), then runtime.store() in a node.
//
// All methods may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <clew/value.hpp>

namespace clew {

// Labels from the outermost inwards. A label is not empty and has no dot; the
// first one is not "langgraph".
using StoreNamespace = std::vector<std::string>;

struct Item {
  using Time = std::chrono::sys_time<std::chrono::microseconds>;

  Value value;  // an object
  std::string key;
  StoreNamespace namespace_;
  Time created_at;
  Time updated_at;

  friend bool operator==(const Item&, const Item&) = default;
};

struct SearchItem : Item {
  // How well it fits the query; greater is better. Nothing without a query, and
  // for items that are not indexed.
  std::optional<double> score;

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

struct SearchOptions {
  // What to look for by meaning. Ignored by stores without an index.
  std::string query = {};

  // Entries that the value must have; null for no condition. A value that is an
  // object matches if it has all entries of the one given, and so on inwards.
  // {"$gt": 3} and $gte, $lt, $lte compare numbers, $eq and $ne anything.
  Value filter = {};

  std::size_t limit = 10;
  std::size_t offset = 0;

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

 protected:
  // What get() and put() do once the namespace is checked. By default a batch;
  // backends may have a shorter way.
  virtual std::optional<Item> get_checked(const StoreNamespace& ns, std::string_view key,
                                          std::optional<bool> refresh_ttl);
  virtual void put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                           const PutOptions& options);
};

// Throws InvalidNamespaceError if a label is empty or contains a dot or NUL.
void check_labels(const StoreNamespace& ns);
// The same, and also if there is no label or the first is reserved.
void check_namespace(const StoreNamespace& ns);

// ---- Search by meaning

// Turns texts into vectors that are near each other if their texts mean the like.
class Embedder {
 public:
  using Vector = std::vector<float>;

  Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;
  virtual ~Embedder() = default;

  // One vector per text, in the same order.
  virtual std::vector<Vector> embed_documents(std::span<const std::string> texts) = 0;
  // By default like a document.
  virtual Vector embed_query(const std::string& text);
};

// Any function as an Embedder. It may be called from several threads at a time.
std::shared_ptr<Embedder> make_embedder(
    std::function<std::vector<Embedder::Vector>(std::span<const std::string> texts)> function);

struct IndexOptions {
  std::shared_ptr<Embedder> embed;

  // The length of the vectors; others are refused. 0: any.
  std::size_t dims = 0;

  // The texts of a value that are indexed, each by a path such as "text",
  // "meta.title", "tags[*]", "rows[-1].name", "parts.*" or "{title,meta.note}".
  // "$" is the whole value, as JSON.
  std::vector<std::string> fields = {"$"};
};

// ---- In memory

// Keeps items in the order in which they were first stored: without a query,
// search() gives the namespaces and their items in that order, oldest first. Has
// no time to live. Similarity is the cosine, compared with every item.
class InMemoryStore final : public Store {
 public:
  InMemoryStore();
  // Throws ValueError if there is no embedder.
  explicit InMemoryStore(IndexOptions index);
  ~InMemoryStore() override;

  std::vector<StoreResult> batch(std::span<const StoreOp> ops) override;

 private:
  struct Data;

  std::optional<Item> get_checked(const StoreNamespace& ns, std::string_view key,
                                  std::optional<bool> refresh_ttl) override;
  void put_checked(const StoreNamespace& ns, std::string_view key, Value value,
                   const PutOptions& options) override;

  std::unique_ptr<Data> data_;
};

}  // namespace clew

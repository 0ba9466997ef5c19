// Keeps what a program remembers across threads in one SQLite file.
//
//   auto store = SqliteStore::open("memory.db", {.index = index});
//   auto app = graph.compile({.checkpointer = saver, .store = store});
//
// The file may be the one of a SqliteSaver. Its tables are those of LangGraph's
// own SqliteStore, so LangGraph and Clew can take turns on a file, vectors
// included. Any number of threads and processes may use it at once; see
// docs/format/sqlite.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <clew/cipher.hpp>
#include <clew/sqlite_saver.hpp>
#include <clew/store.hpp>

namespace clew {

// In which order search() gives items that have no score.
enum class StoreOrder {
  // What was put last first, as LangGraph's stores in databases do.
  newest_first,

  // The namespaces in the order of their first items, in each the items as they
  // were first stored, as in InMemoryStore. An item that is put again keeps its
  // place; if LangGraph puts it, it becomes the last one.
  first_stored,
};

struct SqliteStoreOptions {
  // Nothing: no search by meaning.
  std::optional<IndexOptions> index = {};

  // Nothing: items live for good, also those that were put with a time to live.
  std::optional<StoreTtl> ttl = StoreTtl();

  StoreOrder order = StoreOrder::newest_first;

  // Encrypts the values of items. Namespaces, keys, times and vectors stay
  // readable, and vectors tell something of the texts they were made of. Items
  // from before there was a cipher are read as they are, until they are put again;
  // but a file that was opened with a key is not opened without it or with
  // another one. LangGraph does not read encrypted items. Null: nothing is encrypted.
  std::shared_ptr<const Cipher> cipher = {};

  // Items are kept in memory once as many were read as there are, as long as all of
  // them, as they are stored, have no more bytes than this; in memory they take
  // about three times as much. Such a read asks nothing of the file as long as it is
  // unchanged. Vectors are kept whatever their size, from the first search on
  // that needs them. 0: items are always read from the file.
  std::size_t cache_bytes = std::size_t{64} << 20;

  // As in SqliteOptions.
  SqliteSynchronous synchronous = SqliteSynchronous::full;
  std::chrono::milliseconds busy_timeout{30'000};
};

// Items are JSON: put() throws ValueError for a value that has bytes, times or
// other things JSON does not know.
//
// Items that were stored without an index, or with vectors of another length,
// have no score in a semantic search and come last, until reindex() embeds them;
// missing_vectors() counts them.
class SqliteStore final : public Store {
 public:
  // Opens or makes the file; ":memory:" keeps everything in memory. Throws
  // StorageError if the file cannot be used or its key is another, with the reason.
  static std::shared_ptr<SqliteStore> open(const std::string& path,
                                           SqliteStoreOptions options = {});
  ~SqliteStore() override;

  // Whether an existing SQLite file has the tables of a store. Makes nothing.
  static bool is_in(const std::string& path);

  // A batch is one transaction.
  std::vector<StoreResult> batch(std::span<const StoreOp> ops) override;
  std::size_t reindex(const ReindexOptions& options = {}) override;
  std::size_t sweep_ttl() override;

  // The items that a semantic search cannot rank.
  std::size_t missing_vectors();

  // Takes over the items of another file of a SqliteStore, with their times, lifetimes
  // and vectors. An item that is here already stays what it is. Encrypted items stay
  // encrypted, so the key must be the same. Returns how many were added.
  std::size_t copy_items(const std::string& path);

  // Gives the space of what was deleted back to the file system.
  void vacuum();

  // How many transactions were committed since the file was opened.
  std::uint64_t commits() const;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  std::optional<Item> get_checked(const StoreNamespace& ns, std::string_view key,
                                  std::optional<bool> refresh_ttl) override;

  std::unique_ptr<Parts> parts_;
};

}  // namespace clew

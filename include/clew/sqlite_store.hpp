// Keeps what a program remembers across threads in one SQLite file.
//
//   auto store = SqliteStore::open("memory.db", {.index = index});
//   auto app = graph.compile({.checkpointer = saver, .store = store});
//
// The file may be the one of a SqliteSaver. Its tables are those of LangGraph's
// own SqliteStore, so LangGraph and Clew can take turns on a file, vectors
// included. Any number of threads and processes may use it at once; see
// docs/format/sqlite.md.
//
// search() without a query gives what was put last first.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <clew/sqlite_saver.hpp>
#include <clew/store.hpp>

namespace clew {

struct SqliteStoreOptions {
  // Nothing: no search by meaning.
  std::optional<IndexOptions> index = {};

  // Nothing: items live for good, also those that were put with a time to live.
  std::optional<StoreTtl> ttl = StoreTtl();

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
  // StorageError if the file cannot be used, with the reason.
  static std::shared_ptr<SqliteStore> open(const std::string& path,
                                           SqliteStoreOptions options = {});
  ~SqliteStore() override;

  // A batch is one transaction.
  std::vector<StoreResult> batch(std::span<const StoreOp> ops) override;
  std::size_t reindex(const ReindexOptions& options = {}) override;
  std::size_t sweep_ttl() override;

  // The items that a semantic search cannot rank.
  std::size_t missing_vectors();

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

#include "database.hpp"

#include <algorithm>
#include <map>
#include <span>

#include <clew/memory_saver.hpp>
#include <clew/sqlite_saver.hpp>
#include <clew/sqlite_store.hpp>

#include "python.hpp"
#include "scenario.hpp"
#include "temporary_folder.hpp"

namespace clew::conformance {
namespace {

constexpr std::size_t kLetters = 26;

// The embedding that scenarios agree on: how often each letter occurs.
std::vector<Embedder::Vector> count_letters(std::span<const std::string> texts) {
  std::vector<Embedder::Vector> vectors;
  for (const std::string& text : texts) {
    Embedder::Vector& counts = vectors.emplace_back(kLetters);
    for (const char c : text) {
      const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (lower >= 'a' && lower <= 'z') counts[static_cast<std::size_t>(lower - 'a')] += 1;
    }
  }
  return vectors;
}

// `index` is what a scenario says about embedding.
std::optional<IndexOptions> read_index(const Value& index) {
  if (!is_true(index)) return std::nullopt;
  IndexOptions options{.embed = make_embedder(count_letters), .dims = kLetters};
  if (const Value* fields = index.find("fields")) options.fields = string_list(*fields);
  return options;
}

class MemoryDatabase final : public Database {
 public:
  std::shared_ptr<Checkpointer> saver() const override { return saver_; }
  std::shared_ptr<Store> make_store(const Value& index) const override {
    return std::make_shared<InMemoryStore>(StoreOptions{.index = read_index(index)});
  }

 private:
  std::shared_ptr<Checkpointer> saver_ = std::make_shared<InMemorySaver>();
};

// A file that nobody else sees, so that nothing is spent on power loss.
class OwnFile final : public Database {
 public:
  explicit OwnFile(SqliteLayout layout)
      : saver_(
            SqliteSaver::open(path(), {.layout = layout, .synchronous = SqliteSynchronous::off})) {}
  std::shared_ptr<Checkpointer> saver() const override { return saver_; }
  std::shared_ptr<Store> make_store(const Value& index) const override {
    return SqliteStore::open(path(), {.index = read_index(index),
                                      .order = StoreOrder::first_stored,
                                      .synchronous = SqliteSynchronous::off});
  }

 private:
  std::string path() const { return (folder_.path / "threads.db").string(); }

  TemporaryFolder folder_;
  std::shared_ptr<Checkpointer> saver_;
};

class SharedFile final : public Database {
 public:
  explicit SharedFile(const std::string& path)
      : path_(path), saver_(SqliteSaver::open(path, {.layout = SqliteLayout::langgraph})) {}
  std::shared_ptr<Checkpointer> saver() const override { return saver_; }
  std::shared_ptr<Store> make_store(const Value& index) const override {
    return SqliteStore::open(path_, {.index = read_index(index)});
  }

 private:
  const std::string path_;
  std::shared_ptr<Checkpointer> saver_;
};

}  // namespace

std::vector<std::string> Database::threads() const {
  std::vector<std::string> threads;
  for (const ThreadInfo& thread : saver()->list_threads({})) {
    if (thread.checkpoints > 0) threads.push_back(thread.thread_id);
  }
  return threads;
}

std::vector<std::string> Database::namespaces(const std::string& thread) const {
  std::map<std::string, std::string> oldest;  // namespace -> id
  for (const CheckpointTuple& tuple : saver()->list(thread, std::nullopt, {})) {
    const std::string& id = tuple.checkpoint.id;
    const auto [entry, is_new] = oldest.emplace(tuple.key.checkpoint_ns, id);
    if (!is_new) entry->second = std::min(entry->second, id);
  }
  std::vector<std::string> namespaces;
  for (const auto& [ns, id] : oldest) namespaces.push_back(ns);
  std::sort(namespaces.begin(), namespaces.end(),
            [&](const auto& a, const auto& b) { return oldest[a] < oldest[b]; });
  return namespaces;
}

std::vector<std::string> Database::ids(const std::string& thread, const std::string& ns) const {
  std::vector<std::string> ids;
  for (const CheckpointTuple& tuple : saver()->list(thread, ns, {})) {
    ids.push_back(tuple.checkpoint.id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<CheckpointTuple> Database::checkpoints(const std::string& thread,
                                                   const std::string& ns) const {
  std::vector<CheckpointTuple> tuples = saver()->list(thread, ns, {});
  std::sort(tuples.begin(), tuples.end(), [](const CheckpointTuple& a, const CheckpointTuple& b) {
    return a.checkpoint.id < b.checkpoint.id;
  });
  return tuples;
}

std::unique_ptr<Database> open_database(std::string_view backend) {
  if (backend == "memory") return std::make_unique<MemoryDatabase>();
  if (backend == "sqlite:native") return std::make_unique<OwnFile>(SqliteLayout::native);
  if (backend == "sqlite:langgraph") return std::make_unique<OwnFile>(SqliteLayout::langgraph);
  throw ScenarioError("unknown backend '" + std::string(backend) +
                      "'; there are: memory, sqlite:native, sqlite:langgraph");
}

std::unique_ptr<Database> open_shared_database(std::string_view place) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!place.starts_with(kSqlite) || place.size() == kSqlite.size()) {
    throw ScenarioError("unknown saver '" + std::string(place) + "'; there is: sqlite:PATH");
  }
  return std::make_unique<SharedFile>(std::string(place.substr(kSqlite.size())));
}

}  // namespace clew::conformance

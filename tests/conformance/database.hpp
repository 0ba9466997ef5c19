// Where a scenario's threads and memories are kept, and what the comparison
// needs to see of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/store.hpp>

namespace clew::conformance {

class Database {
 public:
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  virtual ~Database() = default;

  virtual std::shared_ptr<Checkpointer> saver() const = 0;
  // `index` is what a scenario says about embedding, or nothing for a store
  // without.
  virtual std::shared_ptr<Store> make_store(const Value& index) const = 0;

  // Threads that have checkpoints, by name.
  std::vector<std::string> threads() const;
  // Namespaces of a thread, by their oldest checkpoint.
  std::vector<std::string> namespaces(const std::string& thread) const;
  // Checkpoint ids of a namespace, oldest first.
  std::vector<std::string> ids(const std::string& thread, const std::string& ns) const;
  // The checkpoints with their writes, oldest first.
  std::vector<CheckpointTuple> checkpoints(const std::string& thread, const std::string& ns) const;
};

// A new database: "memory", or a file of its own that goes with it:
// "sqlite:native", "sqlite:langgraph". Throws ScenarioError on other backends.
std::unique_ptr<Database> open_database(std::string_view backend);

// The file "sqlite:PATH" in LangGraph's layout, made if it is missing.
std::unique_ptr<Database> open_shared_database(std::string_view place);

}  // namespace clew::conformance

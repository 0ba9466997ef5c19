// The state of a thread at a checkpoint.
//
//   StateSnapshot now = graph.get_state(thread);
//   now.values["foo"];  now.next;  now.tasks;  now.config;     // what it is, what comes, where
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <clew/config.hpp>

namespace clew {

struct StateSnapshot;

// A task of the step that follows the checkpoint.
struct SnapshotTask {
  std::string id;
  std::string name;
  Value path;                  // where it comes from, as a list
  std::optional<Value> error;  // the text of its failure
  std::vector<Interrupt> interrupts;
  // A subgraph runs in this task: where its state is, or with `subgraphs` the state itself.
  std::optional<Config> state_config;
  std::shared_ptr<const StateSnapshot> state;
  std::optional<Value> result;  // what it wrote, once it has finished
};

struct StateSnapshot {
  Value values;                   // the channels
  std::vector<std::string> next;  // nodes still to run in this step
  Config config;                  // addresses this checkpoint
  Value metadata;  // source, step, parents, and the run's metadata; null if there is none
  std::optional<std::string> created_at;
  std::optional<Config> parent_config;
  std::vector<SnapshotTask> tasks;
  // Questions of the tasks: the open ones of the newest state, all of an older one.
  std::vector<Interrupt> interrupts;
};

// As JSON-able value, with the names and shapes that LangGraph prints.
Value to_value(const StateSnapshot& snapshot);
// Readable on a terminal, one line per part.
std::ostream& operator<<(std::ostream& out, const StateSnapshot& snapshot);

}  // namespace clew

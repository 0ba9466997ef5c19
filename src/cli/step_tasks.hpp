// The tasks of the step that follows a checkpoint, told from what is stored alone:
// a database knows its graphs only by the names of channels and by which versions
// the nodes have seen.
//
//   KnownGraph graph;
//   for (const CheckpointTuple& tuple : tuples) graph.learn(tuple);
//   for (const StepTask& task : step_tasks(tuple, graph)) use(task.node);
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::cli {

// What checkpoints tell of the graph that made them.
class KnownGraph {
 public:
  void learn(const CheckpointTuple& tuple);

  // Node -> the channels that wake it.
  const std::map<std::string, std::set<std::string>>& triggers() const { return triggers_; }

 private:
  std::map<std::string, std::set<std::string>> triggers_;
};

struct StepTask {
  std::string id;
  std::string node;
  Value path;  // as snapshots have it: ["__pregel_pull", "agent"]
};

// Sends first, in their order, then nodes by name. Of a functional workflow that never
// finished a step the name is not known; it is called "__start__".
std::vector<StepTask> step_tasks(const CheckpointTuple& tuple, const KnownGraph& graph);

// The node, or the function of a functional workflow, that made a write of the step
// that follows `tuple`. Empty if nothing tells.
std::string node_of(const CheckpointTuple& tuple, const PendingWrite& write,
                    const KnownGraph& graph);

// A stored task path as a person reads it: "pull", "Send 2", "call 0 of workflow".
std::string path_title(const std::string& task_path);

// Channels that say which node runs next, and what happened to tasks: no part of a state.
bool is_reserved_channel(std::string_view channel);

}  // namespace clew::cli

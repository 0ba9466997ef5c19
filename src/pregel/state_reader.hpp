// Shows stored states: get_state() and the history. Nothing runs, so there is no
// Loop: a checkpoint becomes channels, and these say what the next step is.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <clew/compiled_graph.hpp>

#include "pregel/task_run.hpp"

namespace clew::pregel {

struct TaskOutcome;

class StateReader {
 public:
  StateReader(std::shared_ptr<const Graph> graph, std::shared_ptr<Checkpointer> saver)
      : graph_(std::move(graph)), saver_(std::move(saver)) {}

  // Shows in `snapshot`, in place of what was there, what `saved` holds: as it was stored, or
  // with `live` as it is now, what finished since applied, and only what is still open. Nobody
  // needs `saved` afterwards. Reading one after another keeps the memory of the last.
  void fill(StateSnapshot& snapshot, CheckpointTuple& saved, bool live, bool recurse);

 private:
  // A task of the step that follows the checkpoint: a TaskRun that nobody runs.
  struct OpenTask {
    TaskKind kind;
    const Node* node;
    std::int64_t index = 0;  // push: of the Send
    std::string id = {};
    std::vector<Write> writes = {};  // of a live state, once it has finished

    std::string path_text() const;
    Value path() const;
    TaskWrites as_writes() const { return {node, Value(), writes, kind == TaskKind::pull, true}; }
  };

  void load(const CheckpointTuple& saved);
  std::vector<OpenTask> open_tasks(const CheckpointTuple& saved) const;
  void give_ids(std::vector<OpenTask>& tasks, const CheckpointTuple& saved) const;
  SnapshotTask describe(const OpenTask& task, TaskOutcome& outcome, const CheckpointTuple& saved,
                        bool recurse) const;
  void preview(std::vector<OpenTask>& tasks, const CheckpointTuple& saved);

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<Checkpointer> saver_;
  std::optional<ThreadState> state_;  // of the last snapshot
  std::int64_t step_ = 0;             // the one that follows it
};

// What get_state() shows of a thread without checkpoints.
StateSnapshot empty_state(Config config);

// The newest state of a subgraph, and of the graphs in it.
StateSnapshot subgraph_state(const std::shared_ptr<const Graph>& graph,
                             const std::shared_ptr<Checkpointer>& saver, Config config);

}  // namespace clew::pregel

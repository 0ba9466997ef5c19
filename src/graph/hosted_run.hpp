// Runs a graph for a host that keeps a record of what the run told, with which it
// can let another run go on after a crash as if there had been none.
//
//   start_hosted_run(graph, input, config, options, {.take_event = ..., ...});
//
// In the order of the record: what leads to a checkpoint, the checkpoint's name,
// and only then is the checkpoint given to the checkpointer. The same goes for
// what a task tells and its writes.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>

#include <clew/compiled_graph.hpp>

namespace clew {

// All are called by whichever thread runs the graph, which goes on after them.
struct RunHost {
  // Each event, in order, one at a time. `task_id` says which task tells it; it is
  // empty if the graph event.ns does.
  std::function<void(StreamEvent event, std::string_view task_id)> take_event;

  // The id for the checkpoint that the graph of this namespace makes for a step:
  // a new checkpoint_id(), or the one of a run that this one repeats. Tasks and
  // interrupts are named after it. May be called by several threads.
  std::function<std::string(const std::string& checkpoint_ns, std::int64_t step)> name_checkpoint;

  // Once, at the end, with the run's error or null.
  std::function<void(std::exception_ptr error)> done;
};

// Returns at once. Throws what CompiledGraph::stream() throws.
void start_hosted_run(const CompiledGraph& graph, const Value& input, const Config& config,
                      StreamOptions options, RunHost host);

}  // namespace clew

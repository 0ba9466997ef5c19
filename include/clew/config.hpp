// Which thread a call is about, and how a run behaves.
//
//   Config thread{.thread_id = "1"};
//   graph.invoke(input, thread);
//   graph.invoke(nullptr, snapshot.config);        // replays from that checkpoint
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <clew/types.hpp>

namespace clew {

inline constexpr int kDefaultRecursionLimit = 10007;

struct Config {
  // The thread. Needed wherever a checkpointer is in use.
  std::string thread_id = {};

  // A checkpoint of the thread. Empty: the newest.
  std::string checkpoint_id = {};

  // The graph within the thread: empty for the root, else as snapshots of
  // subgraphs give it.
  std::string checkpoint_ns = {};

  // For a subgraph's checkpoint: the checkpoints of all graphs around it, by
  // namespace. Snapshots fill it; pass it on as it is.
  Value checkpoint_map = {};

  // Values for nodes to read (runtime.config().configurable), by name.
  Value configurable = {};

  // What the run is about: available to nodes as runtime.context().
  Value context = {};

  // Stored with every checkpoint of the run: strings, numbers and booleans.
  Value metadata = {};
  // For nodes to read.
  std::vector<std::string> tags = {};

  // Super-steps a run may take before it fails with GraphRecursionError.
  int recursion_limit = kDefaultRecursionLimit;

  // Tasks of one super-step that may be under way at once, coroutines that wait
  // included. 0: as many as there are.
  std::size_t max_concurrency = 0;

  // When checkpoints become durable. Nothing: async, or what the graph around this one uses.
  std::optional<Durability> durability = {};

  // Stop before or after these nodes in this run, instead of those given to
  // compile(). "*" is every node.
  std::vector<std::string> interrupt_before = {};
  std::vector<std::string> interrupt_after = {};

  // The channels of the result. Empty: the graph's output schema.
  std::vector<std::string> output_keys = {};

  // Ends the run at the next task boundary with Cancelled; the thread can be continued.
  std::stop_token stop = {};
};

// {"configurable": {"thread_id": ..., ...}}, as LangGraph prints it.
Value to_value(const Config& config);

}  // namespace clew

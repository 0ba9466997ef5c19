// The graphs of the recorded database, and what was run on copies of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <clew/checkpointer.hpp>
#include <clew/compiled_graph.hpp>

namespace clew::interop {

// How often each node of the graphs was run.
using Runs = std::map<std::string, int>;

struct RecordedGraph {
  // Nodes that failed when the database was recorded are repaired. `runs` must
  // outlive the graph.
  std::function<CompiledGraph(const std::shared_ptr<Checkpointer>& saver, Runs& runs)> build;

  // What a continuation of this name does; its result is what it returns.
  std::map<std::string, std::function<Value(const CompiledGraph& graph, const Config& config)>>
      continuations = {};
};

// By thread.
const std::map<std::string, RecordedGraph>& recorded_graphs();

}  // namespace clew::interop

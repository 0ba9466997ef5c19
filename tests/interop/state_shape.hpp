// A graph to look at threads with whose own graph nobody has.
#pragma once

#include <memory>
#include <string>

#include <clew/checkpointer.hpp>
#include <clew/compiled_graph.hpp>

namespace clew::interop {

// A graph with the channels of the thread's graph, as far as its checkpoints and
// the recorded states of its history tell them; it has none of the nodes. Its
// states have the values and metadata that the thread's graph would show.
CompiledGraph graph_like(const std::shared_ptr<Checkpointer>& saver, const std::string& thread_id,
                         const Value& history);

}  // namespace clew::interop

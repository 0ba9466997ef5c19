// The graphs whose runs are interrupted by crashes and faults. Each execution of
// a node notes in the sink that it begins and, just before it returns, its
// effect; its token joins the lists `log` and `deltas` of the state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <clew/clew.hpp>

#include "sink.hpp"

namespace clew::fault {

enum class Shape { chain, fan_out, send, subgraph, interrupt, error };
CLEW_ENUM(Shape, chain, fan_out, send, subgraph, interrupt, error)
inline constexpr std::size_t kShapes = 6;

// How a graph's nodes behave.
struct Behaviour {
  // Nodes take up to so long; how long, this seed decides.
  std::uint64_t longest_us = 0;
  std::uint64_t seed = 0;
};

CompiledGraph build_graph(Shape shape, std::shared_ptr<Checkpointer> saver, Sink& sink,
                          const Behaviour& behaviour);

// Sees the thread to its end, from wherever it stands: gives it its input,
// continues it, or answers its questions. Notes each return of a call; a node's
// failure is noted and met by another call.
void run_to_end(const CompiledGraph& graph, const Config& thread, Sink& sink);

}  // namespace clew::fault

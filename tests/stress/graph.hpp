// The graph that is stressed: three parallel nodes, one of them a subgraph, a
// join, and Sends. Each execution appends its task's id to `log` and `deltas`,
// fails or asks at random, and is noted in the ledger when it comes to its end.
#pragma once

#include <memory>

#include <clew/clew.hpp>

#include "ledger.hpp"

namespace clew::stress {

CompiledGraph build_graph(Ledger& ledger, std::shared_ptr<Checkpointer> saver);

// What a run is told: {"run": number, "fail": percent}.
Value run_context(std::size_t run, int failure_percent);

}  // namespace clew::stress

// The state at a checkpoint, told from what is stored alone.
#pragma once

#include <clew/checkpointer.hpp>
#include <clew/snapshot.hpp>

namespace clew::cli {

// The channels of the state with their values. What a delta channel holds is joined from
// its writes as most reducers would. Without a graph it cannot be known what a channel
// holds that was never written. A state without keys is the value itself.
Value stored_values(Checkpointer& saver, const CheckpointTuple& tuple);

// As get_state() of the graph would give it, but with the values as they are stored:
// what finished since is in the results of tasks. With `subgraphs` their states too.
StateSnapshot stored_state(Checkpointer& saver, const CheckpointTuple& tuple, bool subgraphs);

}  // namespace clew::cli

// What the events and checkpoints of a run say about it.
#pragma once

#include <clew/config.hpp>

namespace clew::pregel {

struct Scope;

// Sets the metadata of a run by the configuration that it was called with.
void describe_run(Scope& scope);

// {"thread_id", "checkpoint_id"?, "checkpoint_ns"?, "checkpoint_map"?}
Value place_of(const Config& config);

}  // namespace clew::pregel

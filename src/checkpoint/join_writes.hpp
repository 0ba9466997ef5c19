#pragma once

#include <clew/value.hpp>

namespace clew::internal {

// What a channel holds after `update` is written to it, as the reducers that most
// graphs use would put them together, for whoever does not have the graph: lists are
// joined (messages by their ids), objects merged, and of anything else the update counts.
Value join_writes(const Value& current, const Value& update);

}  // namespace clew::internal

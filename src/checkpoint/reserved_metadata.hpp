// Keys that say where in a run something belongs. Checkpoints and tasks have their
// own fields for it, so their metadata leaves them out.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace clew::internal {

inline constexpr std::array<std::string_view, 9> kReservedMetadata = {
    "thread_id",          "checkpoint_id",  "checkpoint_ns",
    "checkpoint_map",     "langgraph_step", "langgraph_node",
    "langgraph_triggers", "langgraph_path", "langgraph_checkpoint_ns",
};

inline bool is_reserved_metadata(std::string_view key) {
  return std::find(kReservedMetadata.begin(), kReservedMetadata.end(), key) !=
         kReservedMetadata.end();
}

}  // namespace clew::internal

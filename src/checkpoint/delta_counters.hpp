#pragma once

#include <string_view>

namespace clew::internal {

// The entry of a checkpoint's metadata that says, for each delta channel, how
// many updates and steps ago its value was stored. Persisted: never rename.
inline constexpr std::string_view kDeltaCounters = "counters_since_delta_snapshot";

}  // namespace clew::internal

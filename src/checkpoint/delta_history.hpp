#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::internal {

using GetTuple = std::function<std::optional<CheckpointTuple>(const CheckpointKey&)>;

// What Checkpointer::get_delta_channel_history() says, following parents with `get_tuple`.
std::vector<DeltaHistory> delta_history(const GetTuple& get_tuple, const CheckpointKey& key,
                                        std::span<const std::string> channels);

}  // namespace clew::internal

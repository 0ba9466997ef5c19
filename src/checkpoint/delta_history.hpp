#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::internal {

using GetTuple = std::function<std::optional<CheckpointTuple>(const CheckpointKey&)>;

// Whether the checkpoint with metadata `child` took the write of a task that is stored with
// its parent. A new input, an update and a replay leave the step that was open there, so what
// its tasks wrote, or still write in another run, is not theirs.
bool takes_write(const Value& child, const Value& parent, const std::string& parent_id,
                 const std::string& task_id, std::string_view task_path);

// What Checkpointer::get_delta_channel_history() says, following parents with `get_tuple`.
std::vector<DeltaHistory> delta_history(const GetTuple& get_tuple, const CheckpointKey& key,
                                        std::span<const std::string> channels);

}  // namespace clew::internal

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::internal {

using GetTuple = std::function<std::optional<CheckpointTuple>(const CheckpointKey&)>;

// Which of the writes that are stored with a checkpoint one of its children took. A new input,
// an update and a replay leave the step that is open there, so what its tasks wrote, or still
// write in another run, is not theirs. A run under `exit` stores what it wrote under ids of its
// own, and then takes nothing that another run stored for the same tasks.
class TakenWrites {
 public:
  struct End {
    const Value& metadata;
    const Value& channel_versions;
  };

  TakenWrites(const End& child, const End& parent, std::string parent_id);

  // First of all tasks that have writes there, then the question.
  void note_task(const std::string& task_id);
  bool contains(const std::string& task_id, std::string_view task_path) const;

 private:
  bool is_of_exit(std::string_view task_id) const;

  std::string source_;
  std::string parent_id_;
  std::int64_t first_step_ = 0;  // after the parent
  std::int64_t last_step_ = 0;
  bool is_new_input_ = false;
  std::unordered_set<std::string> exit_ids_;
};

// What Checkpointer::get_delta_channel_history() says, following parents with `get_tuple`.
std::vector<DeltaHistory> delta_history(const GetTuple& get_tuple, const CheckpointKey& key,
                                        std::span<const std::string> channels);

}  // namespace clew::internal

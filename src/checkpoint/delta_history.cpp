#include "checkpoint/delta_history.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include <clew/ids.hpp>

namespace clew::internal {
namespace {

constexpr std::string_view kUpdatePath = "~__interrupt__";
constexpr std::size_t kStepDigits = 8;
constexpr std::string_view kLateStep = "ffffffff";

// Puts the writes that `child` took of its parent, to the channel, in front of those of
// its descendants.
void collect_writes(const CheckpointTuple& ancestor, const TakenWrites& taken,
                    std::string_view channel, std::vector<PendingWrite>& newest_first) {
  const auto& writes = ancestor.pending_writes;
  for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
    if (write->channel == channel && taken.contains(write->task_id, write->task_path)) {
      newest_first.push_back(*write);
    }
  }
}

// Follows the parents of a checkpoint. Each is visited once: a checkpoint that
// was stored again under one of its descendants makes the chain a loop.
class Ancestors {
 public:
  Ancestors(const GetTuple& get_tuple, const CheckpointKey& key) : get_tuple_(get_tuple) {
    current_ = get_tuple_(key);
  }

  // The next older one, or nullptr.
  const CheckpointTuple* next() {
    if (!current_ || current_->parent_id.empty()) return nullptr;
    if (!visited_.insert(current_->parent_id).second) return nullptr;
    CheckpointKey parent = current_->key;
    parent.checkpoint_id = current_->parent_id;
    child_ = std::move(current_);
    current_ = get_tuple_(parent);
    return current_ ? &*current_ : nullptr;
  }

  // The checkpoint whose parent next() returned.
  const CheckpointTuple& child() const { return *child_; }

 private:
  const GetTuple& get_tuple_;
  std::optional<CheckpointTuple> current_;
  std::optional<CheckpointTuple> child_;
  std::unordered_set<std::string> visited_;
};

TakenWrites taken_writes(const CheckpointTuple& child, const CheckpointTuple& parent) {
  TakenWrites taken({child.metadata, child.checkpoint.channel_versions},
                    {parent.metadata, parent.checkpoint.channel_versions}, parent.checkpoint.id);
  for (const PendingWrite& write : parent.pending_writes) taken.note_task(write.task_id);
  return taken;
}

}  // namespace

TakenWrites::TakenWrites(const End& child, const End& parent, std::string parent_id)
    : parent_id_(std::move(parent_id)) {
  const auto step_of = [](const End& end) {
    const Value& step = end.metadata["step"];
    return step.is_int() ? step.as_int() : std::int64_t{-1};
  };
  const Value& source = child.metadata["source"];
  if (source.is_string()) source_ = source.as_string();
  first_step_ = step_of(parent) + 1;
  last_step_ = step_of(child);
  // Under `exit` the checkpoint of the input is not stored, but its version is.
  is_new_input_ = last_step_ > first_step_ && parent.metadata["source"] != Value("input") &&
                  child.channel_versions["__start__"] != parent.channel_versions["__start__"];
}

// Such an id begins with the number of a step, or as no other does.
bool TakenWrites::is_of_exit(std::string_view task_id) const {
  const std::string_view begin = task_id.substr(0, kStepDigits);
  if (begin == kLateStep) return true;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(begin.data(), begin.data() + begin.size(), step);
  return error == std::errc() && end == begin.data() + begin.size() && step >= first_step_ &&
         step <= last_step_;
}

void TakenWrites::note_task(const std::string& task_id) {
  if (is_of_exit(task_id)) exit_ids_.insert(task_id);
}

bool TakenWrites::contains(const std::string& task_id, std::string_view task_path) const {
  if (source_ == "input") return task_id == input_writes_id(Uuid::parse(parent_id_));
  // Savers that keep no paths tell the writes of an update from nothing else.
  if (source_ == "update") return task_path.empty() || task_path.starts_with(kUpdatePath);
  // A replay is the step after the checkpoint; a copy stands beside it, under its parent.
  if (source_ == "fork") return last_step_ != first_step_;
  if (is_of_exit(task_id)) return true;
  if (is_new_input_ || exit_ids_.empty()) return !is_new_input_;
  return !exit_ids_.contains(exit_delta_task_id(first_step_, task_id));
}

std::vector<DeltaHistory> delta_history(const GetTuple& get_tuple, const CheckpointKey& key,
                                        std::span<const std::string> channels) {
  std::vector<DeltaHistory> histories(channels.size());
  std::size_t without_seed = channels.size();
  Ancestors ancestors(get_tuple, key);
  while (without_seed > 0) {
    const CheckpointTuple* ancestor = ancestors.next();
    if (!ancestor) break;
    TakenWrites taken = taken_writes(ancestors.child(), *ancestor);
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (histories[i].seed) continue;
      collect_writes(*ancestor, taken, channels[i], histories[i].writes);
      if (const Value* stored = ancestor->checkpoint.channel_values.find(channels[i])) {
        histories[i].seed = *stored;
        --without_seed;
      }
    }
  }
  for (DeltaHistory& history : histories) std::ranges::reverse(history.writes);
  return histories;
}

}  // namespace clew::internal

#include "checkpoint/delta_history.hpp"

#include <algorithm>
#include <unordered_set>

#include <clew/ids.hpp>

namespace clew::internal {
namespace {

constexpr std::string_view kUpdatePath = "~__interrupt__";

// Puts the writes that `child` took of its parent, to the channel, in front of those of
// its descendants.
void collect_writes(const CheckpointTuple& ancestor, const Value& child, std::string_view channel,
                    std::vector<PendingWrite>& newest_first) {
  const auto& writes = ancestor.pending_writes;
  for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
    if (write->channel != channel) continue;
    if (takes_write(child, ancestor.metadata, ancestor.checkpoint.id, write->task_id,
                    write->task_path)) {
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
    child_ = std::move(current_->metadata);
    current_ = get_tuple_(parent);
    return current_ ? &*current_ : nullptr;
  }

  // The metadata of the checkpoint whose parent next() returned.
  const Value& child() const { return child_; }

 private:
  const GetTuple& get_tuple_;
  std::optional<CheckpointTuple> current_;
  Value child_;
  std::unordered_set<std::string> visited_;
};

}  // namespace

bool takes_write(const Value& child, const Value& parent, const std::string& parent_id,
                 const std::string& task_id, std::string_view task_path) {
  const Value& source = child["source"];
  if (source == Value("input")) return task_id == input_writes_id(Uuid::parse(parent_id));
  // Savers that keep no paths tell the writes of an update from nothing else.
  if (source == Value("update")) return task_path.empty() || task_path.starts_with(kUpdatePath);
  if (source != Value("fork")) return true;
  // A replay is the step after the checkpoint; a copy stands beside it, under its parent.
  const Value& step = child["step"];
  const Value& parent_step = parent["step"];
  return !step.is_int() || !parent_step.is_int() || step.as_int() != parent_step.as_int() + 1;
}

std::vector<DeltaHistory> delta_history(const GetTuple& get_tuple, const CheckpointKey& key,
                                        std::span<const std::string> channels) {
  std::vector<DeltaHistory> histories(channels.size());
  std::size_t without_seed = channels.size();
  Ancestors ancestors(get_tuple, key);
  while (without_seed > 0) {
    const CheckpointTuple* ancestor = ancestors.next();
    if (!ancestor) break;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (histories[i].seed) continue;
      collect_writes(*ancestor, ancestors.child(), channels[i], histories[i].writes);
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

#include "checkpoint/delta_history.hpp"

#include <algorithm>
#include <unordered_set>

namespace clew::internal {
namespace {

// Puts the writes of one checkpoint to the channel in front of those of its descendants.
void collect_writes(const CheckpointTuple& ancestor, std::string_view channel,
                    std::vector<PendingWrite>& newest_first) {
  const auto& writes = ancestor.pending_writes;
  for (auto write = writes.rbegin(); write != writes.rend(); ++write) {
    if (write->channel == channel) newest_first.push_back(*write);
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
    current_ = get_tuple_(parent);
    return current_ ? &*current_ : nullptr;
  }

 private:
  const GetTuple& get_tuple_;
  std::optional<CheckpointTuple> current_;
  std::unordered_set<std::string> visited_;
};

}  // namespace

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
      collect_writes(*ancestor, channels[i], histories[i].writes);
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

#include <clew/checkpointer.hpp>

#include <algorithm>
#include <array>
#include <unordered_set>

namespace clew {

namespace {

// Persisted: never renumber.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kControlIndexes = {{
    {"__error__", -1},
    {"__scheduled__", -2},
    {"__interrupt__", -3},
    {"__resume__", -4},
}};

constexpr std::array<std::string_view, 9> kReservedMetadata = {
    "thread_id",          "checkpoint_id",  "checkpoint_ns",
    "checkpoint_map",     "langgraph_step", "langgraph_node",
    "langgraph_triggers", "langgraph_path", "langgraph_checkpoint_ns",
};

bool has_nul(const Value& value) {
  return value.is_string() && value.as_string().find('\0') != std::string_view::npos;
}

bool is_free_of_nul(const Value& metadata) {
  for (auto [key, value] : metadata.items()) {
    if (has_nul(value)) return false;
  }
  return true;
}

Value without_nul(const Value& value) {
  if (!has_nul(value)) return value;
  std::string text(value.as_string());
  std::erase(text, '\0');
  return text;
}

bool is_scalar(const Value& value) {
  return value.is_string() || value.is_bool() || value.is_int() || value.is_double() ||
         value.kind() == Kind::big_integer;
}

bool is_reserved(std::string_view key) {
  return key.starts_with("__") ||
         std::ranges::find(kReservedMetadata, key) != kReservedMetadata.end();
}

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
  Ancestors(Checkpointer& saver, const CheckpointKey& key) : saver_(saver) {
    current_ = saver_.get_tuple(key);
  }

  // The next older one, or nullptr.
  const CheckpointTuple* next() {
    if (!current_ || current_->parent_id.empty()) return nullptr;
    if (!visited_.insert(current_->parent_id).second) return nullptr;
    CheckpointKey parent = current_->key;
    parent.checkpoint_id = current_->parent_id;
    current_ = saver_.get_tuple(parent);
    return current_ ? &*current_ : nullptr;
  }

 private:
  Checkpointer& saver_;
  std::optional<CheckpointTuple> current_;
  std::unordered_set<std::string> visited_;
};

}  // namespace

std::vector<DeltaHistory> Checkpointer::get_delta_channel_history(
    const CheckpointKey& key, std::span<const std::string> channels) {
  std::vector<DeltaHistory> histories(channels.size());
  std::size_t without_seed = channels.size();
  Ancestors ancestors(*this, key);
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

Value Checkpointer::next_version(const Value& current) const {
  if (current.is_null()) return clew::next_version("");
  if (current.is_int()) return clew::next_version(std::to_string(current.as_int()));
  return clew::next_version(current.as_string());
}

std::size_t count_threads(Checkpointer& saver, const ThreadQuery& query) {
  return saver.list_threads(query).size();
}

std::vector<CheckpointTuple> list_checkpoints(Checkpointer& saver, const ListOptions& options) {
  std::vector<CheckpointTuple> all;
  ListOptions rest = options;
  for (const ThreadInfo& thread : saver.list_threads({})) {
    if (options.limit) rest.limit = *options.limit - all.size();
    if (rest.limit == 0) break;
    for (CheckpointTuple& tuple : saver.list(thread.thread_id, std::nullopt, rest)) {
      all.push_back(std::move(tuple));
    }
  }
  return all;
}

std::int64_t write_index(std::string_view channel, std::size_t position) {
  if (channel.starts_with("__")) {
    for (const auto& [control, index] : kControlIndexes) {
      if (channel == control) return index;
    }
  }
  return static_cast<std::int64_t>(position);
}

Value checkpoint_metadata(const Value& metadata, const Value& extras) {
  if (extras.empty() && is_free_of_nul(metadata)) return metadata;
  ObjectBuilder complete;
  for (auto [key, value] : metadata.items()) complete.set(key, without_nul(value));
  if (extras.is_object()) {
    for (auto [key, value] : extras.items()) {
      if (metadata.contains(key) || is_reserved(key) || !is_scalar(value)) continue;
      complete.set(key, without_nul(value));
    }
  }
  return std::move(complete).build();
}

}  // namespace clew

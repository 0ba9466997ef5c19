// The end of a super-step: writes go through the channels, versions move.
#include <algorithm>

#include "pregel/thread_state.hpp"

namespace clew::pregel {

void ThreadState::note_seen(const TaskWrites& task) {
  if (!task.node) {
    if (saver_ && !seen_object_.contains(task.name.as_string())) {
      seen_object_ = seen_object_.set(task.name.as_string(), object());
    }
    return;
  }
  if (task.is_woken) {
    for (std::size_t i = 0; i < task.node->triggers.size(); ++i) {
      const Value& version = versions_[task.node->triggers[i]];
      if (!version.is_null()) seen_[task.node->first_seen + i] = version;
    }
  }
  const bool is_noted = std::find(ran_.begin(), ran_.end(), task.node) != ran_.end();
  if (saver_ && !is_noted) ran_.push_back(task.node);
}

void ThreadState::group_writes(std::span<const TaskWrites> tasks) {
  for (const TaskWrites& task : tasks) {
    for (const Write& write : task.writes) {
      if (write.index == kUnknown || info(write.index).managed) continue;
      if (pending_[write.index].empty()) pending_channels_.push_back(write.index);
      pending_[write.index].push_back(write.value);
    }
  }
}

namespace {

// Empties the scratch lists also when a channel refuses its writes.
class ScratchGuard {
 public:
  ScratchGuard(std::vector<std::vector<Value>>& pending, std::vector<Index>& channels)
      : pending_(pending), channels_(channels) {}
  ~ScratchGuard() {
    for (Index index : channels_) pending_[index].clear();
    channels_.clear();
  }

 private:
  std::vector<std::vector<Value>>& pending_;
  std::vector<Index>& channels_;
};

}  // namespace

std::vector<Index> ThreadState::apply(std::span<const TaskWrites> tasks) {
  return apply(tasks, next_version(max_version_));
}

void ThreadState::preview(std::span<const TaskWrites> tasks) { apply(tasks, Value()); }

std::vector<Index> ThreadState::apply(std::span<const TaskWrites> tasks, const Value& version) {
  const bool ends_step =
      std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.ends_step; });
  for (const TaskWrites& task : tasks) note_seen(task);

  std::vector<Index> updated;
  updated.reserve(8);
  const auto changed = [&](Index index) {
    if (version.is_null()) {
      mark_stale(index);
    } else {
      set_version(index, version);
      max_version_ = version;
    }
  };
  const auto changed_value = [&](Index index) {
    changed(index);
    if (!version.is_null() && is_available(index)) updated.push_back(index);
  };
  const auto was_updated = [&](Index index) {
    return std::find(updated.begin(), updated.end(), index) != updated.end();
  };

  for (const TaskWrites& task : tasks) {
    if (!task.is_woken) continue;
    for (Index trigger : task.node->triggers) {
      if (info(trigger).channel->consume(channels_[trigger])) changed(trigger);
    }
  }

  const ScratchGuard guard(pending_, pending_channels_);
  group_writes(tasks);
  for (Index index : pending_channels_) {
    if (info(index).channel->update(channels_[index], pending_[index], info(index).name)) {
      changed_value(index);
    }
  }
  if (ends_step) {
    for (Index index : graph_->transient_channels) {
      if (!is_available(index) || was_updated(index)) continue;
      if (info(index).channel->update(channels_[index], {}, info(index).name)) {
        changed_value(index);
      }
    }
    const bool wakes_nobody = std::none_of(updated.begin(), updated.end(), [this](Index index) {
      return !info(index).triggers.empty();
    });
    if (wakes_nobody) {
      for (Index index : graph_->deferred_channels) {
        if (info(index).channel->finish(channels_[index])) changed_value(index);
      }
    }
  }
  return updated;
}

}  // namespace clew::pregel

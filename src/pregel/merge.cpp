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

std::vector<Index> ThreadState::apply(std::span<const TaskWrites> tasks) {
  return apply(tasks, next_version(max_version_));
}

void ThreadState::preview(std::span<const TaskWrites> tasks) { apply(tasks, Value()); }

std::vector<Index> ThreadState::apply(std::span<const TaskWrites> tasks, const Value& version) {
  const ScratchGuard guard(*this);
  group_writes(tasks);
  stage_changes(tasks);
  // From here on nothing is refused.
  for (const TaskWrites& task : tasks) note_seen(task);
  std::vector<Index> updated;
  updated.reserve(staged_.size());
  for (Staged& change : staged_) {
    channels_[change.channel] = std::move(change.state);
    note_change(change.channel, version, change.has_new_value ? &updated : nullptr);
  }
  const bool ends_step =
      std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.ends_step; });
  if (ends_step) pass_step(version, updated);
  return updated;
}

// What the writes make of the channels, on copies: if a channel refuses its
// writes, the state is as it was and the step can be tried again.
void ThreadState::stage_changes(std::span<const TaskWrites> tasks) {
  for (const TaskWrites& task : tasks) {
    if (!task.is_woken) continue;
    for (Index trigger : task.node->triggers) {
      ChannelState state = channels_[trigger];
      if (is_staged_[trigger] || !info(trigger).channel->consume(state)) continue;
      staged_.push_back({trigger, std::move(state), false});
      is_staged_[trigger] = true;
    }
  }
  for (Index index : pending_channels_) {
    Staged change{index, channels_[index], true};
    // A channel that was consumed takes its new writes from there.
    if (is_staged_[index]) {
      const auto is_it = [index](const Staged& other) { return other.channel == index; };
      change.state = std::find_if(staged_.begin(), staged_.end(), is_it)->state;
    }
    if (info(index).channel->update(change.state, pending_[index], info(index).name)) {
      staged_.push_back(std::move(change));
    }
  }
}

void ThreadState::note_change(Index index, const Value& version, std::vector<Index>* updated) {
  if (info(index).is_transient && is_available(index) &&
      std::find(transients_.begin(), transients_.end(), index) == transients_.end()) {
    transients_.push_back(index);
  }
  if (version.is_null()) return mark_stale(index);
  set_version(index, version);
  max_version_ = version;
  if (updated && is_available(index)) updated->push_back(index);
}

// What the end of a step does to channels that nobody wrote to.
void ThreadState::pass_step(const Value& version, std::vector<Index>& updated) {
  const std::size_t written = updated.size();
  const auto was_written = [&](Index index) {
    const auto end = updated.begin() + static_cast<std::ptrdiff_t>(written);
    return std::find(updated.begin(), end, index) != end;
  };
  for (std::size_t i = 0; i < transients_.size(); ++i) {
    const Index index = transients_[i];
    if (!is_available(index) || was_written(index)) continue;
    if (info(index).channel->update(channels_[index], {}, info(index).name)) {
      note_change(index, version, &updated);
    }
  }
  std::erase_if(transients_, [this](Index index) { return !is_available(index); });

  const bool wakes_nobody = std::none_of(updated.begin(), updated.end(), [this](Index index) {
    return !info(index).triggers.empty();
  });
  if (!wakes_nobody) return;
  for (Index index : graph_->deferred_channels) {
    if (info(index).channel->finish(channels_[index])) note_change(index, version, &updated);
  }
}

ThreadState::ScratchGuard::~ScratchGuard() {
  for (Index index : state_.pending_channels_) state_.pending_[index].clear();
  for (const Staged& change : state_.staged_) state_.is_staged_[change.channel] = false;
  state_.pending_channels_.clear();
  state_.staged_.clear();
}

}  // namespace clew::pregel

// The end of a super-step: writes go through the channels, versions move.
#include <algorithm>

#include "pregel/thread_state.hpp"

namespace clew::pregel {

const std::vector<Index>& ThreadState::apply(std::span<const TaskWrites> tasks) {
  return apply(tasks, next_version(max_version_));
}

void ThreadState::preview(std::span<const TaskWrites> tasks) { apply(tasks, Value()); }

const std::vector<Index>& ThreadState::apply(std::span<const TaskWrites> tasks,
                                             const Value& version) {
  const ScratchGuard guard(*this);
  updated_.clear();
  consume_triggers(tasks);
  group_writes(tasks);
  make_changes();
  // From here on nothing is refused.
  for (const TaskWrites& task : tasks) note_seen(task);
  for (Change& change : changes_) {
    if (!change.is_consumed && !change.has_new_value) continue;
    set_state(change.channel, std::move(change.state));
    note_change(change.channel, version, change.has_new_value);
  }
  const bool ends_step =
      std::any_of(tasks.begin(), tasks.end(), [](const auto& task) { return task.ends_step; });
  if (ends_step) pass_step(version);
  return updated_;
}

ThreadState::ScratchGuard::~ScratchGuard() {
  for (const Change& change : state_.changes_) state_.cells_[change.channel].change = 0;
  state_.changes_.clear();
}

// Staging ---------------------------------------------------------------------

std::span<const Value> ThreadState::Change::writes() const {
  if (!all_writes.empty()) return all_writes;
  return {first_write, first_write ? 1U : 0U};
}

ThreadState::Change& ThreadState::change_of(Index index) {
  Cell& cell = cells_[index];
  if (cell.change == 0) {
    changes_.push_back({index, cell.state});
    cell.change = static_cast<std::uint32_t>(changes_.size());
  }
  return changes_[cell.change - 1];
}

void ThreadState::consume_triggers(std::span<const TaskWrites> tasks) {
  for (const TaskWrites& task : tasks) {
    if (!task.is_woken) continue;
    for (Index trigger : task.node->triggers) {
      ChannelState state = cells_[trigger].state;
      if (cells_[trigger].change != 0 || !info(trigger).channel->consume(state)) continue;
      Change& change = change_of(trigger);
      change.state = std::move(state);
      change.is_consumed = true;
    }
  }
}

void ThreadState::group_writes(std::span<const TaskWrites> tasks) {
  for (const TaskWrites& task : tasks) {
    for (const Write& write : task.writes) {
      if (write.index == kUnknown || info(write.index).managed) continue;
      Change& change = change_of(write.index);
      if (!change.first_write) {
        change.first_write = &write.value;
        continue;
      }
      if (change.all_writes.empty()) change.all_writes.push_back(*change.first_write);
      change.all_writes.push_back(write.value);
    }
  }
}

void ThreadState::make_changes() {
  for (Change& change : changes_) {
    const ChannelInfo& channel = info(change.channel);
    if (!change.first_write) continue;
    change.has_new_value = channel.channel->update(change.state, change.writes(), channel.name);
  }
}

// Effects ---------------------------------------------------------------------

void ThreadState::note_seen(const TaskWrites& task) {
  if (!task.node) {
    if (saver_ && !seen_object_.contains(task.name.as_string())) {
      seen_object_ = seen_object_.set(task.name.as_string(), object());
    }
    return;
  }
  if (task.is_woken) {
    for (std::size_t i = 0; i < task.node->triggers.size(); ++i) {
      const Value& seen = version(task.node->triggers[i]);
      if (!seen.is_null()) seen_[task.node->first_seen + i] = seen;
    }
  }
  if (!saver_) return;
  if (std::find(ran_.begin(), ran_.end(), task.node) == ran_.end()) ran_.push_back(task.node);
}

void ThreadState::note_change(Index index, const Value& version, bool has_new_value) {
  if (info(index).is_transient && is_available(index) &&
      std::find(transients_.begin(), transients_.end(), index) == transients_.end()) {
    transients_.push_back(index);
  }
  if (version.is_null()) return mark_stale(index);
  set_version(index, version);
  max_version_ = version;
  if (has_new_value && is_available(index)) updated_.push_back(index);
}

// What the end of a step does to channels that nobody wrote to. In a preview that
// goes for those that were written, too: get_state() shows none of them.
void ThreadState::pass_step(const Value& version) {
  for (std::size_t i = 0; i < transients_.size(); ++i) {
    const Index index = transients_[i];
    const std::uint32_t change = cells_[index].change;
    const bool was_written =
        !version.is_null() && change != 0 && changes_[change - 1].has_new_value;
    if (!is_available(index) || was_written) continue;
    ChannelState state = cells_[index].state;
    if (!info(index).channel->update(state, {}, info(index).name)) continue;
    set_state(index, std::move(state));
    note_change(index, version, true);
  }
  std::erase_if(transients_, [this](Index index) { return !is_available(index); });

  const bool wakes_nobody = std::none_of(updated_.begin(), updated_.end(), [this](Index index) {
    return !info(index).triggers.empty();
  });
  if (!wakes_nobody) return;
  for (Index index : graph_->deferred_channels) {
    ChannelState state = cells_[index].state;
    if (!info(index).channel->finish(state)) continue;
    set_state(index, std::move(state));
    note_change(index, version, true);
  }
}

}  // namespace clew::pregel

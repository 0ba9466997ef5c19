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
  if (changes_.capacity() == 0) reserve_scratch();
  is_new_ = false;
  updated_.clear();
  bool ends_step = false;
  for (const TaskWrites& task : tasks) {
    if (task.is_woken) consume_triggers(*task.node);
    ends_step = ends_step || task.ends_step;
  }
  for (const TaskWrites& task : tasks) group_writes(task.writes);
  make_changes(tasks, version);
  // From here on nothing is refused.
  keep_changes(tasks, version);
  if (ends_step) pass_step(version);
  if (has_changed_ && !version.is_null()) max_version_ = version;
  return updated_;
}

void ThreadState::reserve_scratch() {
  constexpr std::size_t kFew = 4;
  changes_.reserve(kFew);
  updated_.reserve(kFew);
  transients_.reserve(kFew);
  if (!saver_) return;
  moved_.reserve(kFew);
  committed_.reserve(kFew);
}

ThreadState::ScratchGuard::~ScratchGuard() {
  for (const Change& change : state_.changes_) state_.cells_[change.channel].change = 0;
  state_.changes_.clear();
  state_.groups_.clear();
}

// Staging ---------------------------------------------------------------------

ThreadState::Change& ThreadState::change_of(Index index) {
  Cell& cell = cells_[index];
  if (cell.change == 0) {
    changes_.emplace_back(index, cell.state);
    cell.change = static_cast<std::uint32_t>(changes_.size());
  }
  return changes_[cell.change - 1];
}

void ThreadState::add_to_group(Change& change, const Value& write) {
  if (change.group == 0) {
    groups_.push_back({*change.first_write});
    change.group = groups_.size();
  }
  groups_[change.group - 1].push_back(write);
}

std::span<const Value> ThreadState::writes_of(const Change& change) const {
  if (change.group != 0) return groups_[change.group - 1];
  return {change.first_write, change.first_write ? 1U : 0U};
}

void ThreadState::consume_triggers(const Node& node) {
  for (Index trigger : node.triggers) {
    if (cells_[trigger].change != 0) continue;
    ChannelState state = cells_[trigger].state;
    if (!info(trigger).channel->consume(state)) continue;
    Change& change = change_of(trigger);
    change.state = std::move(state);
    change.is_consumed = true;
  }
}

void ThreadState::group_writes(std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (write.index == kUnknown || info(write.index).managed) continue;
    Change& change = change_of(write.index);
    if (!change.first_write) {
      change.first_write = &write.value;
    } else {
      add_to_group(change, write.value);
    }
  }
}

void ThreadState::make_changes(std::span<const TaskWrites> tasks, const Value& version) {
  for (Change& change : changes_) {
    const ChannelInfo& channel = info(change.channel);
    if (!change.first_write) continue;
    try {
      change.has_new_value = channel.channel->update(change.state, writes_of(change), channel.name);
    } catch (...) {
      if (keeps_part_) keep_part(change.channel, tasks, version);
      throw;
    }
  }
}

// Of a step that a channel refuses: triggers are used up, and those channels have their new
// values that were written to before it.
void ThreadState::keep_part(Index refusing, std::span<const TaskWrites> tasks,
                            const Value& version) {
  std::vector<Index> written;
  [&] {
    for (const TaskWrites& task : tasks) {
      for (const Write& write : task.writes) {
        if (write.index == refusing) return;
        written.push_back(write.index);
      }
    }
  }();
  for (Change& change : changes_) {
    const bool is_kept = std::find(written.begin(), written.end(), change.channel) != written.end();
    // The writes that a delta channel would be rebuilt from are not stored.
    if (is_kept && !info(change.channel).snapshots) continue;
    change.has_new_value = is_kept && change.has_new_value;
    change.state = cells_[change.channel].state;
    if (change.is_consumed) info(change.channel).channel->consume(change.state);
  }
  keep_changes(tasks, version);
  if (has_changed_) max_version_ = version;
}

// Effects ---------------------------------------------------------------------

void ThreadState::keep_changes(std::span<const TaskWrites> tasks, const Value& version) {
  for (const TaskWrites& task : tasks) note_seen(task);
  has_changed_ = false;
  for (Change& change : changes_) {
    if (!change.is_consumed && !change.has_new_value) continue;
    set_state(change.channel, std::move(change.state));
    note_change(change.channel, version, change.has_new_value);
  }
}

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

void ThreadState::bump(Index index, Value version) {
  if (is_newer(version, max_version_)) max_version_ = version;
  set_version(index, version);
}

void ThreadState::note_change(Index index, const Value& version, bool has_new_value) {
  const bool has_value = is_available(index);
  has_changed_ = true;
  if (info(index).is_transient && has_value &&
      std::find(transients_.begin(), transients_.end(), index) == transients_.end()) {
    transients_.push_back(index);
  }
  if (version.is_null()) return mark_stale(index);
  set_version(index, version);
  if (has_new_value && has_value) updated_.push_back(index);
}

// What the end of a step does to a channel that nobody wrote to. In a preview that
// goes for those that were written, too: get_state() shows none of them.
void ThreadState::pass_step(Index index, const Value& version) {
  const std::uint32_t change = cells_[index].change;
  const bool was_written = !version.is_null() && change != 0 && changes_[change - 1].has_new_value;
  if (!is_available(index) || was_written) return;
  ChannelState state = cells_[index].state;
  if (!info(index).channel->update(state, {}, info(index).name)) return;
  set_state(index, std::move(state));
  note_change(index, version, true);
}

void ThreadState::pass_step(const Value& version) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < transients_.size(); ++i) {
    const Index index = transients_[i];
    pass_step(index, version);
    if (is_available(index)) transients_[left++] = index;
  }
  transients_.resize(left);

  if (graph_->deferred_channels.empty()) return;
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

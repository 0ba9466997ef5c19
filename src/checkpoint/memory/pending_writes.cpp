#include <algorithm>
#include <tuple>

#include "checkpoint/memory/namespace.hpp"
#include "value/object.hpp"

namespace clew::memory {

namespace {

using Write = PendingWrites::Write;
using TaskWrites = PendingWrites::TaskWrites;

// A write with the path that its call gave.
struct Located {
  const Value* task_path;
  Write write;
};

bool is_control(const Write& write) { return write.index < 0; }

bool precedes(const Write& a, const Write& b) {
  return std::tie(a.index, a.order) < std::tie(b.index, b.order);
}

const Write& write_of(const Write& write) { return write; }
const Write& write_of(const Located& located) { return located.write; }

// Sorts by index and leaves one write of each: the first, or of control
// channels the last.
template <class T>
void settle_indexes(std::vector<T>& writes) {
  std::ranges::sort(writes,
                    [](const T& a, const T& b) { return precedes(write_of(a), write_of(b)); });
  std::size_t count = 0;
  for (T& write : writes) {
    const bool is_repeated =
        count > 0 && write_of(writes[count - 1]).index == write_of(write).index;
    if (!is_repeated) {
      if (&writes[count] != &write) writes[count] = std::move(write);
      ++count;
    } else if (is_control(write_of(write))) {
      writes[count - 1] = std::move(write);
    }
  }
  writes.erase(writes.begin() + static_cast<std::ptrdiff_t>(count), writes.end());
}

// The writes of several calls for one task as one entry per path.
std::vector<TaskWrites> merge_calls(std::span<TaskWrites> calls) {
  std::vector<Located> all;
  for (TaskWrites& call : calls) {
    for (Write& write : call.writes) all.push_back({&call.task_path, std::move(write)});
  }
  settle_indexes(all);
  std::ranges::sort(all, [](const Located& a, const Located& b) {
    return std::tie(*a.task_path, a.write.index) < std::tie(*b.task_path, b.write.index);
  });
  std::vector<TaskWrites> merged;
  for (Located& located : all) {
    if (merged.empty() || merged.back().task_path != *located.task_path) {
      merged.push_back({calls.front().task_id, *located.task_path, calls.front().node, {}});
    }
    merged.back().writes.push_back(std::move(located.write));
  }
  return merged;
}

}  // namespace

void PendingWrites::add(const WritesPut& put) {
  if (put.writes.empty()) return;
  TaskWrites& task = tasks_.emplace_back();
  task.task_id = put.task_id;
  task.task_path = detail::make_key(put.task_path);
  task.node = detail::make_key(put.node);
  task.writes.reserve(put.writes.size());
  for (std::size_t i = 0; i < put.writes.size(); ++i) {
    const ChannelWrite& write = put.writes[i];
    task.writes.push_back(
        {write_index(write.channel, i), added_++, detail::make_key(write.channel), write.value});
  }
  is_settled_ = false;
}

const std::vector<TaskWrites>& PendingWrites::settled() {
  if (!is_settled_) settle();
  return tasks_;
}

std::vector<PendingWrite> PendingWrites::list() {
  std::vector<PendingWrite> list;
  std::size_t count = 0;
  for (const TaskWrites& task : settled()) count += task.writes.size();
  list.reserve(count);
  for (const TaskWrites& task : tasks_) {
    for (const Write& write : task.writes) {
      list.push_back({task.task_id, std::string(write.channel.as_string()), write.value,
                      std::string(task.task_path.as_string()), std::string(task.node.as_string())});
    }
  }
  return list;
}

bool PendingWrites::has_open_interrupt() {
  return std::ranges::any_of(settled(), [](const TaskWrites& task) {
    return std::ranges::any_of(task.writes, [](const Write& write) {
      return write.channel.as_string() == "__interrupt__";
    });
  });
}

// Nearly always: one task, which stored its writes once and wrote each channel once.
bool PendingWrites::is_in_order() const {
  if (tasks_.size() != 1) return tasks_.empty();
  const std::vector<Write>& writes = tasks_.front().writes;
  for (std::size_t i = 1; i < writes.size(); ++i) {
    if (writes[i].index <= writes[i - 1].index) return false;
  }
  return true;
}

void PendingWrites::settle() {
  is_settled_ = true;
  if (is_in_order()) return;
  // Calls for one task come together, though not in their order: writes know theirs.
  std::ranges::sort(tasks_, {}, &TaskWrites::task_id);
  std::vector<TaskWrites> settled;
  settled.reserve(tasks_.size());
  for (auto first = tasks_.begin(); first != tasks_.end();) {
    const auto last = std::find_if(first, tasks_.end(), [&](const TaskWrites& call) {
      return call.task_id != first->task_id;
    });
    if (last - first == 1) {
      settle_indexes(first->writes);
      settled.push_back(std::move(*first));
    } else {
      for (TaskWrites& task : merge_calls({first, last})) settled.push_back(std::move(task));
    }
    first = last;
  }
  std::ranges::sort(settled, [](const TaskWrites& a, const TaskWrites& b) {
    return std::tie(a.task_path, a.task_id) < std::tie(b.task_path, b.task_id);
  });
  tasks_ = std::move(settled);
}

}  // namespace clew::memory

#include "cli/thread_history.hpp"

#include <algorithm>
#include <unordered_map>

#include "pregel/names.hpp"
#include "pregel/task_status.hpp"
#include "value/joined.hpp"

namespace clew::cli {

using internal::joined;

namespace {

// Values of so many checkpoints are in memory at a time.
constexpr std::size_t kPage = 512;

// What of the writes of one task belongs to it.
void add_write(TaskRecord& task, const PendingWrite& write) {
  if (write.channel == pregel::kInterrupt) {
    task.interrupts = pregel::stored_interrupts(write.value);
  } else if (write.channel == pregel::kError) {
    task.error = pregel::error_text(write.value);
  } else if (!pregel::is_control(write.channel)) {
    task.is_finished = true;
    const bool is_listed =
        std::count(task.channels.begin(), task.channels.end(), write.channel) > 0;
    if (!is_reserved_channel(write.channel) && !is_listed) task.channels.push_back(write.channel);
  }
}

// What a task was resumed with, or the whole thread.
Value resumed_with(const CheckpointTuple& tuple, std::string_view task_id) {
  for (const PendingWrite& write : tuple.pending_writes) {
    if (write.channel == pregel::kResume && write.task_id == task_id) return write.value;
  }
  return {};
}

// Answers are counted: the id of a question says how many the task had before.
std::optional<Value> answer_to(const Interrupt& question, const TaskRecord& task,
                               const CheckpointTuple& tuple) {
  const Value own = resumed_with(tuple, task.id);
  const Value known = own.is_null() || own.is_list() ? own : list({own});
  const std::string ns = task_checkpoint_ns(tuple.key.checkpoint_ns, task.node, task.id);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (question.id == interrupt_id(ns, static_cast<std::int64_t>(i))) return known[i];
  }
  if (!task.is_finished) return std::nullopt;
  // The last one may be known only as what the run was given.
  const Value given = resumed_with(tuple, kNullTaskId);
  if (given.is_null()) return std::nullopt;
  const Value* by_id = given.find(question.id);
  return by_id ? *by_id : given;
}

// A step as far as the step after it needs to know.
struct Step {
  Value versions;
  std::vector<TaskRecord> tasks;
};

Step step_of(const CheckpointTuple& tuple, const KnownGraph& graph) {
  return {tuple.checkpoint.channel_versions, task_records(tuple, graph)};
}

std::vector<std::string> changed_channels(const Value& before, const Value& after) {
  std::vector<std::string> changed;
  for (auto [channel, version] : after.items()) {
    if (!is_reserved_channel(channel) && before[channel] != version) changed.emplace_back(channel);
  }
  return changed;
}

std::vector<std::string> input_of(const Checkpoint& checkpoint) {
  const Value& input = checkpoint.channel_values[pregel::kStart];
  std::vector<std::string> keys;
  if (!input.is_object()) return keys;
  for (auto [key, value] : input.items()) keys.emplace_back(key);
  return keys;
}

class Reader {
 public:
  Reader(Checkpointer& saver, const std::string& thread_id, const std::string& checkpoint_ns)
      : saver_(saver), thread_id_(thread_id), ns_(checkpoint_ns) {}

  History read(std::size_t limit) {
    History history;
    std::string before;
    // From the newest on: it knows most of the graph.
    while (limit == 0 || history.entries.size() < limit) {
      ListOptions options;
      options.before = before;
      options.limit = limit == 0 ? kPage : std::min(kPage, limit - history.entries.size());
      const std::vector<CheckpointTuple> page = saver_.list(thread_id_, ns_, options);
      for (const CheckpointTuple& tuple : page) history.entries.push_back(entry_of(tuple));
      if (page.size() < *options.limit) break;
      before = page.back().key.checkpoint_id;
    }
    if (limit != 0 && history.entries.size() == limit) history.is_complete = is_oldest(before);
    std::reverse(history.entries.begin(), history.entries.end());
    for (HistoryEntry& entry : history.entries) add_parent(entry);
    return history;
  }

 private:
  HistoryEntry entry_of(const CheckpointTuple& tuple) {
    graph_.learn(tuple);
    HistoryEntry entry;
    entry.key = tuple.key;
    entry.parent_id = tuple.parent_id;
    entry.ts = tuple.checkpoint.ts;
    entry.metadata = tuple.metadata;
    entry.input = input_of(tuple.checkpoint);
    Step step = step_of(tuple, graph_);
    entry.tasks = step.tasks;
    const bool is_head = steps_.empty();
    for (const StepTask& task : step_tasks(tuple, graph_)) {
      if (!is_head || !is_finished(task.id, step.tasks)) entry.next.push_back(task.node);
    }
    steps_.emplace(tuple.key.checkpoint_id, std::move(step));
    return entry;
  }

  // In the newest step it need not run again.
  static bool is_finished(const std::string& task_id, const std::vector<TaskRecord>& records) {
    return std::any_of(records.begin(), records.end(), [&](const TaskRecord& record) {
      return record.id == task_id && record.is_finished;
    });
  }

  void add_parent(HistoryEntry& entry) {
    const Step& parent = step(entry.parent_id);
    entry.changed = changed_channels(parent.versions, step(entry.key.checkpoint_id).versions);
    const std::string source = entry.source();
    if (source != "loop" && source != "update") return;
    for (const TaskRecord& task : parent.tasks) {
      if (task.is_finished && task.is_update() == (source == "update"))
        entry.made_by.push_back(task);
    }
  }

  // Also of a parent that is older than what was asked for.
  const Step& step(const std::string& checkpoint_id) {
    const auto known = steps_.find(checkpoint_id);
    if (known != steps_.end()) return known->second;
    Step found;
    if (!checkpoint_id.empty()) {
      const auto tuple = saver_.get_tuple({thread_id_, ns_, checkpoint_id});
      if (tuple) found = step_of(*tuple, graph_);
    }
    return steps_.emplace(checkpoint_id, std::move(found)).first->second;
  }

  bool is_oldest(const std::string& checkpoint_id) {
    ListOptions options;
    options.before = checkpoint_id;
    options.limit = 1;
    return saver_.list(thread_id_, ns_, options).empty();
  }

  Checkpointer& saver_;
  const std::string& thread_id_;
  const std::string& ns_;
  KnownGraph graph_;
  std::unordered_map<std::string, Step> steps_;
};

}  // namespace

std::string TaskRecord::title() const {
  if (!node.empty()) return node;
  return id == kNullTaskId ? "Command" : id.substr(0, 8);
}

std::vector<TaskRecord> task_records(const CheckpointTuple& tuple, const KnownGraph& graph) {
  std::vector<TaskRecord> tasks;
  for (const PendingWrite& write : tuple.pending_writes) {
    auto task = std::find_if(tasks.begin(), tasks.end(),
                             [&](const TaskRecord& known) { return known.id == write.task_id; });
    if (task == tasks.end()) {
      task = tasks.insert(
          task,
          {.id = write.task_id, .path = write.task_path, .node = node_of(tuple, write, graph)});
    }
    add_write(*task, write);
  }
  for (TaskRecord& task : tasks) {
    for (const Interrupt& question : task.interrupts) {
      task.answers.push_back(answer_to(question, task, tuple));
    }
  }
  return tasks;
}

std::string HistoryEntry::source() const {
  const Value& source = metadata["source"];
  return source.is_string() ? std::string(source.as_string()) : "";
}

std::int64_t HistoryEntry::step() const {
  const Value& step = metadata["step"];
  return step.is_int() ? step.as_int() : -1;
}

History read_history(Checkpointer& saver, const std::string& thread_id,
                     const std::string& checkpoint_ns, std::size_t limit) {
  return Reader(saver, thread_id, checkpoint_ns).read(limit);
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::size_t>> counted;
  for (const std::string& name : names) {
    const auto known = std::find_if(counted.begin(), counted.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (known == counted.end()) {
      counted.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, count] : counted) {
    texts.push_back(count == 1 ? name : name + "×" + std::to_string(count));
  }
  return joined(texts, ", ");
}

std::string made_by_text(const HistoryEntry& entry) {
  if (entry.source() == "input") return joined(entry.input, ", ");
  if (entry.source() == "fork") return "";
  // Tasks that wrote the same channels stand together.
  std::vector<std::pair<std::string, std::vector<std::string>>> by_channels;
  for (const TaskRecord& task : entry.made_by) {
    const std::string channels = joined(task.channels, ", ");
    if (task.is_update()) return channels;
    if (by_channels.empty() || by_channels.back().first != channels) {
      by_channels.push_back({channels, {}});
    }
    by_channels.back().second.push_back(task.title());
  }
  if (by_channels.empty()) return joined(entry.changed, ", ");
  std::vector<std::string> texts;
  for (const auto& [channels, nodes] : by_channels) {
    texts.push_back(names_text(nodes) + (channels.empty() ? "" : ": " + channels));
  }
  return joined(texts, "; ");
}

}  // namespace clew::cli

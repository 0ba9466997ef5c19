#include "cli/step_tasks.hpp"

#include <algorithm>
#include <optional>

#include <clew/containers.hpp>
#include <clew/errors.hpp>
#include <clew/extension.hpp>
#include <clew/types.hpp>

#include "pregel/names.hpp"

namespace clew::cli {

using pregel::kBranchTo;
using pregel::kPull;
using pregel::kPush;
using pregel::kStart;
using pregel::kTasks;

namespace {

constexpr std::string_view kJoin = "join:";

bool is_node_name(std::string_view name) { return name == kStart || !name.starts_with("__"); }

// The node behind "branch:to:c" and "join:a+b:c", or empty.
std::string_view node_behind(std::string_view channel) {
  if (channel.starts_with(kBranchTo)) return channel.substr(kBranchTo.size());
  if (channel.starts_with(kJoin)) return channel.substr(channel.rfind(':') + 1);
  return {};
}

// Channels in front of deferred nodes are stored as [value, whether it is their turn].
bool is_deferred(const Value& stored) {
  return stored.is_list() && stored.size() == 2 && stored[1].is_bool();
}

// The elements of what Python stored as a set, or Clew as a list.
const Value& elements_of(const Value& stored) {
  if (!stored.is_extension()) return stored;
  return stored.as_extension().payload;
}

// "join:a+b:c" has seen both a and b: together they are as long as what it waits for.
bool is_complete_join(std::string_view channel, const Value& seen) {
  const std::size_t names = channel.rfind(':') - kJoin.size();
  const Value& nodes = elements_of(seen);
  if (!nodes.is_list() || nodes.empty()) return false;
  std::size_t length = nodes.size() - 1;
  for (const Value& node : nodes) length += node.is_string() ? node.as_string().size() : 0;
  return length == names;
}

bool is_available(std::string_view channel, const Value& stored) {
  if (channel.starts_with(kJoin)) {
    if (!is_deferred(stored)) return is_complete_join(channel, stored);
    return stored[1].as_bool() && is_complete_join(channel, stored[0]);
  }
  return !channel.starts_with(kBranchTo) || !is_deferred(stored) || stored[1].as_bool();
}

bool wakes(const Checkpoint& checkpoint, const std::string& channel, const std::string& node) {
  const Value* stored = checkpoint.channel_values.find(channel);
  if (!stored || !is_available(channel, *stored)) return false;
  const Value& seen = checkpoint.versions_seen[node][channel];
  return seen.is_null() || checkpoint.channel_versions[channel] > seen;
}

std::optional<TaskOrigin> origin_of(const CheckpointTuple& tuple) {
  const Value& step = tuple.metadata["step"];
  try {
    return TaskOrigin{.checkpoint_id = Uuid::parse(tuple.checkpoint.id),
                      .parent_ns = tuple.key.checkpoint_ns,
                      .step = (step.is_int() ? step.as_int() : -1) + 1,
                      .checkpoint_v = tuple.checkpoint.v};
  } catch (const Error&) {
    return std::nullopt;  // other programs may number checkpoints as they like
  }
}

// The name of a node that a Send runs, or empty.
std::string_view target_of(const Value& send) {
  return is_send(send) ? send.as_extension().payload[0].as_string() : std::string_view();
}

std::string pull_id(const CheckpointTuple& tuple, const std::string& node,
                    const std::set<std::string>& triggers) {
  const std::string path = task_path_str(TaskPath::pull(node));
  for (const PendingWrite& write : tuple.pending_writes) {
    if (write.task_path == path) return write.task_id;
  }
  const std::vector<std::string> channels(triggers.begin(), triggers.end());
  const auto origin = origin_of(tuple);
  return origin ? pull_task_id(*origin, node, channels) : "";
}

}  // namespace

bool is_reserved_channel(std::string_view channel) {
  return !node_behind(channel).empty() || pregel::is_control(channel) || channel == kStart ||
         channel == kTasks || channel == pregel::kNoWrites || channel == pregel::kReturn ||
         channel == pregel::kPrevious;
}

void KnownGraph::learn(const CheckpointTuple& tuple) {
  for (auto [node, seen] : tuple.checkpoint.versions_seen.items()) {
    if (!is_node_name(node)) continue;
    std::set<std::string>& triggers = triggers_[std::string(node)];
    for (auto [channel, version] : seen.items()) triggers.emplace(channel);
  }
  for (auto [channel, version] : tuple.checkpoint.channel_versions.items()) {
    const std::string_view node = node_behind(channel);
    if (!node.empty()) triggers_[std::string(node)].emplace(channel);
  }
  // The entrypoint of a functional workflow has no channel of its own name.
  for (const PendingWrite& write : tuple.pending_writes) {
    const std::string pull = task_path_str(TaskPath::pull(""));
    if (!write.task_path.starts_with(pull)) continue;
    std::set<std::string>& triggers = triggers_[write.task_path.substr(pull.size())];
    if (triggers.empty()) triggers.emplace(kStart);
  }
}

std::vector<StepTask> step_tasks(const CheckpointTuple& tuple, const KnownGraph& graph) {
  std::vector<StepTask> tasks;
  const auto origin = origin_of(tuple);
  const Value& sends = tuple.checkpoint.channel_values[kTasks];
  std::int64_t index = 0;
  for (const Value& send : sends.is_list() ? sends : list()) {
    if (const std::string node(target_of(send)); !node.empty()) {
      tasks.push_back(
          {origin ? push_task_id(*origin, node, index) : "", node, list({kPush, index, false})});
    }
    ++index;
  }
  bool has_start = false;
  for (const auto& [node, triggers] : graph.triggers()) {
    has_start = has_start || triggers.contains(std::string(kStart));
    const auto wakes_node = [&, &woken = node](const std::string& channel) {
      return wakes(tuple.checkpoint, channel, woken);
    };
    const bool is_woken = std::any_of(triggers.begin(), triggers.end(), wakes_node);
    if (is_woken) tasks.push_back({pull_id(tuple, node, triggers), node, list({kPull, node})});
  }
  const std::string start(kStart);
  if (!has_start && wakes(tuple.checkpoint, start, start)) {
    tasks.push_back({pull_id(tuple, start, {start}), start, list({kPull, start})});
  }
  return tasks;
}

// The nodes of writes -------------------------------------------------------------

namespace {

// What task_path_str() made a text of.
struct WritePath {
  std::string pull_node;
  std::optional<std::int64_t> send;
  // A call: its place among those of the task around it.
  std::optional<std::int64_t> call;
  std::string caller;
};

std::optional<std::int64_t> number_of(std::string_view text) {
  const bool is_number =
      text.size() == 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::optional<std::int64_t>(std::stoll(std::string(text))) : std::nullopt;
}

WritePath parse_path(std::string_view text) {
  // Writes of later steps of a run that stored only its end.
  if (text.starts_with("~~") && text.size() > 12) text.remove_prefix(12);
  const std::string pull = "~" + std::string(kPull) + ", ";
  const std::string push = "~" + std::string(kPush) + ", ";
  WritePath path;
  if (text.starts_with(pull)) {
    path.pull_node = text.substr(pull.size());
  } else if (text.starts_with(push)) {
    text.remove_prefix(push.size());
    if (const auto send = number_of(text.substr(0, text.find(',')))) {
      path.send = send;
      return path;
    }
    // "~caller..., 0000000001, 0000000001"
    const std::size_t flag = text.rfind(", ");
    const std::size_t place = flag == std::string_view::npos ? flag : text.rfind(", ", flag - 1);
    if (place == std::string_view::npos) return path;
    path.call = number_of(text.substr(place + 2, flag - place - 2));
    path.caller = text.substr(0, place);
  }
  return path;
}

std::string send_target(const CheckpointTuple& tuple, std::int64_t index) {
  const Value& sends = tuple.checkpoint.channel_values[kTasks];
  return sends.is_list() ? std::string(target_of(sends[index])) : "";
}

// The function whose call has this id: the names of all that ran are known.
std::string called_function(const CheckpointTuple& tuple, const PendingWrite& write,
                            const WritePath& path, const KnownGraph& graph) {
  const WritePath caller = parse_path(path.caller);
  auto origin = origin_of(tuple);
  if (!origin || caller.pull_node.empty()) return "";
  const auto entrypoint = graph.triggers().find(caller.pull_node);
  if (entrypoint == graph.triggers().end()) return "";
  const std::string caller_id = pull_id(tuple, caller.pull_node, entrypoint->second);
  origin->parent_ns = task_checkpoint_ns(tuple.key.checkpoint_ns, caller.pull_node, caller_id);
  for (const auto& [name, triggers] : graph.triggers()) {
    if (call_task_id(*origin, name, TaskPath::pull(caller.pull_node), *path.call) ==
        write.task_id) {
      return name;
    }
  }
  return "";
}

}  // namespace

std::string path_title(const std::string& task_path) {
  const WritePath path = parse_path(task_path);
  if (!path.pull_node.empty()) return "pull";
  if (path.send) return "Send " + std::to_string(*path.send);
  if (!path.call) return task_path.starts_with("~__interrupt__") ? "update_state" : task_path;
  const WritePath caller = parse_path(path.caller);
  const std::string around = caller.pull_node.empty() ? path_title(path.caller) : caller.pull_node;
  return "call " + std::to_string(*path.call) + " of " + around;
}

std::string node_of(const CheckpointTuple& tuple, const PendingWrite& write,
                    const KnownGraph& graph) {
  if (!write.node.empty()) return write.node;
  if (write.task_id == kNullTaskId) return "";
  const WritePath path = parse_path(write.task_path);
  if (!path.pull_node.empty()) return path.pull_node;
  if (path.send) return send_target(tuple, *path.send);
  if (path.call) return called_function(tuple, write, path, graph);
  // Programs that store no paths.
  for (const StepTask& task : step_tasks(tuple, graph)) {
    if (task.id == write.task_id) return task.node;
  }
  return "";
}

}  // namespace clew::cli

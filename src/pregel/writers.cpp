// From what a node returned to writes: updates, gotos, edges, branches.
#include <algorithm>

#include <clew/json.hpp>

#include "pregel/loop.hpp"
#include "pregel/task_status.hpp"
#include "value/object.hpp"

namespace clew::pregel {
namespace {

[[noreturn]] void throw_bad_result(const Node& node, const Value& result) {
  if (node.name == kStart) {
    throw InvalidUpdateError("the input is " + result.type_name() +
                             "; it must be an object from channel to value");
  }
  throw InvalidUpdateError(
      "node '" + node.name + "' returned " + result.type_name() +
      "; return an object of updates, a Command, a list of Commands, or nothing");
}

bool has_command(const Value& result) {
  return result.is_list() && std::any_of(result.begin(), result.end(), is_command);
}

// Adds the writes that one result stands for.
class ResultWriter {
 public:
  ResultWriter(const Graph& graph, const Node& node, std::vector<Write>& writes)
      : graph_(graph), node_(node), writes_(writes) {}

  // All of them, or none if the result is refused.
  void run(const Value& result) {
    const std::size_t before = writes_.size();
    const std::size_t expected = result.is_object() ? result.size() : 1;
    writes_.reserve(before + expected + node_.edges.size());
    try {
      write_updates(result);
      write_gotos(result);
    } catch (...) {
      writes_.resize(before);
      throw;
    }
  }

 private:
  bool is_bare() const { return graph_.is_bare; }

  void write_updates(const Value& result) {
    if (result.is_null()) return;
    if (result.is_object() && !is_bare()) {
      write_object(result);
    } else if (is_command(result)) {
      write_command_update(result.get<Command>());
    } else if (has_command(result)) {
      for (const Value& part : result) write_updates(part);
    } else if (is_bare()) {
      writes_.push_back(graph_.write_to(kRoot, result));
    } else {
      throw_bad_result(node_, result);
    }
  }

  void write_command_update(const Command& command) {
    if (command.graph == Command::PARENT) return;
    for (const auto& [key, value] : command_updates(command)) write_update(key, value);
  }

  // Nodes tend to name channels in their order.
  void write_object(const Value& updates) {
    const detail::Node* object = ValueAccess::node(updates);
    const std::size_t size = detail::object_size(object);
    Index next = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const Index index = graph_.find_channel(detail::object_key(object, i), next);
      write_channel(index, detail::object_value(object, i));
      next = index + 1;
    }
  }

  void write_update(std::string_view key, const Value& value) {
    write_channel(graph_.find_channel(key), value);
  }

  // Keys that are no channels are ignored.
  void write_channel(Index index, const Value& value) {
    if (index == kUnknown || index >= graph_.state_channels) return;
    const std::vector<Index>& writable = node_.writable;
    if (!writable.empty() && std::find(writable.begin(), writable.end(), index) == writable.end()) {
      return;
    }
    writes_.push_back({{}, value, index});
  }

  void write_gotos(const Value& result) {
    if (!result.is_extension() && !result.is_list()) return;
    if (is_send(result)) {
      writes_.push_back(graph_.write_to(kTasks, result));
    } else if (is_command(result)) {
      write_goto(result.get<Command>());
    } else if (has_command(result)) {
      for (const Value& part : result) {
        if (is_command(part)) write_goto(part.get<Command>());
      }
    }
  }

  void write_goto(const Command& command) {
    if (command.graph == Command::PARENT) throw ParentCommand{command};
    for (const Goto& go : command.goto_) {
      if (is_send(go.target())) {
        writes_.push_back(graph_.write_to(kTasks, go.target()));
      } else if (go.target().as_string() != kEnd) {
        writes_.push_back(graph_.branch_to(go.target().as_string(), {}));
      }
    }
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<Write>& writes_;
};

bool has_other_keys(const Value& object, const Value& than) {
  if (!object.is_object() || !than.is_object()) return false;
  for (auto [key, value] : object.items()) {
    if (!than.contains(key)) return true;
  }
  return false;
}

// Where a router's answer leads: a name or a Send.
Value destination(const Branch& branch, const Value& answer) {
  if (is_send(answer)) {
    if (answer.get<Send>().node == kEnd) throw InvalidUpdateError("a Send cannot go to END");
    return answer;
  }
  Value target = answer;
  if (branch.path_map) {
    const std::string label =
        answer.is_string() ? std::string(answer.as_string()) : to_json(answer);
    const auto found = branch.path_map->find(label);
    if (found == branch.path_map->end()) {
      throw UnknownLabelError("branch '" + branch.name + "' returned '" + label +
                              "', which its path map does not have");
    }
    target = Value(found->second);
  }
  if (!target.is_string() || target.as_string() == kStart) {
    throw Error("branch '" + branch.name +
                "' must return the name of a node, a Send, or a list of these");
  }
  return target;
}

void write_destinations(const Graph& graph, const Branch& branch, const Value& answers,
                        std::vector<Write>& writes) {
  std::vector<Value> targets;
  if (answers.is_list()) {
    for (const Value& answer : answers) targets.push_back(destination(branch, answer));
  } else {
    targets.push_back(destination(branch, answers));
  }
  for (const Value& target : targets) {
    if (is_send(target)) {
      writes.push_back(graph.write_to(kTasks, target));
    } else if (target.as_string() != kEnd) {
      writes.push_back(graph.branch_to(target.as_string(), {}));
    }
  }
}

}  // namespace

void Loop::write_result(const Node& node, const Value& result, TaskRun& task,
                        std::vector<Write>& writes) {
  if (node.is_entrypoint) {
    const Final* final = unwrap<Final>(result);
    writes.push_back(graph_->write_to(kEnd, final ? final->value : result));
    writes.push_back(graph_->write_to(kPrevious, final ? final->save : result));
    return;
  }
  const std::size_t before = writes.size();
  ResultWriter(*graph_, node, writes).run(result);
  give_message_ids(std::span(writes).subspan(before));
  writes.insert(writes.end(), node.edges.begin(), node.edges.end());
  for (const Branch& branch : node.branches) {
    Value state = state_.read_with(branch.selection, writes, step_, stop_);
    // What the node returned beyond the state is for its branches to see.
    if (!branch.has_own_reads && has_other_keys(result, state)) state = result.merge(state);
    write_destinations(*graph_, branch, branch.router(state, task.runtime), writes);
  }
}

}  // namespace clew::pregel

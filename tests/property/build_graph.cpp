// The plan as a graph for the engine.
#include <algorithm>

#include "plan.hpp"

namespace clew::property {
namespace {

Value fold_lists(const Value& current, std::span<const Value> writes) {
  Value folded = current;
  for (const Value& write : writes) folded = folded.concat(write);
  return folded;
}

ChannelPtr make_channel(ChannelKind kind, int snapshot_frequency) {
  switch (kind) {
    case ChannelKind::last: return last_value();
    case ChannelKind::append: return reduced(append, list());
    case ChannelKind::add: return reduced(add, 0);
    case ChannelKind::merge: return reduced(merge, object());
    case ChannelKind::messages: return reduced(add_messages, list());
    case ChannelKind::topic: return topic();
    case ChannelKind::all: return topic(true);
    case ChannelKind::delta: return delta(fold_lists, list(), snapshot_frequency);
    case ChannelKind::delta_messages:
      return delta(messages_delta_reducer, list(), snapshot_frequency);
  }
  return nullptr;
}

std::vector<Value> ask(std::size_t questions, const std::string& name, Runtime& runtime) {
  std::vector<Value> answers;
  for (std::size_t i = 0; i < questions; ++i) {
    answers.push_back(runtime.interrupt(name + "?" + std::to_string(i)));
  }
  return answers;
}

void fail_if_told(const std::string& name, Runtime& runtime) {
  const Value& failing = runtime.context()["fail"];
  if (failing.is_list() &&
      std::find(failing.begin(), failing.end(), Value(name)) != failing.end()) {
    throw NodeError("Injected", name);
  }
}

Value run_node(const NodePlan& node, const Value& input, Runtime& runtime) {
  const std::vector<Value> answers = ask(node.questions, node.name, runtime);
  fail_if_told(node.name, runtime);
  Value update = node_update(node, input, answers);
  if (node.gotos.empty()) return update;
  Command command;
  command.update = std::move(update);
  for (const std::string& target : node.gotos) command.goto_.emplace_back(target);
  return command;
}

// Two nodes, with channels of their own between them.
CompiledGraph build_subgraph(const NodePlan& node) {
  return StateGraph<Value>({{"last", last_value()},
                            {"given", reduced(append, list())},
                            {"inner_deltas", delta(fold_lists, list(), 2)}})
      .add_node("first",
                [](const Value& state) {
                  return Update{{"given", list({state["last"]})},
                                {"inner_deltas", list({"first"})}};
                })
      .add_node("second",
                [node](const Value& state, Runtime& runtime) {
                  const std::vector<Value> answers = ask(node.questions, node.name, runtime);
                  fail_if_told(node.name, runtime);
                  const bool is_whole =
                      state["given"].size() == 1 && state["inner_deltas"].size() == 1;
                  const Value given = is_whole ? state["given"][0] : Value("lost");
                  return Update{{"last", subgraph_result(given, answers)}};
                })
      .add_edge(START, "first")
      .add_edge("first", "second")
      .compile();
}

}  // namespace

CompiledGraph build_graph(const Plan& plan, std::shared_ptr<Checkpointer> saver) {
  StateGraph<Value> graph({});
  for (const ChannelPlan& channel : channel_plans()) {
    graph.builder().add_channel(channel.name, make_channel(channel.kind, plan.snapshot_frequency));
    graph.builder().schema.push_back(channel.name);
  }
  for (const NodePlan& node : plan.nodes) {
    if (node.is_subgraph) {
      graph.add_node(node.name, build_subgraph(node));
    } else {
      graph.add_node(node.name, [node](const Value& input, Runtime& runtime) {
        return run_node(node, input, runtime);
      });
    }
    if (!node.choices.empty()) {
      graph.add_conditional_edges(
          node.name, [node](const Value& state) { return Value(destinations(node, state)); });
    }
  }
  for (const std::string& entry : plan.entries) graph.add_edge(START, entry);
  for (const NodePlan& node : plan.nodes) {
    for (const std::string& target : node.edges) graph.add_edge(node.name, target);
  }
  for (const JoinPlan& join : plan.joins) graph.add_edge(join.from, join.to);
  CompileOptions options;
  options.checkpointer = std::move(saver);
  options.interrupt_before = plan.interrupt_before;
  options.interrupt_after = plan.interrupt_after;
  return graph.compile(std::move(options));
}

}  // namespace clew::property

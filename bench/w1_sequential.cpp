#include <clew/graph.hpp>

#include "report.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct State {
  int foo = 0;
  std::vector<std::string> bar;
};
CLEW_STATE(State, foo, reduced(bar, append))

std::string node_name(int i) { return "n" + std::to_string(i); }

StateGraph<State> make_chain(int length) {
  StateGraph<State> graph;
  for (int i = 0; i < length; ++i) {
    graph.add_node(node_name(i),
                   [i](const State&) { return Update{{"foo", i}, {"bar", {node_name(i)}}}; });
    graph.add_edge(i == 0 ? START : node_name(i - 1), node_name(i));
  }
  graph.add_edge(node_name(length - 1), END);
  return graph;
}

Value expected_result(int length) {
  State state{.foo = length - 1, .bar = {}};
  for (int i = 0; i < length; ++i) state.bar.push_back(node_name(i));
  return state;
}

int default_n(const Options& options) {
  if (options.backend == "none") return 300;
  return options.backend == "memory" ? 200 : 100;
}

}  // namespace

void run_w1_sequential(const Options& options) {
  const int n = options.n ? options.n : default_n(options);
  const StateGraph<State> chain = make_chain(options.nodes);
  Times times;
  Value commits;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = chain.compile({.checkpointer = checkpointer});
    const auto invoke = [&](const Config& thread) {
      return graph.invoke({{"foo", 0}, {"bar", list()}}, thread);
    };
    for (int i = 0; i < 5; ++i) invoke(thread_config(options, "warm" + std::to_string(i)));
    const Value before = commits_of(checkpointer.get());
    times.measure([&] {
      for (int i = 0; i < n; ++i) invoke(thread_config(options, i));
    });
    commits = commits_since(before, checkpointer.get());
    expect(invoke(thread_config(options, "check")) == expected_result(options.nodes),
           "W1: the chain's result");
  });
  emit({.workload = "W1_seq" + std::to_string(options.nodes),
        .backend = options.backend,
        .n = n,
        .times = times,
        .steps = options.nodes,
        .bytes_on_disk = disk,
        .extra = {{"durability", durability_of(options)}, {"commits", commits}}});
}

}  // namespace clew::bench

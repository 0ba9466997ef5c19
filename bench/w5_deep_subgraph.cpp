#include <clew/graph.hpp>

#include "report.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

constexpr int kLevels = 5;

struct State {
  int x = 0;
};
CLEW_STATE(State, x)

Update increment(const State& state) { return {{"x", state.x + 1}}; }

StateGraph<State> make_level(int level) {
  StateGraph<State> graph;
  if (level == kLevels) {
    graph.add_node("leaf", increment);
    graph.add_edge(START, "leaf");
    graph.add_edge("leaf", END);
  } else {
    graph.add_node("pre", increment);
    graph.add_node("sub", make_level(level + 1).compile());
    graph.add_edge(START, "pre");
    graph.add_edge("pre", "sub");
    graph.add_edge("sub", END);
  }
  return graph;
}

}  // namespace

void run_w5_deep_subgraph(const Options& options) {
  const int n = options.n ? options.n : 50;
  const StateGraph<State> top = make_level(1);
  Times times;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = top.compile({.checkpointer = checkpointer});
    const Value result = graph.invoke({{"x", 0}}, thread_config(options, "warm"));
    expect(result == Value{{"x", kLevels}}, "W5: the result");
    times.measure([&] {
      for (int i = 0; i < n; ++i) graph.invoke({{"x", 0}}, thread_config(options, i));
    });
  });
  emit({.workload = "W5_deep5",
        .backend = options.backend,
        .n = n,
        .times = times,
        .steps = 2 * kLevels - 1,
        .bytes_on_disk = disk,
        .extra = object({{"durability", durability_of(options)}})});
}

}  // namespace clew::bench

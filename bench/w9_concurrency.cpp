#include <algorithm>

#include <clew/graph.hpp>

#include "report.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct State {
  int n = 0;
};
CLEW_STATE(State, n)

Update increment(const State& state) { return {{"n", state.n + 1}}; }

StateGraph<State> make_graph() {
  StateGraph<State> graph;
  graph.add_node("first", increment);
  graph.add_node("mid", [](const State& state, Runtime& runtime) -> Task<Update> {
    co_await runtime.sleep(std::chrono::milliseconds(5));
    co_return increment(state);
  });
  graph.add_node("last", increment);
  graph.add_edge(START, "first");
  graph.add_edge("first", "mid");
  graph.add_edge("mid", "last");
  graph.add_edge("last", END);
  return graph;
}

std::vector<Value> invoke_all(const CompiledGraph& graph, int threads, const Options& options) {
  const std::vector<Value> inputs(static_cast<std::size_t>(threads), Value{{"n", 0}});
  std::vector<Config> configs;
  for (int i = 0; i < threads; ++i) configs.push_back(thread_config(options, i));
  return graph.batch(inputs, configs);
}

}  // namespace

void run_w9_concurrency(const Options& options) {
  const int threads = options.n ? options.n : 1000;
  const StateGraph<State> waiting = make_graph();
  Times times;
  Value commits;
  const Stopwatch watch;
  repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = waiting.compile({.checkpointer = checkpointer});
    graph.invoke({{"n", 0}}, thread_config(options, "warm"));
    std::vector<Value> results;
    const Value before = commits_of(checkpointer.get());
    times.measure([&] { results = invoke_all(graph, threads, options); });
    expect(std::ranges::count(results, Value{{"n", 3}}) == threads, "W9: a result");
    commits = commits_since(before, checkpointer.get());
  });
  times.cpu.clear();  // as in langgraph/bench.py, the figure is that of the whole repetition
  emit({.workload = "W9_conc1000",
        .backend = options.backend,
        .n = threads,
        .times = times,
        .steps = 3,
        .extra = {{"durability", durability_of(options)},
                  {"commits", commits},
                  {"cpu_s_per_rep", rounded(watch.cpu() / options.repeat, 3)}}});
}

}  // namespace clew::bench

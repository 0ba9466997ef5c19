#include <clew/graph.hpp>

#include "report.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct State {
  std::vector<int> items;
  int count = 0;
};
CLEW_STATE(State, reduced(items, append), count)

StateGraph<State> make_fan(int fan) {
  StateGraph<State> graph;
  graph.add_node("worker", [](const Value& task) { return Update{{"items", list({task["i"]})}}; });
  graph.add_node("reduce",
                 [](const State& state) { return Update{{"count", state.items.size()}}; });
  graph.add_conditional_edges(START,
                              [fan](const State&) {
                                std::vector<Send> sends;
                                for (int i = 0; i < fan; ++i)
                                  sends.push_back({"worker", {{"i", i}}});
                                return sends;
                              },
                              {{{"worker", "worker"}}});
  graph.add_edge("worker", "reduce");
  graph.add_edge("reduce", END);
  return graph;
}

}  // namespace

void run_w3_fan_out(const Options& options) {
  const int fan = options.fan;
  const int default_n = fan <= 100 ? 30 : 5;
  const int n = options.n ? options.n : default_n;
  const StateGraph<State> fan_out = make_fan(fan);
  Times times;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = fan_out.compile({.checkpointer = checkpointer});
    const auto invoke = [&](const Config& thread) {
      return graph.invoke({{"items", list()}}, thread);
    };
    expect(invoke(thread_config(options, "warm")).get<int>("count") == fan, "W3: the count");
    times.measure([&] {
      for (int i = 0; i < n; ++i) invoke(thread_config(options, i));
    });
  });
  emit({.workload = "W3_fan" + std::to_string(fan),
        .backend = options.backend,
        .n = n,
        .times = times,
        .steps = 2,
        .bytes_on_disk = disk,
        .extra = {{"us_per_task", rounded(median(times.wall) / n / fan * 1e6, 2)},
                  {"durability", durability_of(options)}}});
}

}  // namespace clew::bench

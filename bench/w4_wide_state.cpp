#include <clew/graph.hpp>

#include "report.hpp"
#include "samples.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

constexpr int kNodes = 50;
constexpr std::size_t kTextSize = 100;

std::string node_name(int k) { return "n" + std::to_string(k); }
std::string channel_name(int i) { return "c" + std::to_string(i); }

// With fewer channels than nodes, nodes take turns on them.
StateGraph<> make_chain(int channels) {
  StateGraph<> graph({});
  for (int i = 0; i < channels; ++i) {
    graph.builder().add_channel(channel_name(i), last_value());
    graph.builder().schema.push_back(channel_name(i));
  }
  for (int k = 0; k < kNodes; ++k) {
    graph.add_node(node_name(k), [channel = channel_name(k % channels),
                                  text = hexstr("step" + std::to_string(k), kTextSize)](
                                     const Value&) { return Update{{channel, text}}; });
    graph.add_edge(k == 0 ? START : node_name(k - 1), node_name(k));
  }
  graph.add_edge(node_name(kNodes - 1), END);
  return graph;
}

Value make_input(int channels) {
  ObjectBuilder input;
  for (int i = 0; i < channels; ++i) {
    input.set(channel_name(i), hexstr("init" + std::to_string(i), kTextSize));
  }
  return std::move(input).build();
}

}  // namespace

void run_w4_wide_state(const Options& options) {
  const int n = options.n ? options.n : 10;
  const StateGraph<> chain = make_chain(options.channels);
  const Value input = make_input(options.channels);
  Times times;
  const auto disk = repeat(options, [&](const std::shared_ptr<Checkpointer>& checkpointer) {
    const CompiledGraph graph = chain.compile({.checkpointer = checkpointer});
    graph.invoke(input, thread_config(options, "warm"));
    times.measure([&] {
      for (int i = 0; i < n; ++i) graph.invoke(input, thread_config(options, i));
    });
  });
  emit({.workload = "W4_wide" + std::to_string(options.channels) + "x50",
        .backend = options.backend,
        .n = n,
        .times = times,
        .steps = kNodes,
        .bytes_on_disk = disk,
        .extra = object({{"durability", durability_of(options)}})});
}

}  // namespace clew::bench

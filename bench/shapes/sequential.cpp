#include <clew/add_messages.hpp>

#include "shapes/shape.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

struct State {
  Value messages = list();
};
CLEW_STATE(State, reduced(messages, add_messages))

StateGraph<State> make_chain(int length) {
  StateGraph<State> graph;
  std::string previous = START;
  for (int i = 0; i < length; ++i) {
    const std::string name = "node_" + std::to_string(i);
    graph.add_node(name, [](const State&) {});
    graph.add_edge(previous, name);
    previous = name;
  }
  graph.add_edge(previous, END);
  return graph;
}

}  // namespace

void run_sequential(const Options& options) {
  const int length = options.size ? options.size : 1000;
  run_shape(options, {.name = "sequential_" + std::to_string(length),
                      .graph = make_chain(length).builder(),
                      .input = {{"messages", list()}},
                      .steps = length});
}

}  // namespace clew::bench

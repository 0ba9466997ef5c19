// A library with one graph.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

namespace {

StateGraph<> only() {
  return StateGraph<>({{"text", last_value()}})
      .add_node("answer", [](const Value&) { return Update{{"text", "hi"}}; })
      .add_edge(START, "answer");
}

}  // namespace

CLEW_GRAPH(only)

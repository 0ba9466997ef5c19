// What cannot be built or compiled is named, with the way out.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"

namespace clew {
namespace {

struct State {
  int n = 0;
};
CLEW_STATE(State, n)

void nothing(const State&) {}

// START -> a
StateGraph<State> small_graph() {
  return StateGraph<State>().add_node("a", nothing).add_edge(START, "a");
}

template <class Change>
std::string refusal(Change change) {
  return error_text<GraphError>([&] {
    StateGraph<State> graph = small_graph();
    change(graph);
    graph.compile();
  });
}

TEST(Compile, NamesOfNodes) {
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node("", nothing); }), "node needs a name");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node(START, nothing); }),
            "'__start__' is the graph's own; give the node another name");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node(END, nothing); }),
            "'__end__' is the graph's own; give the node another name");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node("b|c", nothing); }),
            "the name 'b|c' has a '|' or ':', which namespaces use; choose another");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node("b:c", nothing); }),
            "the name 'b:c' has a '|' or ':', which namespaces use; choose another");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node("a", nothing); }),
            "node 'a' was added twice; give one another name");
}

TEST(Compile, Edges) {
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge("z", "a"); }),
            "an edge starts at 'z', which is not a node; add it with add_node");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge("a", "z"); }),
            "an edge leads to 'z', which is not a node; add it with add_node");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge({"a", "z"}, "a"); }),
            "an edge starts at 'z', which is not a node; add it with add_node");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge(END, "a"); }), "an edge cannot start at END");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge("a", START); }),
            "an edge cannot lead to START");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge({START, "a"}, "a"); }),
            "START cannot be one of several sources of an edge");
  EXPECT_EQ(refusal([](auto& graph) { graph.add_edge(std::vector<std::string>(), "a"); }),
            "an edge to 'a' needs at least one source");
}

TEST(Compile, ConditionalEdges) {
  const auto route = [](const State&) { return "a"; };
  EXPECT_EQ(refusal([&](auto& graph) { graph.add_conditional_edges("z", route); }),
            "conditional edges start at 'z', which is not a node");
  EXPECT_EQ(refusal([&](auto& graph) { graph.add_conditional_edges("a", route, {{{"x", "z"}}}); }),
            "the path map of 'a' leads to 'z', which is not a node");
}

TEST(Compile, EntryPoint) {
  EXPECT_EQ(error_text<GraphError>([] { StateGraph<State>().add_node("a", nothing).compile(); }),
            "the graph has no entry point; add an edge from START to the first node");
  // A router is one too.
  const auto route = [](const State&) { return "a"; };
  EXPECT_NO_THROW(
      StateGraph<State>().add_node("a", nothing).add_conditional_edges(START, route).compile());
}

TEST(Compile, WhereToStop) {
  EXPECT_EQ(error_text<GraphError>([] { small_graph().compile({.interrupt_before = {"z"}}); }),
            "cannot interrupt at 'z', which is not a node");
  EXPECT_EQ(error_text<GraphError>([] { small_graph().compile({.interrupt_after = {"a", "z"}}); }),
            "cannot interrupt at 'z', which is not a node");
  EXPECT_NO_THROW(small_graph().compile({.interrupt_before = {"*"}}));
}

TEST(Compile, WhatANodeReads) {
  EXPECT_EQ(refusal([](auto& graph) { graph.add_node("b", nothing, {.reads = {"m"}}); }),
            "'m' is not a channel of the graph");
}

TEST(Compile, AnEntrypointNeedsAName) {
  const auto work = [](const Value& input) { return input; };
  EXPECT_EQ(error_text<GraphError>([&] { entrypoint("", work); }), "entrypoint needs a name");
}

TEST(Compile, LeavesTheBuilderAsItIs) {
  StateGraph<State> graph = small_graph();
  const CompiledGraph first = graph.compile({.name = "first"});
  graph.add_node("b", [](const State& state) { return Update{{"n", state.n + 1}}; })
      .add_edge("a", "b");
  const CompiledGraph second = graph.compile();
  EXPECT_EQ(first.name(), "first");
  EXPECT_EQ(first.invoke({{"n", 1}})["n"], 1);
  EXPECT_EQ(second.invoke({{"n", 1}})["n"], 2);
}

}  // namespace
}  // namespace clew

// Which node follows which.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"

namespace clew {
namespace {

struct State {
  int n = 0;
  std::vector<std::string> log;
};
CLEW_STATE(State, n, reduced(log, append))

auto say(std::string word) {
  return [word](const State&) { return Update{{"log", {word}}}; };
}

Value log_of(const CompiledGraph& graph, const Value& input = object()) {
  return graph.invoke(input)["log"];
}

TEST(Edges, ASequenceRunsOneAfterTheOther) {
  const auto count = [](const State& state) { return Update{{"n", state.n + 1}}; };
  const CompiledGraph graph =
      StateGraph<State>()
          .add_sequence(std::pair(std::string("a"), say("a")), std::pair(std::string("b"), count),
                        std::pair(std::string("c"), say("c")))
          .set_entry_point("a")
          .set_finish_point("c")
          .compile();
  EXPECT_EQ(graph.invoke(object()), object({{"n", 1}, {"log", list({"a", "c"})}}));
}

TEST(Edges, NodesOfAStepRunOnceHoweverManyEdgesLeadThere) {
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("a", say("a"))
                                  .add_node("b", say("b"))
                                  .add_node("c", say("c"))
                                  .add_edge(START, "a")
                                  .add_edge(START, "b")
                                  .add_edge("a", "c")
                                  .add_edge("b", "c")
                                  .compile();
  EXPECT_EQ(log_of(graph), list({"a", "b", "c"}));
}

// START -> a -> b -> join, START -> c -> join: c arrives a step earlier.
CompiledGraph uneven_join(bool is_join) {
  StateGraph<State> graph;
  for (const char* name : {"a", "b", "c", "z"}) graph.add_node(name, say(name));
  graph.add_edge(START, "a").add_edge(START, "c").add_edge("a", "b");
  if (is_join) {
    graph.add_edge({"b", "c"}, "z");
  } else {
    graph.add_edge("b", "z").add_edge("c", "z");
  }
  return graph.compile();
}

TEST(Edges, AJoinWaitsForAllAndPlainEdgesDoNot) {
  EXPECT_EQ(log_of(uneven_join(true)), list({"a", "c", "b", "z"}));
  EXPECT_EQ(log_of(uneven_join(false)), list({"a", "c", "b", "z", "z"}));
}

TEST(Edges, AJoinThatWaitsForOneIsAnEdge) {
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("a", say("a"))
                                  .add_node("z", say("z"))
                                  .add_edge(START, "a")
                                  .add_edge(std::vector<std::string>{"a"}, "z")
                                  .compile();
  EXPECT_EQ(log_of(graph), list({"a", "z"}));
}

TEST(Edges, AJoinWorksAgainInTheNextRound) {
  StateGraph<State> graph;
  for (const char* name : {"a", "b"}) graph.add_node(name, say(name));
  graph.add_node("z", [](const State& state) { return Update{{"n", state.n + 1}, {"log", {"z"}}}; })
      .add_edge(START, "a")
      .add_edge(START, "b")
      .add_edge({"a", "b"}, "z")
      .add_conditional_edges("z", [](const State& state) {
        return state.n < 2 ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{END};
      });
  EXPECT_EQ(log_of(graph.compile()), list({"a", "b", "z", "a", "b", "z"}));
}

TEST(Edges, JoinsToENDAreAllowed) {
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("a", say("a"))
                                  .add_node("b", say("b"))
                                  .add_edge(START, "a")
                                  .add_edge(START, "b")
                                  .add_edge({"a", "b"}, END)
                                  .compile();
  EXPECT_EQ(log_of(graph), list({"a", "b"}));
}

// Routes from START over {"n": n} with this router.
template <class Router>
Value routed(int n, Router router,
             std::optional<std::map<std::string, std::string>> path_map = std::nullopt) {
  StateGraph<State> graph;
  graph.add_node("first", say("first"))
      .add_node("second", say("second"))
      .add_node("count", [](const Value& argument) {
        return Update{{"log", {"count " + to_json(argument)}}};
      });
  graph.add_conditional_edges(START, router, std::move(path_map));
  return log_of(graph.compile(), {{"n", n}});
}

TEST(Edges, ARouterReturnsNamesOrSends) {
  EXPECT_EQ(routed(0, [](const State&) { return "first"; }), list({"first"}));
  EXPECT_EQ(routed(0, [](const State&) { return std::string("second"); }), list({"second"}));
  EXPECT_EQ(routed(0, [](const State&) { return END; }), list());
  EXPECT_EQ(routed(0, [](const State&) { return std::vector<std::string>{"second", "first"}; }),
            list({"first", "second"}));
  EXPECT_EQ(routed(7, [](const State& state) { return Send{"count", state.n}; }),
            list({"count 7"}));
  EXPECT_EQ(routed(0,
                   [](const State&) {
                     return std::vector<Value>{Send{"count", 1}, "first", Send{"count", 2}};
                   }),
            list({"first", "count 1", "count 2"}));
}

TEST(Edges, ARouterMayTakeARuntimeOrAPartOfTheState) {
  EXPECT_EQ(routed(1,
                   [](const State& state, Runtime& runtime) {
                     return runtime.config().thread_id.empty() && state.n == 1 ? "first" : "second";
                   }),
            list({"first"}));
  EXPECT_EQ(
      routed(1, [](const Value& state) { return state["n"] == Value(1) ? "first" : "second"; }),
      list({"first"}));
}

TEST(Edges, APathMapTranslatesLabels) {
  const std::map<std::string, std::string> paths{
      {"yes", "first"}, {"true", "second"}, {"stop", END}};
  EXPECT_EQ(routed(0, [](const State&) { return "yes"; }, paths), list({"first"}));
  EXPECT_EQ(routed(0, [](const State&) { return true; }, paths), list({"second"}));
  EXPECT_EQ(routed(0, [](const State&) { return "stop"; }, paths), list());
  EXPECT_EQ(
      error_text<UnknownLabelError>([&] { routed(0, [](const State&) { return "no"; }, paths); }),
      "branch 'branch0' returned 'no', which its path map does not have");
}

TEST(Edges, ARouterThatLeadsNowhereIsRefused) {
  EXPECT_EQ(error_text<Error>([] { routed(0, [](const State&) { return 5; }); }),
            "branch 'branch0' must return the name of a node, a Send, or a list of these");
  EXPECT_EQ(
      error_text<InvalidUpdateError>([] { routed(0, [](const State&) { return Send{END, 1}; }); }),
      "a Send cannot go to END");
}

}  // namespace
}  // namespace clew

// Writes that a channel does not take leave the thread as it was, or as LangGraph leaves it.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

struct Pair {
  std::string both;
  std::vector<std::string> log;
};
CLEW_STATE(Pair, both, reduced(log, append))

Config thread(Durability durability = Durability::async) {
  Config config;
  config.thread_id = "1";
  config.durability = durability;
  return config;
}

// Two nodes of a step that write the same channel, unless they are told not to.
CompiledGraph contradicting_graph(const bool& agree) {
  return StateGraph<Pair>()
      .add_node("a", [](const Pair&) { return Update{{"both", "a"}, {"log", {"a"}}}; })
      .add_node("b",
                [&agree](const Pair&) {
                  Update update{{"log", {"b"}}};
                  if (!agree) update.set("both", "b");
                  return update;
                })
      .add_edge(START, "a")
      .add_edge(START, "b")
      .compile({.checkpointer = std::make_shared<InMemorySaver>()});
}

TEST(Refused, ACommandUnderExitLeavesNothingBehind) {
  const bool agree = true;
  const CompiledGraph graph = contradicting_graph(agree);
  graph.invoke({{"both", "in"}}, thread());
  graph.invoke(Command{.update = {{"both", "x"}}}, thread());
  // The thread has an update of the channel that no step has taken yet.
  EXPECT_THROW(graph.invoke(Command{.update = {{"both", "y"}}}, thread(Durability::exit)),
               InvalidUpdateError);
  EXPECT_EQ(graph.get_state(thread()).values["both"], "x");
}

TEST(Refused, AStepCanBeTriedAgain) {
  for (const Durability durability : {Durability::sync, Durability::async}) {
    const bool agree = false;
    const CompiledGraph graph = contradicting_graph(agree);
    EXPECT_THROW(graph.invoke({{"log", {"in"}}}, thread(durability)), InvalidUpdateError);
    CompiledGraph::History history = graph.get_state_history(thread());
    const StateSnapshot newest = *history.begin();
    EXPECT_EQ(newest.next, (std::vector<std::string>{"a", "b"})) << Value(durability);
    EXPECT_EQ(newest.values["log"], list({"in"})) << Value(durability);
    // The step is still there, with what its tasks wrote.
    EXPECT_THROW(graph.invoke(nullptr, thread(durability)), InvalidUpdateError);
  }
}

// The checkpoint before the step is stored when the run ends, with what was applied by then.
TEST(Refused, AStepUnderExitKeepsWhatCameBeforeTheRefusal) {
  const bool agree = false;
  const CompiledGraph graph = contradicting_graph(agree);
  EXPECT_THROW(graph.invoke({{"log", {"in"}}}, thread(Durability::exit)), InvalidUpdateError);
  const StateSnapshot state = graph.get_state(thread());
  EXPECT_TRUE(state.next.empty());
  EXPECT_EQ(state.values["log"], list({"in"}));  // refused before: `both` is written first
}

TEST(Refused, AnUpdateDoesNotStandForATaskOfTheStep) {
  const bool agree = true;
  const CompiledGraph graph = contradicting_graph(agree);
  Config stopped = thread();
  stopped.interrupt_before = {"a", "b"};
  graph.invoke({{"log", {"in"}}}, stopped);

  const std::vector<StateUpdate> updates{{{{"both", "x"}}, "a", {}}, {{{"both", "y"}}, "b", {}}};
  EXPECT_THROW(graph.bulk_update_state(thread(), {&updates, 1}), InvalidUpdateError);
  EXPECT_EQ(graph.get_state(thread()).next, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(graph.invoke(nullptr, thread())["log"], list({"in", "a", "b"}));
}

}  // namespace
}  // namespace clew

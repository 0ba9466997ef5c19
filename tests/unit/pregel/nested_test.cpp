// Graphs inside tasks: what they are given, what they keep, what they go back to.
#include <algorithm>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

Config thread() {
  Config config;
  config.thread_id = "1";
  return config;
}

// A graph of one node named "n".
CompiledGraph graph_of(NodeBody body, CompileOptions options) {
  GraphBuilder builder;
  builder.add_channel("log", reduced(append, list()));
  builder.schema = {"log"};
  builder.add_node("n", std::move(body), {});
  builder.add_edge({START}, false, "n");
  return builder.compile(std::move(options));
}

NodeBody asking() {
  NodeBody body;
  body.function = [](const Value&, Runtime& runtime) {
    return Value{{"log", list({runtime.interrupt("?")})}};
  };
  return body;
}

NodeBody inside(const CompiledGraph& graph) {
  NodeBody body;
  body.subgraph = graph;
  return body;
}

TEST(Nested, AGraphInsideOneThatKeepsNothingKeepsItsCheckpoints) {
  const auto saver = std::make_shared<InMemorySaver>();
  const CompiledGraph leaf = graph_of(asking(), {});
  const CompiledGraph middle =
      graph_of(inside(leaf), {.subgraph_persistence = SubgraphPersistence::off});
  graph_of(inside(middle), {.checkpointer = saver}).invoke({{"log", {"in"}}}, thread());
  std::size_t deepest = 0;
  for (const CheckpointTuple& tuple : saver->list("1", std::nullopt, {})) {
    const std::string& ns = tuple.key.checkpoint_ns;
    deepest = std::max<std::size_t>(deepest, std::count(ns.begin(), ns.end(), '|'));
  }
  EXPECT_EQ(deepest, 1U);
}

TEST(Nested, AManagedValueOfTheParentIsNoInput) {
  const auto counting = [](NodeBody body, CompileOptions options) {
    GraphBuilder builder;
    builder.add_channel("left", remaining_steps());
    builder.add_channel("log", reduced(append, list()));
    builder.schema = {"left", "log"};
    builder.add_node("n", std::move(body), {});
    builder.add_edge({START}, false, "n");
    return builder.compile(std::move(options));
  };
  const auto saver = std::make_shared<InMemorySaver>();
  counting(inside(counting(asking(), {})), {.checkpointer = saver})
      .invoke({{"log", {"in"}}}, thread());
  for (const CheckpointTuple& tuple : saver->list("1", std::nullopt, {})) {
    for (const PendingWrite& write : tuple.pending_writes) EXPECT_NE(write.channel, "left");
  }
}

TEST(Nested, AnAnswerStaysOnRecordWhenAChildEndsTheTask) {
  const auto saver = std::make_shared<InMemorySaver>();
  NodeBody leaving;
  leaving.function = [](const Value&, Runtime&) {
    return Value(Command{.update = {{"log", {"left"}}}, .graph = Command::PARENT});
  };
  const CompiledGraph child = graph_of(leaving, {});
  NodeBody calling;
  calling.function = [=](const Value&, Runtime& runtime) {
    runtime.interrupt("?");
    return child.invoke({{"log", list()}}, runtime);
  };
  const CompiledGraph graph = graph_of(calling, {.checkpointer = saver});
  graph.invoke({{"log", {"in"}}}, thread());
  const Config question = graph.get_state(thread()).config;
  EXPECT_EQ(graph.invoke(Command{.resume = "yes"}, thread())["log"], list({"in", "left"}));
  // Of the caller's answer, and of the task that it was given to.
  const auto saved = saver->get_tuple({"1", "", question.checkpoint_id});
  EXPECT_EQ(std::ranges::count(saved->pending_writes, "__resume__", &PendingWrite::channel), 2);
}

TEST(Nested, NewInputAtAnOlderCheckpointFindsTheNewestStateOfAChild) {
  NodeBody quiet;
  quiet.function = [](const Value&, Runtime&) { return Value(); };
  const CompiledGraph child = graph_of(quiet, {.subgraph_persistence = SubgraphPersistence::own});
  NodeBody calling;
  calling.function = [=](const Value& state, Runtime& runtime) {
    return Value{{"log", child.invoke(state, runtime)["log"]}};
  };
  const CompiledGraph graph =
      graph_of(calling, {.checkpointer = std::make_shared<InMemorySaver>()});
  graph.invoke({{"log", {"a"}}}, thread());
  const Config first = graph.get_state(thread()).config;
  graph.update_state(thread(), {{"log", Overwrite{list()}}});
  graph.invoke({{"log", {"b"}}}, thread());
  // The thread's own log is that of the old checkpoint, the child's is not.
  EXPECT_EQ(graph.invoke({{"log", {"c"}}}, first)["log"],
            list({"a", "a", "c", "a", "b", "a", "a", "c"}));
}

TEST(Nested, TheHistoryOfACheckpointIsThatCheckpoint) {
  const CompiledGraph graph =
      graph_of(asking(), {.checkpointer = std::make_shared<InMemorySaver>()});
  graph.invoke({{"log", {"in"}}}, thread());
  const Config here = graph.get_state(thread()).config;
  const auto count = [&](const HistoryOptions& options) {
    std::size_t found = 0;
    for (const StateSnapshot& snapshot : graph.get_state_history(here, options)) {
      EXPECT_EQ(snapshot.config.checkpoint_id, here.checkpoint_id);
      ++found;
    }
    return found;
  };
  EXPECT_EQ(count({}), 1U);
  EXPECT_EQ(count({.before = here.checkpoint_id}), 0U);
  EXPECT_EQ(count({.filter = {{"source", "input"}}}), 0U);
  EXPECT_EQ(count({.limit = 0}), 0U);
}

TEST(Nested, NoBranchRunsForUpdatesOfWhichOneIsRefused) {
  int routed = 0;
  const CompiledGraph graph = StateGraph<Value>({{"log", reduced(append, list())}})
                                  .add_node("a", [](const Value&) {})
                                  .add_edge(START, "a")
                                  .add_conditional_edges("a",
                                                         [&](const Value&) {
                                                           ++routed;
                                                           return END;
                                                         })
                                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  const StateUpdate good{{{"log", {"x"}}}, "a"};
  const StateUpdate bad{{{"log", {"x"}}}, "ghost"};
  const std::vector<std::vector<StateUpdate>> steps{{good, bad}};
  EXPECT_THROW(graph.bulk_update_state(thread(), steps), UnknownNodeError);
  EXPECT_EQ(routed, 0);
}

}  // namespace
}  // namespace clew

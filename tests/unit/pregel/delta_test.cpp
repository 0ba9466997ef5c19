// Delta channels are rebuilt from the writes of earlier steps, whatever happened
// to those steps.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

Value fold(const Value& current, std::span<const Value> writes) {
  Value folded = current;
  for (const Value& write : writes) folded = folded.concat(write);
  return folded;
}

Config thread() {
  Config config;
  config.thread_id = "1";
  return config;
}

// START, then `ask`, which writes to the delta channel what it is answered.
CompiledGraph asking_graph() {
  return StateGraph<Value>({{"d", delta(fold)}, {"n", reduced(add, 0)}})
      .add_node("ask",
                [](const Value&, Runtime& runtime) {
                  return Update{{"d", list({runtime.interrupt("?")})}};
                })
      .add_edge(START, "ask")
      .compile({.checkpointer = std::make_shared<InMemorySaver>()});
}

TEST(Delta, AnAnswerAtAPastCheckpointIsNotSeenByTheBranchThatLeftIt) {
  const CompiledGraph graph = asking_graph();
  graph.invoke({{"d", {"first"}}}, thread());
  const Config question = graph.get_state(thread()).config;
  graph.invoke({{"d", {"second"}}}, thread());  // moves on without an answer
  const Config left = graph.get_state(thread()).config;
  EXPECT_EQ(graph.get_state(left).values["d"], list({"first", "second"}));

  EXPECT_EQ(graph.invoke(Command{.resume = "late"}, question)["d"], list({"first", "late"}));
  EXPECT_EQ(graph.get_state(thread()).values["d"], list({"first", "late"}));
  EXPECT_EQ(graph.get_state(left).values["d"], list({"first", "second"}));
}

TEST(Delta, AnUpdateInThePlaceOfAFinishedTaskIsNotLost) {
  const CompiledGraph graph =
      StateGraph<Value>({{"d", delta(fold)}, {"n", reduced(add, 0)}})
          .add_node("done", [](const Value&) { return Update{{"n", 1}}; })
          .add_node("ask", [](const Value&,
                              Runtime& runtime) { return Update{{"n", runtime.interrupt("?")}}; })
          .add_edge(START, "done")
          .add_edge(START, "ask")
          .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  graph.invoke({{"n", 0}}, thread());
  graph.update_state(thread(), {{"d", {"update"}}}, as_node("done"));
  EXPECT_EQ(graph.get_state(thread()).values["d"], list({"update"}));
}

TEST(Delta, MessagesGetIdsThatStay) {
  const CompiledGraph graph =
      StateGraph<Value>({{"messages", delta(messages_delta_reducer)}})
          .add_node(
              "reply",
              [](const Value&) { return Update{{"messages", AIMessage{.content = "hello"}}}; })
          .add_edge(START, "reply")
          .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  const Value result = graph.invoke({{"messages", {"hi"}}}, thread());
  ASSERT_EQ(result["messages"].size(), 2U);
  for (const Value& message : result["messages"]) EXPECT_TRUE(message_id(message));
  EXPECT_EQ(graph.get_state(thread()).values, result);

  graph.update_state(thread(), {{"messages", {"more"}}}, as_node("reply"));
  const Value messages = graph.get_state(thread()).values["messages"];
  ASSERT_TRUE(message_id(messages[2]));
  EXPECT_EQ(graph.get_state(thread()).values["messages"], messages);

  const RemoveMessage removal{.id = std::string(*message_id(messages[2]))};
  graph.invoke(Command{.update = {{"messages", {removal, "last"}}}}, thread());
  const Value left = graph.get_state(thread()).values["messages"];
  ASSERT_EQ(left.size(), 3U);
  EXPECT_EQ(message_text(left[2]), "last");
  EXPECT_TRUE(message_id(left[2]));
}

}  // namespace
}  // namespace clew

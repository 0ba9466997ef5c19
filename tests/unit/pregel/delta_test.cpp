// Delta channels are rebuilt from the writes of earlier steps, whatever happened
// to those steps.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

Config thread() {
  Config config;
  config.thread_id = "1";
  return config;
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

// Two runs on one thread: one of them gets a ThreadConflict, and the other, and
// every branch, sees nothing of what it did.
#include <future>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

Value fold(const Value& current, std::span<const Value> writes) {
  Value folded = current;
  for (const Value& write : writes) folded = folded.concat(write);
  return folded;
}

// One task at a time, in the order of their names.
Config thread(Durability durability = Durability::async) {
  Config config;
  config.thread_id = "1";
  config.durability = durability;
  config.max_concurrency = 1;
  return config;
}

// Holds up whoever passes first.
class Gate {
 public:
  void pass() {
    if (!is_first_.exchange(false)) return;
    reached_.set_value();
    opened_.get_future().wait();
  }
  void wait_until_reached() { reached_.get_future().wait(); }
  void open() { opened_.set_value(); }

 private:
  std::atomic<bool> is_first_{true};
  std::promise<void> reached_;
  std::promise<void> opened_;
};

TEST(Conflict, ASubgraphDoesNotBuildOnThatOfAnotherRun) {
  std::atomic<std::size_t> most_seen{0};
  const CompiledGraph inner =
      StateGraph<Value>({{"inner", reduced(append, list())}})
          .add_node("first", [](const Value&) { return Update{{"inner", {"first"}}}; })
          .add_node("second",
                    [&](const Value& state) {
                      most_seen = std::max<std::size_t>(most_seen, state["inner"].size());
                    })
          .add_edge(START, "first")
          .add_edge("first", "second")
          .compile();
  Gate gate;
  const CompiledGraph graph = StateGraph<Value>({{"log", reduced(append, list())}})
                                  .add_node("a", [&](const Value&) { gate.pass(); })
                                  .add_node("b", inner)
                                  .add_edge(START, "a")
                                  .add_edge(START, "b")
                                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  auto slow = std::async(std::launch::async, [&] { return graph.invoke(object(), thread()); });
  gate.wait_until_reached();
  graph.invoke(nullptr, thread());  // runs both tasks of the step that the other is in
  gate.open();
  EXPECT_THROW(slow.get(), ThreadConflict);
  EXPECT_EQ(most_seen, 1U);
}

TEST(Conflict, ABranchThatLeavesAStepDoesNotSeeWhatItStillWrites) {
  const auto leave_by_input = [](const CompiledGraph& graph) {
    Config config = thread();
    config.interrupt_before = {"a"};
    graph.invoke({{"d", {"in"}}}, config);
  };
  const auto leave_by_update = [](const CompiledGraph& graph) {
    graph.update_state(thread(), {{"d", {"in"}}}, as_node("b"));
  };
  for (const auto& leave : {std::function<void(const CompiledGraph&)>(leave_by_input),
                            std::function<void(const CompiledGraph&)>(leave_by_update)}) {
    Gate gate;
    const CompiledGraph graph = StateGraph<Value>({{"d", delta(fold)}})
                                    .add_node("a",
                                              [&](const Value&) {
                                                gate.pass();
                                                return Update{{"d", {"late"}}};
                                              })
                                    .add_node("b", [](const Value&) {})
                                    .add_edge(START, "a")
                                    .compile({.checkpointer = std::make_shared<InMemorySaver>()});
    auto slow = std::async(std::launch::async, [&] { return graph.invoke(object(), thread()); });
    gate.wait_until_reached();
    leave(graph);
    EXPECT_EQ(graph.get_state(thread()).values["d"], list({"in"}));
    gate.open();
    EXPECT_THROW(slow.get(), ThreadConflict);
    EXPECT_EQ(graph.get_state(thread()).values["d"], list({"in"}));
  }
}

TEST(Conflict, AStepThatTwoRunsResumeIsCountedOnce) {
  Gate in_a;
  Gate in_b;
  const CompiledGraph graph = StateGraph<Value>({{"d", delta(fold)}})
                                  .add_node("a",
                                            [&](const Value&) {
                                              in_a.pass();
                                              return Update{{"d", {"a"}}};
                                            })
                                  .add_node("b",
                                            [&](const Value&) {
                                              in_b.pass();
                                              return Update{{"d", {"b"}}};
                                            })
                                  .add_edge(START, "a")
                                  .add_edge(START, "b")
                                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  Config stopped = thread();
  stopped.interrupt_before = {"a"};
  graph.invoke(object(), stopped);

  const auto resume = [&](Durability durability) {
    return graph.invoke(nullptr, thread(durability));
  };
  auto winner = std::async(std::launch::async, resume, Durability::exit);
  in_a.wait_until_reached();
  auto loser = std::async(std::launch::async, resume, Durability::async);
  in_b.wait_until_reached();  // it has stored what `a` wrote
  in_a.open();
  EXPECT_EQ(winner.get()["d"], list({"a", "b"}));
  in_b.open();
  EXPECT_THROW(loser.get(), ThreadConflict);
  EXPECT_EQ(graph.get_state(thread()).values["d"], list({"a", "b"}));
}

}  // namespace
}  // namespace clew

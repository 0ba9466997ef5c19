#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

using namespace std::chrono_literals;

struct Count {
  int n = 0;
};
CLEW_STATE(Count, n)

Task<Update> sleep_and_add(const Count& count, Runtime& runtime) {
  Task<void> pause = runtime.sleep(1ms);
  co_await std::move(pause);
  Update update;
  update.set("n", count.n + 1);
  co_return update;
}

CompiledGraph chain_of_coroutines(CompileOptions options = {}) {
  return StateGraph<Count>()
      .add_node("a", sleep_and_add)
      .add_node("b", sleep_and_add)
      .add_edge(START, "a")
      .add_edge("a", "b")
      .compile(std::move(options));
}

TEST(Loop, RunsCoroutineNodes) { EXPECT_EQ(chain_of_coroutines().invoke({{"n", 1}})["n"], 3); }

TEST(Loop, ManyRunsShareAFewThreads) {
  const CompiledGraph graph =
      chain_of_coroutines({.checkpointer = std::make_shared<InMemorySaver>()});
  std::vector<Value> inputs;
  std::vector<Config> configs;
  for (int i = 0; i < 200; ++i) {
    inputs.push_back({{"n", i}});
    Config config;
    config.thread_id = std::to_string(i);
    configs.push_back(config);
  }
  const std::vector<Value> results = graph.batch(inputs, configs);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)]["n"], i + 2);
}

TEST(Loop, OneOfTwoRunsOnAThreadGetsAConflict) {
  std::promise<void> inside;
  std::promise<void> go_on;
  std::shared_future<void> released = go_on.get_future().share();
  std::atomic<bool> is_first{true};
  const CompiledGraph graph = StateGraph<Count>()
                                  .add_node("wait",
                                            [&, released](const Count& count) {
                                              if (is_first.exchange(false)) {
                                                inside.set_value();
                                                released.wait();
                                              }
                                              return Update{{"n", count.n + 1}};
                                            })
                                  .add_edge(START, "wait")
                                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  const Config thread{.thread_id = "1"};
  auto slow = std::async(std::launch::async, [&] { return graph.invoke({{"n", 10}}, thread); });
  inside.get_future().wait();
  EXPECT_EQ(graph.invoke({{"n", 20}}, thread)["n"], 21);
  go_on.set_value();
  EXPECT_THROW(slow.get(), ThreadConflict);
  EXPECT_EQ(graph.get_state(thread).values["n"], 21);
}

TEST(Loop, ACancelledRunCanBeContinued) {
  std::stop_source stop;
  const CompiledGraph graph =
      StateGraph<Count>()
          .add_node("a",
                    [&](const Count& count) {
                      stop.request_stop();
                      return Update{{"n", count.n + 1}};
                    })
          .add_node("b", [](const Count& c) { return Update{{"n", c.n * 10}}; })
          .add_edge(START, "a")
          .add_edge("a", "b")
          .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  Config thread{.thread_id = "1"};
  thread.stop = stop.get_token();
  EXPECT_THROW(graph.invoke({{"n", 1}}, thread), Cancelled);
  const Config again{.thread_id = "1"};
  EXPECT_EQ(graph.get_state(again).next, std::vector<std::string>{"b"});
  EXPECT_EQ(graph.invoke(nullptr, again)["n"], 20);
}

TEST(Loop, ACoroutineThatTakesTooLongHasFailed) {
  const auto slow = [](const Count&, Runtime& runtime) -> Task<void> {
    Task<void> pause = runtime.sleep(20ms);
    co_await std::move(pause);
  };
  const CompiledGraph graph = StateGraph<Count>()
                                  .add_node("slow", slow, {.timeout = TimeoutPolicy{1ms}})
                                  .add_edge(START, "slow")
                                  .compile();
  EXPECT_THROW(graph.invoke({{"n", 1}}), NodeTimeout);
}

TEST(Loop, ASendMayHaveATimeLimitOfItsOwn) {
  const auto sleep = [](const Value& ms) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms.as_int()));
  };
  const auto send = [](const Count& count) {
    return Send{"sleep", 20, TimeoutPolicy{std::chrono::milliseconds(count.n)}};
  };
  const CompiledGraph graph =
      StateGraph<Count>().add_node("sleep", sleep).add_conditional_edges(START, send).compile();
  EXPECT_NO_THROW(graph.invoke({{"n", 60'000}}));
  EXPECT_THROW(graph.invoke({{"n", 1}}), NodeTimeout);
}

TEST(Loop, CancellingReachesANodeWithATimeLimit) {
  std::stop_source stop;
  bool is_asked = false;
  const auto work = [&](const Count&, Runtime& runtime) {
    stop.request_stop();
    is_asked = runtime.stop_token().stop_requested();
  };
  const CompiledGraph graph = StateGraph<Count>()
                                  .add_node("work", work, {.timeout = TimeoutPolicy{1min}})
                                  .add_edge(START, "work")
                                  .compile();
  Config config;
  config.stop = stop.get_token();
  graph.invoke({{"n", 1}}, config);
  EXPECT_TRUE(is_asked);
}

TEST(Loop, MessagesInADeltaChannelHaveIdsThatStay) {
  const auto reply = [](const Value&) {
    return Update{{"messages", list({AIMessage{.content = "hello"}})}};
  };
  const CompiledGraph graph = StateGraph<Value>({{"messages", delta(messages_delta_reducer)}})
                                  .add_node("reply", reply)
                                  .add_edge(START, "reply")
                                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  const Config thread{.thread_id = "1"};
  const Value result = graph.invoke({{"messages", "hi"}}, thread);
  graph.update_state(thread, {{"messages", HumanMessage{.content = "bye"}}});
  const Value messages = graph.get_state(thread).values["messages"];
  ASSERT_EQ(messages.size(), 3U);
  for (const Value& message : messages) EXPECT_TRUE(message_id(message));
  EXPECT_EQ(messages.slice(0, 2), result["messages"]);
  EXPECT_EQ(graph.get_state(thread).values["messages"], messages);
}

TEST(Loop, ADroppedStreamCancelsItsRun) {
  std::atomic<int> runs{0};
  const CompiledGraph graph =
      StateGraph<Count>()
          .add_node("loop",
                    [&](const Count& count) {
                      ++runs;
                      return Command{.update = {{"n", count.n + 1}}, .goto_ = {"loop"}};
                    })
          .add_edge(START, "loop")
          .compile();
  {
    Stream stream = graph.stream({{"n", 0}});
    EXPECT_EQ(stream.begin()->mode, StreamMode::values);
  }
  const int when_dropped = runs;
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(runs, when_dropped);
}

// Counts its runs; goes on for ever.
CompiledGraph endless_graph(std::atomic<int>& runs) {
  return StateGraph<Count>()
      .add_node("loop",
                [&runs](const Count& count) {
                  ++runs;
                  return Command{.update = {{"n", count.n + 1}}, .goto_ = {"loop"}};
                })
      .add_edge(START, "loop")
      .compile({.checkpointer = std::make_shared<InMemorySaver>()});
}

TEST(Loop, AStepBeginsWhenTheEventsOfTheOneBeforeAreRead) {
  std::atomic<int> runs{0};
  const CompiledGraph graph = endless_graph(runs);
  const Config thread{.thread_id = "1"};
  {
    Stream stream = graph.stream({{"n", 0}}, thread, {.modes = {StreamMode::updates}});
    EXPECT_EQ(runs, 0);
    auto event = stream.begin();
    for (int i = 1; i <= 3; ++i, ++event) {
      EXPECT_EQ(event->data, (Value{{"loop", {{"n", i}}}}));
      EXPECT_EQ(runs, i);
    }
    EXPECT_EQ(runs, 4);
  }
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(graph.get_state(thread).values["n"], Value(4));
}

TEST(Loop, AStreamThatNobodyReadsDoesNotRun) {
  std::atomic<int> runs{0};
  const CompiledGraph graph = endless_graph(runs);
  {
    const Stream dropped = graph.stream({{"n", 0}}, {.thread_id = "1"});
  }
  EXPECT_EQ(runs, 0);
}

TEST(Loop, AStreamCanBeReadByACoroutineAndThenByAThread) {
  std::atomic<int> runs{0};
  const CompiledGraph graph = endless_graph(runs);
  const Config thread{.thread_id = "1", .recursion_limit = 6};
  Stream stream = graph.stream({{"n", 0}}, thread, {.modes = {StreamMode::updates}});
  const auto first = wait([](Stream& from) -> Task<std::optional<StreamEvent>> {
    std::optional<StreamEvent> event = co_await from.async_next();
    co_return event;
  }(stream));
  EXPECT_EQ(first->data, (Value{{"loop", {{"n", 1}}}}));
  int read = 1;
  EXPECT_THROW(
      for (const StreamEvent& event : stream) {
        EXPECT_EQ(event.data["loop"]["n"], Value(++read));
      },
      GraphRecursionError);
  EXPECT_EQ(read, 6);
}

TEST(Loop, ACoroutineThatOutlivesItsStreamIsTold) {
  std::atomic<int> runs{0};
  const CompiledGraph graph = endless_graph(runs);
  std::optional<Task<std::optional<StreamEvent>>> next;
  {
    Stream stream = graph.stream({{"n", 0}}, {.thread_id = "1"});
    next = stream.async_next();
  }
  EXPECT_THROW(wait(std::move(*next)), Cancelled);
  EXPECT_EQ(runs, 0);
}

TEST(Loop, WhatACallTellsIsReadWhileItsWorkflowRuns) {
  std::promise<void> seen;
  const auto note = task("note", [](int n) { return n + 1; });
  const auto workflow =
      entrypoint("workflow", [note, was_seen = seen.get_future().share()](int n, Runtime& runtime) {
        const int noted = note(runtime, n).result().get<int>();
        const bool in_time = was_seen.wait_for(10s) == std::future_status::ready;
        return in_time ? noted : 0;
      });
  Value last;
  for (const StreamEvent& event : workflow.stream(1, {}, {.modes = {StreamMode::updates}})) {
    last = event.data;
    if (last.contains("note")) seen.set_value();
  }
  EXPECT_EQ(last, (Value{{"workflow", 2}}));
}

TEST(Loop, AnEventIsReadWhileASlowerSiblingRuns) {
  std::promise<void> seen;
  const CompiledGraph graph =
      StateGraph<Value>({{"n", last_value()}, {"m", last_value()}})
          .add_node("quick", [](const Value&) { return Update{{"n", 1}}; })
          .add_node("slow",
                    [was_seen = seen.get_future().share()](const Value&) {
                      const bool in_time = was_seen.wait_for(10s) == std::future_status::ready;
                      return Update{{"m", in_time ? 1 : 0}};
                    })
          .add_edge(START, "quick")
          .add_edge(START, "slow")
          .compile();
  Value last;
  for (const StreamEvent& event : graph.stream({{"n", 0}}, {}, {.modes = {StreamMode::updates}})) {
    last = event.data;
    if (last.contains("quick")) seen.set_value();
  }
  EXPECT_EQ(last, (Value{{"slow", {{"m", 1}}}}));
}

TEST(Loop, EventsArriveWhileTheirNodeStillRuns) {
  std::promise<void> seen;
  const CompiledGraph graph =
      StateGraph<Count>()
          .add_node("talk",
                    [was_seen = seen.get_future().share()](const Count&, Runtime& runtime) {
                      runtime.stream_writer("first");
                      runtime.stream_writer("second");
                      const bool in_time = was_seen.wait_for(10s) == std::future_status::ready;
                      return Update{{"n", in_time ? 1 : 0}};
                    })
          .add_edge(START, "talk")
          .compile();
  Value last;
  for (const StreamEvent& event :
       graph.stream({{"n", 0}}, {}, {.modes = {StreamMode::custom, StreamMode::updates}})) {
    last = event.data;
    if (last == Value("second")) seen.set_value();
  }
  EXPECT_EQ(last, (Value{{"talk", {{"n", 1}}}}));
}

TEST(Loop, ThreadIdIsAskedFor) {
  const CompiledGraph graph =
      chain_of_coroutines({.checkpointer = std::make_shared<InMemorySaver>()});
  EXPECT_THROW(graph.invoke({{"n", 1}}), MissingThreadError);
}

std::string refusal(const CompiledGraph& graph, const Value& input, const Config& config) {
  try {
    graph.invoke(input, config);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Loop, BadInputIsNamed) {
  const CompiledGraph graph = chain_of_coroutines();
  EXPECT_EQ(refusal(graph, "five", {}),
            "the input is string; it must be an object from channel to value");
}

TEST(Loop, ASequenceRunsInItsOrder) {
  const auto add = [](int amount) {
    return [amount](const Count& count) { return Update{{"n", count.n * 10 + amount}}; };
  };
  const CompiledGraph graph =
      StateGraph<Count>()
          .add_sequence(std::pair("one", add(1)), std::pair(std::string("two"), add(2)))
          .add_edge(START, "one")
          .compile();
  EXPECT_EQ(graph.invoke({{"n", 0}})["n"], 12);
}

}  // namespace
}  // namespace clew

// What a node asks of its run: to wait, and to tell of messages.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"

namespace clew {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct State {
  std::string end;
  Value messages = list();
};
CLEW_STATE(State, end, reduced(messages, add_messages))

Task<Update> sleep_long(const State&, Runtime& runtime) {
  co_await runtime.sleep(1h);
  co_return Update();
}

CompiledGraph sleeper(NodeOptions options = {}) {
  return StateGraph<State>()
      .add_node("slow", sleep_long, std::move(options))
      .add_edge(START, "slow")
      .compile({.checkpointer = std::make_shared<InMemorySaver>()});
}

TEST(Sleep, EndsWhenTheRunIsCancelledAndTheThreadCanBeContinued) {
  const CompiledGraph graph = sleeper();
  std::stop_source stop;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(20ms);
    stop.request_stop();
  });
  const auto begin = Clock::now();
  EXPECT_THROW(graph.invoke({{"end", ""}}, {.thread_id = "1", .stop = stop.get_token()}),
               Cancelled);
  EXPECT_LT(Clock::now() - begin, 1min);
  EXPECT_EQ(graph.get_state({.thread_id = "1"}).next, std::vector<std::string>{"slow"});
}

TEST(Sleep, DoesNotBeginInARunThatIsStopping) {
  std::stop_source stop;
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("slow",
                                            [&](const State&, Runtime& runtime) -> Task<Update> {
                                              stop.request_stop();
                                              co_await runtime.sleep(1h);
                                              co_return Update();
                                            })
                                  .add_edge(START, "slow")
                                  .compile();
  EXPECT_EQ(error_text<Cancelled>([&] { graph.invoke(object(), {.stop = stop.get_token()}); }),
            "the run was cancelled");
}

TEST(Sleep, EndsWhenTheTimeOfTheAttemptIsOver) {
  NodeOptions options;
  options.timeout = TimeoutPolicy{5ms};
  EXPECT_EQ(
      error_text<NodeTimeout>([&] { sleeper(options).invoke({{"end", ""}}, {.thread_id = "1"}); }),
      "node 'slow' took longer than 5 ms");
}

TEST(Sleep, TheWaitBeforeARetryEndsWhenTheRunIsCancelled) {
  NodeOptions options;
  options.retry_policy = {{.initial_interval = std::chrono::hours(1)}};
  std::stop_source stop;
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node(
              "fails",
              [&](const State&) -> Task<Update> {
                default_executor().post_after(20ms, [&stop] { stop.request_stop(); });
                throw NodeError("Busy", "not now");
                co_return Update();
              },
              options)
          .add_edge(START, "fails")
          .compile();
  EXPECT_THROW(graph.invoke(object(), {.stop = stop.get_token()}), Cancelled);
}

TEST(StreamMessage, ChunksAreToldAsTheyComeAndTheirMessageNotAgain) {
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node("model",
                    [](const State&, Runtime& runtime) {
                      const Value extra{{"ls_provider", "words"}};
                      runtime.stream_message(AIMessageChunk{.content = "hi ", .id = "m"}, extra);
                      runtime.stream_message(
                          AIMessageChunk{.content = "", .id = "m", .chunk_position = "last"});
                      return Update{{"messages", AIMessage{.content = "hi ", .id = "m"}}};
                    })
          .add_edge(START, "model")
          .compile();
  std::string told;
  for (const StreamEvent& event : graph.stream(object(), {}, {.modes = {StreamMode::messages}})) {
    const Value& message = event.data[0];
    told += std::string(message_type(message)) + " '" + message_text(message) + "' from " +
            std::string(event.data[1]["langgraph_node"].as_string()) + " " +
            to_json(event.data[1]["ls_provider"]) + "\n";
  }
  EXPECT_EQ(told,
            "AIMessageChunk 'hi ' from model \"words\"\n"
            "AIMessageChunk '' from model null\n");
}

TEST(StreamMessage, WhatIsNoMessageIsRefused) {
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("model",
                                            [](const State&, Runtime& runtime) {
                                              runtime.stream_message("hi");
                                              return Update();
                                            })
                                  .add_edge(START, "model")
                                  .compile();
  EXPECT_THROW(graph.invoke(object()), ValueError);
}

}  // namespace
}  // namespace clew

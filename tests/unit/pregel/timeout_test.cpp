// A function cannot be stopped from outside: it is asked to, and has failed if it ends late.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"

namespace clew {
namespace {

using namespace std::chrono_literals;

struct State {
  std::string end;
};
CLEW_STATE(State, end)

template <class Node>
CompiledGraph limited(Node node, std::chrono::milliseconds limit,
                      std::vector<RetryPolicy> retry = {}) {
  NodeOptions options;
  options.timeout = TimeoutPolicy{limit};
  options.retry_policy = std::move(retry);
  return StateGraph<State>()
      .add_node("slow", std::move(node), std::move(options))
      .add_edge(START, "slow")
      .compile();
}

TEST(Timeout, AFunctionThatEndsLateHasFailed) {
  const CompiledGraph graph = limited(
      [](const State&) {
        std::this_thread::sleep_for(10ms);
        return Update{{"end", "late"}};
      },
      1ms);
  EXPECT_EQ(error_text<NodeTimeout>([&] { graph.invoke(object()); }),
            "node 'slow' took longer than 1 ms");
}

TEST(Timeout, AFunctionIsAskedToStop) {
  const CompiledGraph graph = limited(
      [](const State&, Runtime& runtime) {
        while (!runtime.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
        return Update{{"end", "stopped"}};
      },
      5ms);
  EXPECT_THROW(graph.invoke(object()), NodeTimeout);
}

TEST(Timeout, IsForEachAttempt) {
  RetryPolicy again;
  again.initial_interval = 0ms;
  again.jitter = false;
  const CompiledGraph graph = limited(
      [](const State&, Runtime& runtime) {
        const bool is_first = runtime.execution_info().node_attempt == 1;
        // The token of the first attempt is not that of the second.
        if (!is_first)
          return Update{{"end", runtime.stop_token().stop_requested() ? "asked" : "in time"}};
        while (!runtime.stop_token().stop_requested()) std::this_thread::sleep_for(1ms);
        return Update{{"end", "late"}};
      },
      200ms, {again});
  EXPECT_EQ(graph.invoke(object())["end"], "in time");
}

CompiledGraph sleeper() {
  return StateGraph<State>()
      .add_node("sleep",
                [](State, Runtime& runtime) -> Task<Update> {
                  co_await runtime.sleep(1h);
                  co_return Update();
                })
      .add_edge(START, "sleep")
      .compile();
}

TEST(Timeout, ReachesTheNodesOfASubgraph) {
  EXPECT_EQ(error_text<NodeTimeout>([&] { limited(sleeper(), 5ms).invoke(object()); }),
            "node 'slow' took longer than 5 ms");
}

TEST(Timeout, ReachesTheNodesOfAGraphThatANodeCalls) {
  const auto call = [inner = sleeper()](const Value& state, Runtime& runtime) {
    return inner.invoke(state, runtime);
  };
  EXPECT_EQ(error_text<NodeTimeout>([&] { limited(call, 5ms).invoke(object()); }),
            "node 'slow' took longer than 5 ms");
}

TEST(Timeout, ReachesTheCallsOfAWorkflow) {
  const TaskFunction sleep = task("sleep", [](int, Runtime& runtime) -> Task<Value> {
    co_await runtime.sleep(1h);
    co_return Value();
  });
  NodeOptions options;
  options.timeout = TimeoutPolicy{5ms};
  const CompiledGraph workflow = entrypoint(
      "slow", [=](int n, Runtime& runtime) { return sleep(runtime, n).result(); }, {}, options);
  EXPECT_EQ(error_text<NodeTimeout>([&] { workflow.invoke(1); }),
            "node 'slow' took longer than 5 ms");
}

TEST(Timeout, ASubgraphThatIsCancelledWasNotLate) {
  std::stop_source stop;
  Config config;
  config.stop = stop.get_token();
  std::jthread canceller([&] {
    std::this_thread::sleep_for(5ms);
    stop.request_stop();
  });
  EXPECT_THROW(limited(sleeper(), std::chrono::hours(1)).invoke(object(), config), Cancelled);
}

TEST(Timeout, ItsOwnErrorComesBeforeTheLimit) {
  const CompiledGraph graph = limited(
      [](const State&) -> Update {
        std::this_thread::sleep_for(5ms);
        throw NodeError("Broken", "before the end");
      },
      1ms);
  EXPECT_THROW(graph.invoke(object()), NodeError);
}

}  // namespace
}  // namespace clew

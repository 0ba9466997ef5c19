// What must not bring a run, or the process, down.
#include <atomic>
#include <optional>

#include <gtest/gtest.h>

#include <clew/cache.hpp>
#include <clew/errors.hpp>
#include <clew/graph.hpp>
#include <clew/store.hpp>

#include "unit/pregel/forwarding_saver.hpp"

namespace clew {
namespace {

using namespace std::chrono_literals;

StateGraph<Value> one_node(std::function<Update(const Value&)> node, NodeOptions options = {}) {
  StateGraph<Value> graph({{"n", last_value()}});
  graph.add_node("node", std::move(node), std::move(options));
  graph.add_edge(START, "node");
  return graph;
}

TEST(Resilience, MoreRunsThanThreadsWaitForTheirSaves) {
  const CompiledGraph graph = one_node([](const Value& state) {
                                return Update{{"n", state["n"].as_int() + 1}};
                              }).compile({.checkpointer = std::make_shared<ForwardingSaver>()});
  constexpr std::size_t kRuns = 1200;
  const std::vector<Value> inputs(kRuns, Value{{"n", 1}});
  std::vector<Config> configs;
  for (std::size_t i = 0; i < kRuns; ++i) configs.push_back({.thread_id = std::to_string(i)});
  for (const Value& result : graph.batch(inputs, configs)) EXPECT_EQ(result["n"], Value(2));
}

TEST(Resilience, WhatARetryPolicyThrowsIsTheFailure) {
  RetryPolicy policy;
  policy.retry_on = [](const std::exception&) -> bool { throw Error("cannot decide"); };
  const CompiledGraph graph =
      one_node([](const Value&) -> Update { throw Error("no"); }, {.retry_policy = {policy}})
          .compile();
  try {
    graph.invoke({{"n", 1}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot decide");
  }
}

TEST(Resilience, ACancelledRunDoesNotWaitForItsRetry) {
  RetryPolicy policy;
  policy.retry_on = [](const std::exception&) { return true; };
  policy.initial_interval = 1h;
  policy.max_interval = 1h;
  policy.jitter = false;
  std::stop_source stop;
  const CompiledGraph graph = one_node(
                                  [&](const Value&) -> Update {
                                    stop.request_stop();
                                    throw Error("no");
                                  },
                                  {.retry_policy = {policy}})
                                  .compile();
  EXPECT_THROW(graph.invoke({{"n", 1}}, {.stop = stop.get_token()}), Cancelled);
}

TEST(Resilience, ATaskMayOutliveTheGraphItRuns) {
  std::optional<Task<Value>> task;
  {
    const CompiledGraph graph = one_node([](const Value&) { return Update{{"n", 5}}; }).compile();
    task.emplace(graph.async_invoke({{"n", 1}}));
  }
  EXPECT_EQ(wait(std::move(*task))["n"], Value(5));
}

TEST(Resilience, AStreamThatIsAssignedOverIsCancelled) {
  std::atomic<int> runs{0};
  StateGraph<Value> loop({{"n", last_value()}});
  loop.add_node("loop", [&](const Value&) {
    ++runs;
    return Command{.update = {{"n", 1}}, .goto_ = {"loop"}};
  });
  loop.add_edge(START, "loop");
  const CompiledGraph endless = loop.compile();
  const CompiledGraph short_one = one_node([](const Value&) { return Update{{"n", 1}}; }).compile();
  Stream stream = endless.stream({{"n", 0}});
  stream = short_one.stream({{"n", 0}});
  const int when_assigned = runs;
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(runs, when_assigned);
}

TEST(Resilience, GraphsOfDifferentNamesDoNotShareCachedResults) {
  const auto cache = std::make_shared<InMemoryCache>();
  const auto graph = [&](int n, const char* name) {
    return one_node([n](const Value&) { return Update{{"n", n}}; }, {.cache_policy = CachePolicy{}})
        .compile({.cache = cache, .name = name});
  };
  EXPECT_EQ(graph(1, "first").invoke({{"n", 0}})["n"], Value(1));
  EXPECT_EQ(graph(2, "second").invoke({{"n", 0}})["n"], Value(2));
  EXPECT_EQ(graph(3, "first").invoke({{"n", 0}})["n"], Value(1));
}

TEST(Resilience, ASubgraphUsesItsOwnStore) {
  const auto store = std::make_shared<InMemoryStore>();
  std::atomic<bool> has_store{false};
  StateGraph<Value> inner({{"n", last_value()}});
  inner.add_node("look", [&](const Value&, Runtime& runtime) {
    has_store = runtime.store() == store.get();
    return Update{{"n", 1}};
  });
  inner.add_edge(START, "look");
  StateGraph<Value> outer({{"n", last_value()}});
  outer.add_node("inner", inner.compile({.store = store}));
  outer.add_edge(START, "inner");
  outer.compile().invoke({{"n", 0}});
  EXPECT_TRUE(has_store);
}

TEST(Resilience, BadChannelsAreRefused) {
  EXPECT_THROW((StateGraph<Value>({{"n", nullptr}})), GraphError);
  EXPECT_THROW((StateGraph<Value>({{"branch:to:n", last_value()}})), GraphError);
}

TEST(Resilience, ATimeLimitMayBeWithoutEnd) {
  const CompiledGraph graph =
      one_node([](const Value&) { return Update{{"n", 2}}; },
               {.timeout = TimeoutPolicy{.run_timeout = std::chrono::milliseconds::max()}})
          .compile();
  EXPECT_EQ(graph.invoke({{"n", 1}})["n"], Value(2));
}

}  // namespace
}  // namespace clew

// Which failures are tried again, how often, and how long that waits.
#include <chrono>
#include <mutex>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

using namespace std::chrono_literals;

struct State {
  std::vector<int> attempts;
};
CLEW_STATE(State, reduced(attempts, append))

// Notes how long someone wants to wait, and does not wait.
class ImpatientExecutor final : public Executor {
 public:
  void post(std::function<void()> function) override {
    default_executor().post(std::move(function));
  }
  void post_after(std::chrono::nanoseconds delay, std::function<void()> function) override {
    {
      const std::lock_guard lock(mutex_);
      delays_.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(delay));
    }
    post(std::move(function));
  }
  std::size_t parallelism() const override { return 1; }

  std::vector<std::chrono::milliseconds> delays() {
    const std::lock_guard lock(mutex_);
    return delays_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::chrono::milliseconds> delays_;
};

Task<Update> fail_often(const State&, Runtime& runtime, int times) {
  const int attempt = runtime.execution_info().node_attempt;
  if (attempt <= times) throw std::runtime_error("not yet");
  Update update;
  update.set("attempts", list({attempt}));
  co_return update;
}

// The waits of a node that fails so many times before it succeeds.
std::vector<std::chrono::milliseconds> waits(int failures, const RetryPolicy& policy) {
  const auto executor = std::make_shared<ImpatientExecutor>();
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("flaky",
                                            [failures](const State& state, Runtime& runtime) {
                                              return fail_often(state, runtime, failures);
                                            },
                                            {.retry_policy = {policy}})
                                  .add_edge(START, "flaky")
                                  .compile({.executor = executor});
  EXPECT_EQ(graph.invoke(object())["attempts"], list({failures + 1}));
  return executor->delays();
}

TEST(Retry, WaitsLongerEachTimeUpToALimit) {
  RetryPolicy policy;
  policy.max_attempts = 6;
  policy.initial_interval = 100ms;
  policy.backoff_factor = 3;
  policy.max_interval = 1s;
  policy.jitter = false;
  EXPECT_EQ(waits(5, policy),
            (std::vector<std::chrono::milliseconds>{100ms, 300ms, 900ms, 1s, 1s}));
}

TEST(Retry, JitterAddsUpToASecond) {
  RetryPolicy policy;
  policy.max_attempts = 31;
  policy.initial_interval = 100ms;
  policy.backoff_factor = 1;
  bool differs = false;
  for (const std::chrono::milliseconds wait : waits(30, policy)) {
    EXPECT_GE(wait, 100ms);
    EXPECT_LE(wait, 1100ms);
    differs = differs || wait > 110ms;
  }
  EXPECT_TRUE(differs);
}

// How often a node runs that always fails like this.
template <class Failure>
int attempts(const Failure& failure, const std::vector<RetryPolicy>& policies) {
  int count = 0;
  const CompiledGraph graph = StateGraph<State>()
                                  .add_node("fails",
                                            [&](const State&) {
                                              ++count;
                                              throw failure;
                                            },
                                            {.retry_policy = policies})
                                  .add_edge(START, "fails")
                                  .compile();
  EXPECT_THROW(graph.invoke(object()), Failure);
  return count;
}

RetryPolicy at_once(int max_attempts) {
  RetryPolicy policy;
  policy.max_attempts = max_attempts;
  policy.initial_interval = 0ms;
  policy.jitter = false;
  return policy;
}

TEST(Retry, MistakesOfTheProgramAreNotTriedAgain) {
  const std::vector<RetryPolicy> policies{at_once(3)};
  EXPECT_EQ(attempts(std::runtime_error("network"), policies), 3);
  EXPECT_EQ(attempts(NodeError("RateLimited", "later"), policies), 3);
  EXPECT_EQ(attempts(std::logic_error("bug"), policies), 1);
  EXPECT_EQ(attempts(ValueError("bad value"), policies), 1);
  EXPECT_EQ(attempts(NodeError("BadPrompt", "too long", false), policies), 1);
}

TEST(Retry, TheFirstPolicyThatMatchesApplies) {
  RetryPolicy for_logic = at_once(2);
  for_logic.retry_on = [](const std::exception& error) {
    return dynamic_cast<const std::logic_error*>(&error) != nullptr;
  };
  const std::vector<RetryPolicy> policies{for_logic, at_once(4)};
  EXPECT_EQ(attempts(std::logic_error("bug"), policies), 2);
  EXPECT_EQ(attempts(std::runtime_error("network"), policies), 4);
}

TEST(Retry, WhatAFailedAttemptWroteIsForgotten) {
  int count = 0;
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node("flaky", [](const State&) { return Update{{"attempts", {1}}}; },
                    {.retry_policy = {at_once(2)}})
          .add_conditional_edges("flaky",
                                 [&](const State&) {
                                   if (++count == 1) throw std::runtime_error("router");
                                   return END;
                                 })
          .add_edge(START, "flaky")
          .compile();
  EXPECT_EQ(graph.invoke(object())["attempts"], list({1}));
}

}  // namespace
}  // namespace clew

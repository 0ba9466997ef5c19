// Tasks of workflows: they start at once, and their futures say how they ended.
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

Config thread() {
  Config config;
  config.thread_id = "1";
  return config;
}

TEST(Functional, TasksRunAtOnceAndResultsComeInAnyOrder) {
  std::latch all(3);
  const TaskFunction meet = task("meet", [&](int number) {
    all.arrive_and_wait();
    return number * 10;
  });
  const CompiledGraph workflow = entrypoint("workflow", [=](const Value&, Runtime& runtime) {
    const Future first = meet(runtime, 1);
    const Future second = meet(runtime, 2);
    const Future third = meet(runtime, 3);
    return list({third.result(), first.result(), second.result(), first.result()});
  });
  EXPECT_EQ(workflow.invoke(0), list({30, 10, 20, 10}));
}

TEST(Functional, AFutureThrowsWhatItsTaskThrew) {
  const TaskFunction fail =
      task("fail", [](const std::string& what) -> Value { throw NodeError("Failed", what); });
  const CompiledGraph workflow = entrypoint("workflow", [=](const Value&, Runtime& runtime) {
    try {
      fail(runtime, "hard").result();
    } catch (const NodeError& error) {
      return Value("caught " + error.message());
    }
    return Value("nothing");
  });
  EXPECT_EQ(workflow.invoke(1), "caught hard");
}

TEST(Functional, ATaskThatNobodyWaitsForStillEndsBeforeTheRun) {
  std::atomic<bool> has_ended{false};
  const TaskFunction slow = task("slow", [&](const Value&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    has_ended = true;
  });
  const CompiledGraph workflow = entrypoint("workflow", [=](const Value&, Runtime& runtime) {
    slow(runtime);
    return Value("done");
  });
  EXPECT_EQ(workflow.invoke(1), "done");
  EXPECT_TRUE(has_ended);
}

TEST(Functional, TasksCallTasks) {
  const TaskFunction add =
      task("add", [](const std::vector<int>& pair) { return pair[0] + pair[1]; });
  const TaskFunction sum = task("sum", [=](const std::vector<int>& numbers, Runtime& runtime) {
    Value total = 0;
    for (const int number : numbers) total = add(runtime, list({total, number})).result();
    return total;
  });
  const CompiledGraph workflow =
      entrypoint("workflow", [=](const std::vector<int>& numbers, Runtime& runtime) {
        return sum(runtime, numbers).result();
      });
  EXPECT_EQ(workflow.invoke(list({1, 2, 3, 4})), 10);
}

TEST(Functional, AFinishedTaskIsNotRunAgainWhenItsSiblingFails) {
  std::atomic<int> runs{0};
  std::atomic<bool> fails{true};
  const TaskFunction work = task("work", [&](const std::string& name) {
    if (name == "b" && fails) throw NodeError("Broken", name);
    ++runs;
    return name;
  });
  const CompiledGraph workflow = entrypoint("workflow",
                                            [=](const Value&, Runtime& runtime) {
                                              const Future a = work(runtime, "a");
                                              const Future b = work(runtime, "b");
                                              const Future c = work(runtime, "c");
                                              return list({a.result(), b.result(), c.result()});
                                            },
                                            {.checkpointer = std::make_shared<InMemorySaver>()});
  EXPECT_THROW(workflow.invoke(1, thread()), NodeError);
  EXPECT_EQ(runs, 2);
  fails = false;
  EXPECT_EQ(workflow.invoke(nullptr, thread()), list({"a", "b", "c"}));
  EXPECT_EQ(runs, 3);
}

Task<Value> add_later(int number, Runtime& runtime) {
  Task<void> pause = runtime.sleep(std::chrono::microseconds(10));
  co_await std::move(pause);
  co_return Value(number + 1);
}

TEST(Functional, ATaskMayBeACoroutine) {
  const TaskFunction later = task("later", add_later);
  const CompiledGraph workflow = entrypoint(
      "workflow", [=](int number, Runtime& runtime) { return later(runtime, number).result(); });
  EXPECT_EQ(workflow.invoke(41), 42);
}

TEST(Functional, TasksHaveTheRetryPolicyOfTheirEntrypoint) {
  const auto failing = [](int times) {
    return [times, runs = std::make_shared<int>(0)](const Value&) {
      if (++*runs <= times) throw NodeError("Transient", "again");
      return *runs;
    };
  };
  const RetryPolicy twice{.max_attempts = 2, .initial_interval = std::chrono::milliseconds(0)};
  const RetryPolicy once{.max_attempts = 1};
  const TaskFunction inherits = task("inherits", failing(1));
  const TaskFunction has_own = task("has_own", failing(1), {.retry_policy = {once}});
  int runs = 0;
  const auto body = [&](const Value&, Runtime& runtime) {
    ++runs;
    const Value first = inherits(runtime, 1).result();
    return list({first, has_own(runtime, 1).result()});
  };
  const CompiledGraph workflow = entrypoint("workflow", body, {}, {.retry_policy = {twice}});
  // The second task fails the first attempt; in the next one both succeed.
  EXPECT_EQ(workflow.invoke(1), list({3, 2}));
  EXPECT_EQ(runs, 2);
}

TEST(Functional, AQuestionIsShownBesideTheObjectThatTheLastRunReturned) {
  const CompiledGraph workflow = entrypoint("workflow",
                                            [](const Value& input, Runtime& runtime) {
                                              return Value{{"answer", runtime.interrupt(input)}};
                                            },
                                            {.checkpointer = std::make_shared<InMemorySaver>()});
  EXPECT_FALSE(workflow.invoke("first?", thread()).contains("answer"));
  EXPECT_EQ(workflow.invoke(Command{.resume = "yes"}, thread())["answer"], "yes");
  const Value asked = workflow.invoke("second?", thread());
  EXPECT_EQ(asked["answer"], "yes");
  EXPECT_EQ(asked["__interrupt__"][0].get<Interrupt>().value, "second?");
}

TEST(Functional, AGraphThatKeepsNothingIsNotShownWithItsCaller) {
  const CompiledGraph inner = StateGraph<Value>({{"n", last_value()}})
                                  .add_node("a", [](const Value&) {})
                                  .add_edge(START, "a")
                                  .compile({.subgraph_persistence = SubgraphPersistence::off});
  const CompiledGraph workflow =
      entrypoint("workflow",
                 [=](const Value&, Runtime& runtime) {
                   inner.invoke({{"n", 1}}, runtime);
                   return runtime.interrupt("?");
                 },
                 {.checkpointer = std::make_shared<InMemorySaver>()}, {.calls = {inner}});
  workflow.invoke(1, thread());
  EXPECT_EQ(workflow.get_state(thread(), true).tasks.at(0).state, nullptr);
}

TEST(Functional, AnArgumentThatDoesNotFitIsAnError) {
  const CompiledGraph workflow =
      entrypoint("workflow", [](const std::string& text) { return text; });
  EXPECT_THROW(workflow.invoke(5), ValueError);
}

}  // namespace
}  // namespace clew

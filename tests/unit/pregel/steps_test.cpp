// How the tasks of a step share threads, and what is left of a step that is cut short.
#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

using namespace std::chrono_literals;

struct State {
  std::vector<std::string> log;
};
CLEW_STATE(State, reduced(log, append))

constexpr int kNodes = 6;

// START -> n0, n1, ... n5
template <class Node>
CompiledGraph wide_graph(Node node, CompileOptions options = {}) {
  StateGraph<State> graph;
  for (int i = 0; i < kNodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    graph.add_node(name, [node, name](const State&, Runtime& runtime) {
      node(name, runtime);
      return Update{{"log", {name}}};
    });
    graph.add_edge(START, name);
  }
  return graph.compile(std::move(options));
}

Config limited_to(std::size_t tasks) {
  Config config;
  config.thread_id = "1";
  config.max_concurrency = tasks;
  return config;
}

// How many are under way, and how many were at most.
struct Census {
  std::atomic<int> now{0};
  std::atomic<int> most{0};

  void enter() {
    const int count = ++now;
    int seen = most;
    while (count > seen && !most.compare_exchange_weak(seen, count)) {
    }
  }
  void leave() { --now; }
};

TEST(Steps, AtMostSoManyTasksRunAtOnce) {
  Census census;
  std::atomic<int> limit{0};
  const CompiledGraph graph = wide_graph([&](const std::string&, Runtime&) {
    census.enter();
    // Until as many as may be are here; one more would be noticed.
    while (census.most < limit) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(2ms);
    census.leave();
  });
  for (const int tasks : {1, 2, 3}) {
    census.most = 0;
    limit = tasks;
    graph.invoke(object(), limited_to(static_cast<std::size_t>(tasks)));
    EXPECT_EQ(census.most, tasks);
  }
}

// START sends so many; each is under way while it waits.
CompiledGraph waiting_coroutines(Census& census, std::int64_t tasks) {
  StateGraph<State> sends;
  sends.add_node("worker", [&census](State, Runtime& runtime) -> Task<Update> {
    census.enter();
    co_await runtime.sleep(1ms);
    census.leave();
    Update update;
    update.set("log", list({"done"}));
    co_return update;
  });
  sends.add_conditional_edges(START, [tasks](const State&) {
    std::vector<Send> all;
    for (std::int64_t i = 0; i < tasks; ++i) all.emplace_back("worker", object());
    return all;
  });
  return sends.compile();
}

TEST(Steps, CoroutinesThatWaitCountAmongTheTasksUnderWay) {
  constexpr std::int64_t kTasks = 40;
  Census census;
  const CompiledGraph graph = waiting_coroutines(census, kTasks);
  for (const int tasks : {1, 3}) {
    census.most = 0;
    const Value result = graph.invoke(object(), limited_to(static_cast<std::size_t>(tasks)));
    EXPECT_EQ(result["log"].size(), kTasks);
    EXPECT_EQ(census.most, tasks);
  }
}

TEST(Steps, ARunThatNobodyHoldsGoesOnWhileItsTasksWaitForTheirTurn) {
  Census census;
  const CompiledGraph graph = waiting_coroutines(census, 10);
  const std::vector<Value> inputs(4, object());
  const std::vector<Config> configs(4, limited_to(1));
  for (const Value& result : graph.batch(inputs, configs)) EXPECT_EQ(result["log"].size(), 10U);
}

TEST(Steps, TasksThatWaitForEachOtherAllGetAThread) {
  std::latch all(kNodes);
  const CompiledGraph graph =
      wide_graph([&](const std::string&, Runtime&) { all.arrive_and_wait(); });
  EXPECT_EQ(graph.invoke(object(), limited_to(0))["log"].size(), kNodes);
}

TEST(Steps, NodesThatWereQuickGetThreadsWhenTheyWait) {
  std::atomic<bool> waits{false};
  std::latch all(kNodes);
  const CompiledGraph graph = wide_graph([&](const std::string&, Runtime&) {
    if (waits) all.arrive_and_wait();
  });
  for (int i = 0; i < 10; ++i) graph.invoke(object(), limited_to(0));
  waits = true;
  EXPECT_EQ(graph.invoke(object(), limited_to(0))["log"].size(), kNodes);
}

TEST(Steps, ResultsAreMergedInTheOrderOfNames) {
  const CompiledGraph graph = wide_graph([](const std::string& name, Runtime&) {
    std::this_thread::sleep_for(std::chrono::milliseconds('5' - name.back()));
  });
  EXPECT_EQ(graph.invoke(object(), limited_to(0))["log"],
            list({"n0", "n1", "n2", "n3", "n4", "n5"}));
}

TEST(Steps, CancellingKeepsWhatSiblingsFinished) {
  std::stop_source stop;
  std::atomic<int> runs{0};
  const CompiledGraph graph = wide_graph(
      [&](const std::string& name, Runtime&) {
        ++runs;
        if (name == "n2") stop.request_stop();
      },
      {.checkpointer = std::make_shared<InMemorySaver>()});
  Config cancelled = limited_to(1);
  cancelled.stop = stop.get_token();
  EXPECT_THROW(graph.invoke(object(), cancelled), Cancelled);
  EXPECT_EQ(runs, 3);
  const StateSnapshot state = graph.get_state(limited_to(1));
  EXPECT_EQ(state.next, (std::vector<std::string>{"n3", "n4", "n5"}));
  EXPECT_EQ(state.values["log"], list({"n0", "n1", "n2"}));

  EXPECT_EQ(graph.invoke(nullptr, limited_to(1))["log"].size(), kNodes);
  EXPECT_EQ(runs, kNodes);  // none of them twice
}

TEST(Steps, AFailureKeepsWhatSiblingsFinished) {
  for (const Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    std::atomic<int> runs{0};
    std::atomic<bool> fails{true};
    const CompiledGraph graph = wide_graph(
        [&](const std::string& name, Runtime&) {
          if (name == "n1" && fails) throw NodeError("Broken", name);
          ++runs;
        },
        {.checkpointer = std::make_shared<InMemorySaver>()});
    Config config = limited_to(0);
    config.durability = durability;
    EXPECT_THROW(graph.invoke(object(), config), NodeError);
    EXPECT_EQ(runs, kNodes - 1);
    fails = false;
    EXPECT_EQ(graph.invoke(nullptr, config)["log"].size(), kNodes);
    EXPECT_EQ(runs, kNodes) << Value(durability);
  }
}

}  // namespace
}  // namespace clew

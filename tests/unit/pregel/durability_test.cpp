// When things are stored, and what happens if they cannot be.
#include <atomic>
#include <functional>
#include <future>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/pregel/forwarding_saver.hpp"
#include "unit/pregel/manual_executor.hpp"

namespace clew {
namespace {

using namespace std::chrono_literals;

// Keeps what it is given in memory, but behaves like a disk that may fail.
class DiskLikeSaver final : public ForwardingSaver {
 public:
  // Called before each write, with its number; may throw.
  std::function<void(int)> before_write = [](int) {};
  std::atomic<int> writes{0};
  // Called after what tasks wrote was stored by itself.
  std::function<void()> after_put_writes = [] {};

  void put(std::span<const CheckpointPut> puts) override {
    before_write(writes++);
    ForwardingSaver::put(puts);
  }
  void put_writes(std::span<const WritesPut> puts) override {
    before_write(writes++);
    ForwardingSaver::put_writes(puts);
    after_put_writes();
  }
};

class DiskFull : public Error {
 public:
  using Error::Error;
};

struct State {
  std::vector<std::string> log;
};
CLEW_STATE(State, reduced(log, append))

Config thread(Durability durability) {
  Config config;
  config.thread_id = "1";
  config.durability = durability;
  return config;
}

// a and b, then c; each says when it runs.
CompiledGraph diamond(
    std::shared_ptr<Checkpointer> saver,
    std::function<void(const std::string&)> on_run = [](const std::string&) {},
    std::shared_ptr<Executor> executor = nullptr) {
  StateGraph<State> graph;
  for (const std::string name : {"a", "b", "c"}) {
    graph.add_node(name, [name, on_run](const State&) {
      on_run(name);
      return Update{{"log", {name}}};
    });
  }
  return graph.add_edge(START, "a")
      .add_edge(START, "b")
      .add_edge({"a", "b"}, "c")
      .compile({.checkpointer = std::move(saver), .executor = std::move(executor)});
}

std::vector<Value> stored_steps(const CompiledGraph& graph) {
  std::vector<Value> steps;
  for (const StateSnapshot& snapshot : graph.get_state_history(thread(Durability::sync))) {
    steps.push_back(snapshot.metadata["step"]);
  }
  return steps;
}

TEST(Durability, UnderSyncAStepIsStoredBeforeTheNextBegins) {
  const auto saver = std::make_shared<DiskLikeSaver>();
  std::optional<CheckpointTuple> newest;
  const CompiledGraph graph = diamond(saver, [&](const std::string& name) {
    if (name == "c") newest = saver->get_tuple({"1"});
  });
  graph.invoke(object(), thread(Durability::sync));
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->checkpoint.channel_values["log"], list({"a", "b"}));
}

TEST(Durability, UnderAsyncAStepIsStoredWhileTheNextRuns) {
  const auto saver = std::make_shared<DiskLikeSaver>();
  std::promise<void> free;
  const std::shared_future<void> is_free = free.get_future().share();
  saver->before_write = [is_free](int) { is_free.wait(); };
  const CompiledGraph graph = diamond(saver, [&](const std::string& name) {
    if (name == "c") free.set_value();  // the run got here although nothing could be stored
  });
  graph.invoke(object(), thread(Durability::async));
  EXPECT_EQ(stored_steps(graph), (std::vector<Value>{2, 1, 0, -1}));  // all of it, on return
}

TEST(Durability, UnderExitOnlyTheEndIsStored) {
  const auto saver = std::make_shared<DiskLikeSaver>();
  int when_c_ran = -1;
  const CompiledGraph graph = diamond(saver, [&](const std::string& name) {
    if (name == "c") when_c_ran = saver->writes;
  });
  graph.invoke(object(), thread(Durability::exit));
  EXPECT_EQ(when_c_ran, 0);
  EXPECT_EQ(saver->writes, 1);
  EXPECT_EQ(stored_steps(graph), std::vector<Value>{2});
}

// Nobody flushes meanwhile: the step, and with it the run, waits for the slow task.
TEST(Durability, AFinishedTaskIsStoredWhileASlowOneStillRuns) {
  for (const Durability durability : {Durability::sync, Durability::async}) {
    const auto saver = std::make_shared<DiskLikeSaver>();
    std::promise<void> stored;
    saver->after_put_writes = [&, is_first = true]() mutable {
      if (std::exchange(is_first, false)) stored.set_value();
    };
    std::vector<Value> seen;
    const CompiledGraph graph = diamond(saver, [&](const std::string& name) {
      if (name != "b") return;
      EXPECT_EQ(stored.get_future().wait_for(10s), std::future_status::ready);
      const std::optional<CheckpointTuple> newest = saver->get_tuple({"1"});
      for (const PendingWrite& write : newest->pending_writes) {
        if (write.channel == "log") seen.push_back(write.value);
      }
    });
    graph.invoke(object(), thread(durability));
    EXPECT_EQ(seen, std::vector<Value>{list({"a"})}) << Value(durability);
  }
}

TEST(Durability, UnderSyncWhatQuickTasksWroteIsStoredWithTheirStep) {
  const auto saver = std::make_shared<DiskLikeSaver>();
  const auto out_of_time = std::make_shared<pregel::ManualExecutor>();
  const CompiledGraph graph = diamond(saver, [](const std::string&) {}, out_of_time);
  graph.invoke(object(), thread(Durability::sync));
  EXPECT_EQ(saver->writes, 3);  // the input and two steps
}

// Else the file of a program that ends right after a run is not closed.
TEST(Durability, NobodyHoldsTheCheckpointerAfterARun) {
  for (const Durability durability : {Durability::sync, Durability::async}) {
    auto saver = std::make_shared<DiskLikeSaver>();
    const std::weak_ptr<DiskLikeSaver> is_held = saver;
    const auto out_of_time = std::make_shared<pregel::ManualExecutor>();
    {
      const CompiledGraph graph = diamond(std::move(saver), [](const std::string&) {}, out_of_time);
      graph.invoke(object(), thread(durability));
    }
    EXPECT_TRUE(is_held.expired()) << Value(durability);
  }
}

// Whichever write fails, the caller learns of it, and a later run brings the
// thread to the same end.
TEST(Durability, AThreadSurvivesEachWriteThatFails) {
  for (const Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    for (int failing = 0;; ++failing) {
      const auto saver = std::make_shared<DiskLikeSaver>();
      saver->before_write = [&](int number) {
        if (number == failing) throw DiskFull("write " + std::to_string(number));
      };
      const CompiledGraph graph = diamond(saver);
      bool has_failed = false;
      try {
        graph.invoke({{"log", {"in"}}}, thread(durability));
      } catch (const DiskFull&) {
        has_failed = true;
      }
      const bool is_past_the_last = failing >= saver->writes;
      EXPECT_NE(has_failed, is_past_the_last) << Value(durability) << failing;
      if (is_past_the_last) break;

      const bool has_begun = saver->get_tuple({"1"}).has_value();
      const Value input = has_begun ? Value() : Value{{"log", {"in"}}};
      EXPECT_EQ(graph.invoke(input, thread(durability))["log"], list({"in", "a", "b", "c"}))
          << Value(durability) << failing;
    }
  }
}

}  // namespace
}  // namespace clew

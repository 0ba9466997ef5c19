// States told without their graphs, beside what LangGraph said of the same checkpoints.
#include "cli/stored_state.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <clew/canonical.hpp>

#include "python_database.hpp"

namespace clew::cli {
namespace {

class StoredState : public testing::Test {
 protected:
  StateSnapshot state_of(const std::string& thread, const std::string& checkpoint_id = "",
                         bool subgraphs = false) {
    const auto tuple = database.saver->get_tuple({thread, "", checkpoint_id});
    return stored_state(*database.saver, *tuple, subgraphs);
  }

  PythonDatabase database;
};

// Reducers give a channel a value before anything is written to it. Only the graph knows that.
Value without_defaults(Value values, const Value& stored) {
  if (!values.is_object()) return values.empty() ? object() : values;
  const Value all = values;
  for (auto [channel, value] : all.items()) {
    const bool is_default = value == list() || value == object();
    if (is_default && !stored.contains(channel)) values = values.erase(channel);
  }
  return values;
}

TEST_F(StoredState, ValuesAreWhatLangGraphSaysForEveryCheckpoint) {
  for (const Value& thread : database.expected["threads"]) {
    const auto id = thread.get<std::string>("thread_id");
    for (const Value& state : thread["state_history"]) {
      const auto checkpoint_id = state.get<std::string>("config", "checkpoint_id");
      const Value values = canonical(state_of(id, checkpoint_id).values);
      // LangGraph shows what a Command's update will make of it; here it is a write of its own.
      if (id == "command-goto" && state["next"] == Value(list({"right"}))) {
        EXPECT_EQ(values, Value({{"log", {"in", "router"}}, {"n", 9}}));
        continue;
      }
      EXPECT_EQ(values, without_defaults(state["values"], values)) << id << " " << checkpoint_id;
    }
  }
}

TEST_F(StoredState, TasksHaveTheirQuestionsErrorsAndResults) {
  std::size_t tasks = 0;
  for (const Value& thread : database.expected["threads"]) {
    const auto id = thread.get<std::string>("thread_id");
    for (const Value& state : thread["state_history"]) {
      const auto checkpoint_id = state.get<std::string>("config", "checkpoint_id");
      const StateSnapshot snapshot = state_of(id, checkpoint_id);
      const bool is_newest = &state == &thread["state_history"][0];
      for (const Value& expected : state["tasks"]) {
        const auto task = std::find_if(
            snapshot.tasks.begin(), snapshot.tasks.end(),
            [&](const SnapshotTask& found) { return Value(found.id) == expected["id"]; });
        ASSERT_NE(task, snapshot.tasks.end()) << id << " " << checkpoint_id;
        EXPECT_EQ(task->error.has_value(), !expected["error"].is_null());
        if (!is_newest) {
          EXPECT_EQ(task->interrupts.size(), expected["interrupts"].size());
        }
        ++tasks;
      }
    }
  }
  EXPECT_GT(tasks, 100U);
}

TEST_F(StoredState, StatesOfSubgraphsStandInTheirTasks) {
  const StateSnapshot pending = state_of("sub-pending", "", true);
  ASSERT_EQ(pending.tasks.size(), 1U);
  ASSERT_TRUE(pending.tasks[0].state);
  EXPECT_EQ(pending.tasks[0].state->next, std::vector<std::string>{"s2"});
  EXPECT_EQ(pending.interrupts.size(), 1U);

  const auto tuples = database.saver->list("sub-stateful", "", {});
  std::vector<std::size_t> lengths;  // of the log that all calls share, as each left it
  for (const CheckpointTuple& tuple : tuples) {
    for (const SnapshotTask& task : stored_state(*database.saver, tuple, true).tasks) {
      if (task.state) lengths.push_back(task.state->values["log"].size());
    }
  }
  ASSERT_EQ(lengths.size(), 2U);
  EXPECT_GT(lengths[0], lengths[1]);
}

}  // namespace
}  // namespace clew::cli

// The tasks of a step, told without its graph, beside what LangGraph said of the same checkpoints.
#include "cli/step_tasks.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/json.hpp>

#include "python_database.hpp"

namespace clew::cli {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class PythonThreads : public testing::Test {
 protected:
  // The tuples of a namespace, with what the whole thread tells of its graph.
  KnownGraph known_graph(const std::string& thread) {
    KnownGraph graph;
    for (const CheckpointTuple& tuple : database.saver->list(thread, "", {})) graph.learn(tuple);
    return graph;
  }

  PythonDatabase database;
};

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(PythonThreads, TasksAreThoseThatLangGraphSaysForEveryCheckpoint) {
  std::size_t checkpoints = 0;
  std::size_t tasks = 0;
  for (const Value& thread : database.expected["threads"]) {
    const auto id = thread.get<std::string>("thread_id");
    const KnownGraph graph = known_graph(id);
    for (const Value& state : thread["state_history"]) {
      const auto checkpoint_id = state.get<std::string>("config", "checkpoint_id");
      const auto tuple = database.saver->get_tuple({id, "", checkpoint_id});
      ASSERT_TRUE(tuple);
      std::vector<std::string> next;
      std::vector<std::string> ids;
      for (const StepTask& task : step_tasks(*tuple, graph)) {
        next.push_back(task.node);
        ids.push_back(task.id);
      }
      std::vector<std::string> expected_ids;
      for (const Value& task : state["tasks"]) expected_ids.push_back(task.get<std::string>("id"));
      EXPECT_EQ(sorted(next), sorted(state.get<std::vector<std::string>>("next")))
          << id << " " << checkpoint_id;
      EXPECT_EQ(sorted(ids), sorted(expected_ids)) << id << " " << checkpoint_id;
      ++checkpoints;
      tasks += ids.size();
    }
  }
  EXPECT_EQ(checkpoints, 180U);
  EXPECT_GT(tasks, 100U);
}

TEST_F(PythonThreads, EveryWriteOfATaskHasANode) {
  for (const Value& thread : database.expected["threads"]) {
    const auto id = thread.get<std::string>("thread_id");
    const KnownGraph graph = known_graph(id);
    for (const CheckpointTuple& tuple : database.saver->list(id, "", {})) {
      for (const PendingWrite& write : tuple.pending_writes) {
        // Those of update_state and of an input belong to no task of the step.
        if (write.task_path.empty() || write.task_path.starts_with("~__interrupt__")) continue;
        // The thread stopped before the function's name was stored anywhere.
        if (id == "functional" && node_of(tuple, write, graph).empty()) {
          EXPECT_EQ(write.channel, "__return__");
          continue;
        }
        EXPECT_FALSE(node_of(tuple, write, graph).empty()) << id << " " << write.task_path;
      }
    }
  }
}

TEST_F(PythonThreads, NodesAreKnownWithoutPathsToo) {
  const KnownGraph graph = known_graph("fanout-done");
  for (CheckpointTuple& tuple : database.saver->list("fanout-done", "", {})) {
    CheckpointTuple without = tuple;
    for (PendingWrite& write : without.pending_writes) write.task_path.clear();
    for (std::size_t i = 0; i < tuple.pending_writes.size(); ++i) {
      EXPECT_EQ(node_of(without, without.pending_writes[i], graph),
                node_of(tuple, tuple.pending_writes[i], graph));
    }
  }
}

CheckpointTuple tuple_with(Value values) {
  CheckpointTuple tuple;
  tuple.checkpoint.id = "1f1e1d07-c22a-6f01-8001-9c0a4a9aefbd";
  ObjectBuilder versions;
  for (auto [channel, value] : values.items()) versions.set(channel, "2");
  tuple.checkpoint.channel_values = std::move(values);
  tuple.checkpoint.channel_versions = std::move(versions).build();
  tuple.checkpoint.versions_seen = object();
  tuple.metadata = object({{"step", 1}});
  return tuple;
}

std::vector<std::string> next_of(const CheckpointTuple& tuple) {
  KnownGraph graph;
  graph.learn(tuple);
  std::vector<std::string> next;
  for (const StepTask& task : step_tasks(tuple, graph)) next.push_back(task.node);
  return next;
}

TEST(StepTasks, ABarrierWaitsForAllItsNodes) {
  EXPECT_THAT(next_of(tuple_with({{"join:a+b:c", list({"a"})}})), IsEmpty());
  EXPECT_THAT(next_of(tuple_with({{"join:a+b:c", list({"b", "a"})}})), SizeIs(1));
}

TEST(StepTasks, ADeferredNodeWaitsForItsTurn) {
  EXPECT_THAT(next_of(tuple_with({{"branch:to:late", list({nullptr, false})}})), IsEmpty());
  EXPECT_THAT(next_of(tuple_with({{"branch:to:late", list({nullptr, true})}})), SizeIs(1));
}

TEST(StepTasks, ANodeThatHasSeenItsTriggerIsDone) {
  CheckpointTuple tuple = tuple_with({{"branch:to:a", nullptr}});
  EXPECT_THAT(next_of(tuple), SizeIs(1));
  tuple.checkpoint.versions_seen = {{"a", object({{"branch:to:a", "2"}})}};
  EXPECT_THAT(next_of(tuple), IsEmpty());
}

TEST(StepTasks, IdsThatAreNoUuidsDoNoHarm) {
  CheckpointTuple tuple = tuple_with({{"branch:to:a", nullptr}});
  tuple.checkpoint.id = "7";
  EXPECT_THAT(next_of(tuple), testing::ElementsAre("a"));
}

}  // namespace
}  // namespace clew::cli

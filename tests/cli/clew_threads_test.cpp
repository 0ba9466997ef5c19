// What is told without the graph, beside what the graph itself says of its threads, in both layouts.
#include <algorithm>

#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/functional.hpp>
#include <clew/sqlite_saver.hpp>

#include "cli/step_tasks.hpp"
#include "cli/stored_state.hpp"
#include "temporary_folder.hpp"

namespace clew::cli {

struct Route {
  std::vector<std::string> log;
  int n = 0;
};
CLEW_STATE(Route, reduced(log, append), n)

namespace {

Update logged(const char* node) { return {{"log", list({node})}}; }

// A barrier, a deferred node, Sends, a question and a subgraph.
CompiledGraph route_graph(const std::shared_ptr<Checkpointer>& saver) {
  auto inner = StateGraph<Route>()
                   .add_node("inside", [](const Route&) { return logged("inside"); })
                   .add_edge(START, "inside");
  const auto fan_out = [](const Route&) {
    return std::vector<Send>{{"worker", {{"n", 1}}}, {"worker", {{"n", 2}}}};
  };
  NodeOptions deferred;
  deferred.defer = true;
  return StateGraph<Route>()
      .add_node("a", [](const Route&) { return logged("a"); })
      .add_node("b1", [](const Route&) { return logged("b1"); })
      .add_node("b2", [](const Route&) { return logged("b2"); })
      .add_node("c", inner.compile())
      .add_node("worker", [](const Value&) { return logged("worker"); })
      .add_node(
          "late", [](const Route&) { return logged("late"); }, deferred)
      .add_node("ask",
                [](const Route&, Runtime& runtime) {
                  return Update{{"n", runtime.interrupt("how many?")}};
                })
      .add_edge(START, "a")
      .add_edge(START, "b1")
      .add_edge("b1", "b2")
      .add_edge({"a", "b2"}, "c")
      .add_edge("a", "late")
      .add_conditional_edges("c", fan_out, {{{"worker", "worker"}}})
      .add_edge("late", "ask")
      .compile({.checkpointer = saver});
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

// How many states were compared.
std::size_t compare(const CompiledGraph& graph, Checkpointer& saver, const std::string& thread) {
  KnownGraph known;
  for (const CheckpointTuple& tuple : saver.list(thread, "", {})) known.learn(tuple);
  std::size_t compared = 0;
  for (const StateSnapshot& expected : graph.get_state_history({.thread_id = thread})) {
    const auto tuple = saver.get_tuple({thread, "", expected.config.checkpoint_id});
    std::vector<std::string> names;
    std::vector<std::string> ids;
    for (const StepTask& task : step_tasks(*tuple, known)) {
      names.push_back(task.node);
      ids.push_back(task.id);
    }
    std::vector<std::string> expected_ids;
    std::vector<std::string> expected_names;
    for (const SnapshotTask& task : expected.tasks) {
      expected_ids.push_back(task.id);
      expected_names.push_back(task.name);
    }
    EXPECT_EQ(sorted(names), sorted(expected_names)) << tuple->metadata;
    EXPECT_EQ(sorted(ids), sorted(expected_ids)) << tuple->metadata;
    ++compared;
  }
  return compared;
}

class ClewThreads : public testing::TestWithParam<SqliteLayout> {
 protected:
  ClewThreads() {
    SqliteOptions options;
    options.layout = GetParam();
    saver = SqliteSaver::open((folder_.path / "threads.db").string(), options);
  }

  std::shared_ptr<SqliteSaver> saver;

 private:
  TemporaryFolder folder_;
};

TEST_P(ClewThreads, TasksAreThoseOfTheGraph) {
  const CompiledGraph graph = route_graph(saver);
  graph.invoke({{"n", 0}}, {.thread_id = "1"});
  EXPECT_GE(compare(graph, *saver, "1"), 6U);
  graph.invoke(Command{.resume = 3}, {.thread_id = "1"});
  EXPECT_GE(compare(graph, *saver, "1"), 7U);
}

TEST_P(ClewThreads, StatesAreThoseOfTheGraph) {
  const CompiledGraph graph = route_graph(saver);
  graph.invoke({{"n", 0}}, {.thread_id = "1"});
  const StateSnapshot expected = graph.get_state({.thread_id = "1"}, true);
  const StateSnapshot found = stored_state(*saver, *saver->get_tuple({"1"}), true);
  EXPECT_EQ(to_value(found), to_value(expected));
}

INSTANTIATE_TEST_SUITE_P(Layouts, ClewThreads,
                         testing::Values(SqliteLayout::native, SqliteLayout::langgraph));

}  // namespace
}  // namespace clew::cli

// Clew goes on with threads that LangGraph left: with the same graphs, states
// show the same tasks, and runs give what LangGraph's own continuations gave.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <clew/json.hpp>

#include "recorded_database.hpp"
#include "recorded_graphs.hpp"
#include "vectors.hpp"

namespace clew::interop {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(CLEW_TEST_DATA_DIR) / "databases";

const Value& expected() {
  static const Value recorded = read_vectors(kFolder / "sqlite_checkpoints.expected.json");
  return recorded;
}

std::string text_of(const Value& value) { return to_json(value, {.sort_keys = true}); }

// The id of an interrupt depends on checkpoints that are new.
Value without_interrupt_ids(const Value& described) {
  if (described.is_list()) {
    ListBuilder elements;
    for (const Value& element : described) elements.push_back(without_interrupt_ids(element));
    return std::move(elements).build();
  }
  if (!described.is_object()) return described;
  const bool is_interrupt = described["name"] == Value("Interrupt");
  ObjectBuilder entries;
  for (const auto& [key, value] : described.items()) {
    const bool has_id = is_interrupt && key == "kwargs";
    entries.set(key, without_interrupt_ids(has_id ? value.erase("id") : value));
  }
  return std::move(entries).build();
}

Value describe(const std::vector<Interrupt>& interrupts) {
  ListBuilder described;
  for (const Interrupt& interrupt : interrupts) {
    described.push_back(object({{"id", interrupt.id}, {"value", recorded_form(interrupt.value)}}));
  }
  return std::move(described).build();
}

Value describe(const SnapshotTask& task) {
  return object({{"id", task.id},
                 {"name", task.name},
                 {"error", task.error.value_or(Value())},
                 {"interrupts", describe(task.interrupts)},
                 {"result", recorded_form(task.result.value_or(Value()))}});
}

Value describe_tasks(const StateSnapshot& state) {
  ListBuilder tasks;
  for (const SnapshotTask& task : state.tasks) tasks.push_back(describe(task));
  return std::move(tasks).build();
}

Value recorded_tasks(const Value& state) {
  ListBuilder tasks;
  for (const Value& task : state["tasks"]) {
    tasks.push_back(task.erase("path").erase("has_subgraph_state"));
  }
  return std::move(tasks).build();
}

Value describe_head(const StateSnapshot& state) {
  ListBuilder questions;
  for (const Interrupt& interrupt : state.interrupts) {
    questions.push_back(recorded_form(interrupt.value));
  }
  return object({{"values", recorded_form(state.values)},
                 {"next", state.next},
                 {"interrupts", std::move(questions).build()},
                 {"step", state.metadata["step"]},
                 {"source", state.metadata["source"]}});
}

std::set<std::pair<std::string, std::string>> places(SqliteSaver& saver, const std::string& id) {
  std::set<std::pair<std::string, std::string>> places;
  for (const CheckpointTuple& tuple : saver.list(id, std::nullopt, {})) {
    places.emplace(tuple.key.checkpoint_ns, tuple.key.checkpoint_id);
  }
  return places;
}

// What a continuation added: of each root checkpoint its step and source, and
// in how many other namespaces something is new.
Value describe_new(SqliteSaver& saver, const std::string& id,
                   const std::set<std::pair<std::string, std::string>>& before) {
  ListBuilder roots;
  std::set<std::string> namespaces;
  for (const auto& [ns, checkpoint_id] : places(saver, id)) {
    if (before.contains({ns, checkpoint_id})) continue;
    if (!ns.empty()) namespaces.insert(ns);
    if (!ns.empty()) continue;
    const Value metadata = saver.get_tuple({id, ns, checkpoint_id})->metadata;
    roots.push_back(object({{"step", metadata["step"]}, {"source", metadata["source"]}}));
  }
  return object({{"roots", std::move(roots).build()}, {"namespaces", namespaces.size()}});
}

class RecordedThread : public testing::TestWithParam<std::string> {
 protected:
  const std::string& id() const { return GetParam(); }
  const RecordedGraph& graph() const { return recorded_graphs().at(id()); }

  const Value& recorded() const {
    const Value& threads = expected()["threads"];
    return *std::find_if(threads.begin(), threads.end(),
                         [&](const Value& thread) { return thread["thread_id"] == Value(id()); });
  }

  void go_on(const Value& continuation) {
    const DatabaseCopy copy(kFolder / "sqlite_checkpoints.db");
    const auto saver = copy.open(key_of(expected(), recorded()));
    const auto before = places(*saver, id());
    Runs runs;
    const CompiledGraph built = graph().build(saver, runs);
    const Config config{.thread_id = id()};
    const Value returned =
        graph().continuations.at(continuation.get<std::string>("name"))(built, config);
    EXPECT_EQ(text_of(without_interrupt_ids(recorded_form(returned))),
              text_of(without_interrupt_ids(continuation["returned"])));
    EXPECT_EQ(text_of(describe_head(built.get_state(config))), text_of(continuation["head"]));
    EXPECT_EQ(text_of(describe_new(*saver, id(), before)),
              text_of(object({{"roots", continuation["new_root_checkpoints"]},
                              {"namespaces", continuation["new_namespaces"]}})));
  }
};

std::vector<std::string> rebuilt_threads() {
  std::vector<std::string> ids;
  for (const auto& [id, graph] : recorded_graphs()) ids.push_back(id);
  return ids;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Sqlite, RecordedThread, testing::ValuesIn(rebuilt_threads()), test_name);

TEST_P(RecordedThread, ShowsTheSameTasks) {
  const DatabaseCopy copy(kFolder / "sqlite_checkpoints.db");
  Runs runs;
  const CompiledGraph built = graph().build(copy.open(key_of(expected(), recorded())), runs);
  std::size_t number = 0;
  for (const StateSnapshot& state : built.get_state_history({.thread_id = id()})) {
    const Value& wanted = recorded()["state_history"].at(number++);
    SCOPED_TRACE("state at " + state.config.checkpoint_id);
    EXPECT_EQ(text_of(state.next), text_of(wanted["next"]));
    EXPECT_EQ(text_of(describe_tasks(state)), text_of(recorded_tasks(wanted)));
    EXPECT_EQ(text_of(recorded_form(state.values)), text_of(wanted["values"]));
  }
  EXPECT_EQ(number, recorded()["state_history"].size());
  EXPECT_TRUE(runs.empty());
}

TEST_P(RecordedThread, GoesOnAsInLangGraph) {
  for (const Value& continuation : recorded()["continuations"]) {
    SCOPED_TRACE(continuation.get<std::string>("do"));
    go_on(continuation);
  }
}

TEST(RecordedThreads, AreAllRebuilt) {
  EXPECT_EQ(recorded_graphs().size(), expected()["threads"].size());
}

// What LangGraph finished before a sibling failed.
TEST(RecordedThreads, FinishedTasksAreNotRunAgain) {
  const auto repair = [](const std::string& id) {
    const DatabaseCopy copy(kFolder / "sqlite_checkpoints.db");
    Runs runs;
    recorded_graphs().at(id).build(copy.open(""), runs).invoke(nullptr, {.thread_id = id});
    return text_of(runs);
  };
  EXPECT_EQ(repair("failed"), R"({"end":1})");
  EXPECT_EQ(repair("fanout-failed"), R"({"w2":1})");
}

}  // namespace
}  // namespace clew::interop

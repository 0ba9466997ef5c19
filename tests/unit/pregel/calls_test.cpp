// Calls about threads: batches, updates in bulk, and history.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"
#include "unit/pregel/forwarding_saver.hpp"

namespace clew {
namespace {

struct Count {
  int n = 0;
};
CLEW_STATE(Count, n)

CompiledGraph counting(std::shared_ptr<Checkpointer> saver = std::make_shared<InMemorySaver>()) {
  return StateGraph<Count>()
      .add_node("add",
                [](const Count& count) {
                  if (count.n < 0) throw NodeError("Negative", std::to_string(count.n));
                  return Update{{"n", count.n + 1}};
                })
      .add_edge(START, "add")
      .compile({.checkpointer = std::move(saver)});
}

Config thread(std::string id = "1") {
  Config config;
  config.thread_id = std::move(id);
  return config;
}

// Steps and values, newest first.
std::string render(CompiledGraph::History history) {
  std::string text;
  for (const StateSnapshot& snapshot : history) {
    text += to_json(snapshot.metadata["step"]) + ":" + to_json(snapshot.values["n"]) + " ";
  }
  return text;
}

// ---- Batches

TEST(Batch, ReturnsResultsInOrder) {
  const std::vector<Value> inputs{{{"n", 1}}, {{"n", 2}}, {{"n", 3}}};
  const std::vector<Config> configs{thread("a"), thread("b"), thread("c")};
  const std::vector<Value> results = counting().batch(inputs, configs);
  EXPECT_EQ(Value(results), list({{{"n", 2}}, {{"n", 3}}, {{"n", 4}}}));
  EXPECT_TRUE(counting().batch({}, {}).empty());
}

TEST(Batch, AFailureIsThrownOnceAllHaveEnded) {
  const CompiledGraph graph = counting();
  const std::vector<Value> inputs{{{"n", -1}}, {{"n", 2}}, {{"n", -3}}};
  const std::vector<Config> configs{thread("a"), thread("b"), thread("c")};
  EXPECT_EQ(error_text<NodeError>([&] { graph.batch(inputs, configs); }), "-1");
  EXPECT_EQ(graph.get_state(thread("b")).values["n"], 3);
}

TEST(Batch, NeedsAConfigForEachInput) {
  const std::vector<Value> inputs{{{"n", 1}}};
  EXPECT_EQ(error_text<BadArgumentError>([&] { counting().batch(inputs, {}); }),
            "batch() takes as many configs as inputs");
}

// ---- Updates in bulk

TEST(BulkUpdate, MakesOneCheckpointPerSuperStep) {
  const CompiledGraph graph = counting();
  const std::vector<std::vector<StateUpdate>> supersteps{
      {{{{"n", 5}}, "__input__", {}}}, {{{{"n", 6}}, "add", {}}}, {{{{"n", 7}}, "add", {}}}};
  const Config made = graph.bulk_update_state(thread(), supersteps);
  EXPECT_EQ(render(graph.get_state_history(thread())), "1:7 0:6 -1:null ");
  EXPECT_EQ(graph.get_state(thread()).config.checkpoint_id, made.checkpoint_id);
}

TEST(BulkUpdate, RefusesWhatMeansNothing) {
  const CompiledGraph graph = counting();
  using Supersteps = std::vector<std::vector<StateUpdate>>;
  const auto refusal = [&](const Supersteps& supersteps) {
    return error_text<Error>([&] { graph.bulk_update_state(thread(), supersteps); });
  };
  const StateUpdate plain{{{"n", 1}}, "add", {}};
  EXPECT_EQ(refusal({}), "there are no super-steps to apply");
  EXPECT_EQ(refusal({{plain}, {}}), "a super-step has no updates");
  EXPECT_EQ(refusal({{plain, {{{"n", 1}}, "", {}}}}), "each of several updates must say as_node");
  EXPECT_EQ(refusal({{{{{"n", 1}}, "nobody", {}}}}), "node 'nobody' does not exist");
  EXPECT_EQ(refusal({{{nullptr, END, {}}, plain}}),
            "only one update can clear the tasks of a thread");
  EXPECT_EQ(refusal({{{{{"n", 1}}, "__input__", {}}, plain}}),
            "only one update can be given as input");
  EXPECT_EQ(refusal({{{nullptr, "__copy__", {}}}}), "there is no checkpoint to copy");
  EXPECT_EQ(refusal({{{nullptr, "__input__", {}}}}), "there is no input to write");
}

// ---- History

TEST(History, IsFilteredLimitedAndCutOff) {
  const CompiledGraph graph = counting();
  for (int n : {10, 20}) graph.invoke({{"n", n}}, thread());
  EXPECT_EQ(render(graph.get_state_history(thread())), "4:21 3:20 2:11 1:11 0:10 -1:null ");
  EXPECT_EQ(render(graph.get_state_history(thread(), {.limit = 2})), "4:21 3:20 ");
  EXPECT_EQ(render(graph.get_state_history(thread(), {.limit = 0})), "");
  EXPECT_EQ(render(graph.get_state_history(thread(), {.filter = {{"source", "input"}}})),
            "2:11 -1:null ");
  EXPECT_EQ(render(graph.get_state_history(thread(), {.filter = {{"source", "loop"}}, .limit = 3})),
            "4:21 3:20 1:11 ");
  const std::string third =
      graph.get_state_history(thread(), {.limit = 3}).begin()->config.checkpoint_id;
  EXPECT_EQ(render(graph.get_state_history(thread(), {.before = third, .limit = 1})), "3:20 ");
  EXPECT_EQ(render(graph.get_state_history(thread("never was"))), "");
}

TEST(History, IsReadPageByPage) {
  const CompiledGraph graph = counting();
  const std::vector<StateUpdate> update{{{{"n", 1}}, "add", {}}};
  const std::vector<std::vector<StateUpdate>> supersteps(150, update);
  graph.bulk_update_state(thread(), supersteps);
  std::int64_t expected = 149;
  for (const StateSnapshot& snapshot : graph.get_state_history(thread())) {
    EXPECT_EQ(snapshot.metadata["step"], expected--);
  }
  EXPECT_EQ(expected, -1);
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& snapshot : graph.get_state_history(thread(), {.limit = 100})) {
    ++count;
  }
  EXPECT_EQ(count, 100U);
}

// A saver that cannot read its second page the first time.
class BusySaver final : public ForwardingSaver {
 public:
  std::vector<CheckpointTuple> list(std::string_view thread_id,
                                    std::optional<std::string_view> checkpoint_ns,
                                    const ListOptions& options) override {
    if (++lists_ == 2) throw StorageError("busy");
    return ForwardingSaver::list(thread_id, checkpoint_ns, options);
  }

 private:
  int lists_ = 0;
};

TEST(History, GoesOnAfterAnError) {
  const CompiledGraph graph = counting(std::make_shared<BusySaver>());
  const std::vector<StateUpdate> update{{{{"n", 1}}, "add", {}}};
  const std::vector<std::vector<StateUpdate>> supersteps(100, update);
  graph.bulk_update_state(thread(), supersteps);
  auto history = graph.get_state_history(thread());
  std::int64_t expected = 99;
  int errors = 0;
  while (true) {
    try {
      const auto snapshot = wait(history.async_next());
      if (!snapshot) break;
      EXPECT_EQ(snapshot->metadata["step"], expected--);
    } catch (const StorageError&) {
      ++errors;
    }
  }
  EXPECT_EQ(expected, -1);
  EXPECT_EQ(errors, 1);
}

TEST(History, NeedsACheckpointerAndAThread) {
  EXPECT_THROW(counting(nullptr).get_state_history(thread()), NoCheckpointerError);
  EXPECT_THROW(counting(nullptr).get_state(thread()), NoCheckpointerError);
  EXPECT_THROW(counting().get_state_history(Config()), MissingThreadError);
}

}  // namespace
}  // namespace clew

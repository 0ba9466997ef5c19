// What the caller learns when storing fails, alone or together with something else.
#include <atomic>
#include <functional>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/pregel/forwarding_saver.hpp"

namespace clew {
namespace {

// A disk that is full when a test says so, until it says otherwise.
class FullDiskSaver final : public ForwardingSaver {
 public:
  explicit FullDiskSaver(bool waits) : waits_(waits) {}

  std::atomic<bool> is_full{false};
  bool takes_the_root = false;  // even then
  std::function<void()> refuse = [] { throw StorageError("the disk is full"); };

  void put(std::span<const CheckpointPut> puts) override {
    for (const CheckpointPut& put : puts) check(put.key);
    ForwardingSaver::put(puts);
  }
  void put_writes(std::span<const WritesPut> puts) override {
    for (const WritesPut& put : puts) check(put.key);
    ForwardingSaver::put_writes(puts);
  }
  bool waits_for_device() const override { return waits_; }

 private:
  void check(const CheckpointKey& key) const {
    if (is_full && !(takes_the_root && key.checkpoint_ns.empty())) refuse();
  }

  const bool waits_;
};

// One that nobody but its saver knows.
class OwnError : public Error {
 public:
  using Error::Error;
};

// The errors, each with the one it holds in the next line.
std::string story_of(const std::exception& error) {
  std::string kind = "another error";
  if (dynamic_cast<const StorageError*>(&error)) kind = "StorageError";
  if (dynamic_cast<const ThreadConflict*>(&error)) kind = "ThreadConflict";
  if (dynamic_cast<const NodeError*>(&error)) kind = "NodeError";
  if (dynamic_cast<const OwnError*>(&error)) kind = "OwnError";
  std::string story = kind + ": " + error.what() + "\n";
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& inner) {
    story += story_of(inner);
  }
  return story;
}

template <class Call>
std::string thrown_by(Call&& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return story_of(error);
  }
  return "nothing\n";
}

constexpr const char* kBoth =
    "StorageError: the disk is full; besides, node 'troubled' failed: try again\n"
    "NodeError: try again\n";

struct Kind {
  Durability durability;
  bool waits;  // Checkpointer::waits_for_device()
};

class StoringFails : public testing::TestWithParam<Kind> {
 protected:
  StoringFails() {
    thread_.thread_id = "1";
    thread_.durability = GetParam().durability;
  }

  // "beside" succeeds whatever "troubled" does.
  template <class Body>
  CompiledGraph graph_of(Body troubled, CompileOptions options) {
    return StateGraph<Value>({{"log", reduced(append, list())}})
        .add_node("beside", [](const Value&) { return Update{{"log", {"beside"}}}; })
        .add_node("troubled", std::move(troubled))
        .add_edge(START, "beside")
        .add_edge(START, "troubled")
        .compile(std::move(options));
  }

  // Fails once, when the disk is full.
  auto failing() {
    return [this](const Value&) {
      if (has_failed_.exchange(true)) return Update{{"log", {"troubled"}}};
      saver_->is_full = true;
      throw NodeError("Unlucky", "try again");
    };
  }

  const std::shared_ptr<FullDiskSaver> saver_ = std::make_shared<FullDiskSaver>(GetParam().waits);
  const Value input_{{"log", {"in"}}};
  std::atomic<bool> has_failed_{false};
  Config thread_;
};

TEST_P(StoringFails, ANodeThatFailsInTheSameStepDoesNotHideIt) {
  const CompiledGraph graph = graph_of(failing(), {.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), kBoth);
  saver_->is_full = false;
  const Value input = saver_->get_tuple({"1"}) ? Value() : input_;
  EXPECT_EQ(graph.invoke(input, thread_)["log"], list({"in", "beside", "troubled"}));
}

Task<void> read_all(CompiledGraph graph, Value input, Config config) {
  Stream stream = graph.stream(input, config);
  while (true) {
    const std::optional<StreamEvent> event = co_await stream.async_next();
    if (!event) break;
  }
}

TEST_P(StoringFails, AllWaysToCallSayTheSame) {
  const CompiledGraph graph = graph_of(failing(), {.checkpointer = saver_});
  int next = 0;
  const auto thrown_on_a_new_thread = [&](const std::function<void(const Config&)>& call) {
    saver_->is_full = has_failed_ = false;
    Config config = thread_;
    config.thread_id = std::to_string(++next);
    return thrown_by([&] { call(config); });
  };
  EXPECT_EQ(kBoth, thrown_on_a_new_thread(
                       [&](auto& config) { wait(graph.async_invoke(input_, config)); }));
  EXPECT_EQ(kBoth, thrown_on_a_new_thread([&](auto& config) {
              for (const StreamEvent& event : graph.stream(input_, config)) (void)event;
            }));
  EXPECT_EQ(kBoth,
            thrown_on_a_new_thread([&](auto& config) { wait(read_all(graph, input_, config)); }));
  EXPECT_EQ(kBoth,
            thrown_on_a_new_thread([&](auto& config) { graph.batch({&input_, 1}, {&config, 1}); }));
}

TEST_P(StoringFails, ANodeThatFailedBeforeDoesNotHideIt) {
  const CompiledGraph graph =
      StateGraph<Value>({{"log", reduced(append, list())}})
          .add_node("a", [](const Value&) -> Update { throw NodeError("Unlucky", "a bad day"); })
          .add_node("b", [this](const Value&) { saver_->is_full = true; })
          .add_edge(START, "a")
          .add_edge(START, "b")
          .compile({.checkpointer = saver_});
  thread_.max_concurrency = 1;
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }),
            "StorageError: the disk is full; besides, node 'a' failed: a bad day\n"
            "NodeError: a bad day\n");
}

TEST_P(StoringFails, InASubgraphTheCallerLearnsOfBoth) {
  const CompiledGraph inner = graph_of(failing(), {});
  const CompiledGraph graph = StateGraph<Value>({{"log", reduced(append, list())}})
                                  .add_node("inner", inner)
                                  .add_edge(START, "inner")
                                  .compile({.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), kBoth);
}

// The root could store its part, so nothing else would tell: neither here nor below.
TEST_P(StoringFails, ThatOfASubgraphIsNotHiddenByANodeBesideIt) {
  const auto asking = [this](const Value&, Runtime& runtime) {
    saver_->is_full = true;
    runtime.interrupt("go on?");
  };
  saver_->takes_the_root = true;
  const CompiledGraph inner = graph_of(asking, {});
  const CompiledGraph graph =
      StateGraph<Value>({{"log", reduced(append, list())}})
          .add_node("a", [](const Value&) -> Update { throw NodeError("Unlucky", "a bad day"); })
          .add_node("inner", inner)
          .add_edge(START, "a")
          .add_edge(START, "inner")
          .compile({.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }),
            "StorageError: the disk is full; besides, node 'a' failed: a bad day\n"
            "NodeError: a bad day\n");
}

TEST_P(StoringFails, AQuestionOfASubgraphDoesNotHideIt) {
  const auto asking = [this](const Value&, Runtime& runtime) {
    saver_->is_full = !has_failed_.exchange(true);
    const Value answer = runtime.interrupt("go on?");
    return Update{{"log", {answer}}};
  };
  saver_->takes_the_root = true;
  const CompiledGraph inner = graph_of(asking, {});
  const CompiledGraph graph = StateGraph<Value>({{"log", reduced(append, list())}})
                                  .add_node("inner", inner)
                                  .add_edge(START, "inner")
                                  .compile({.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), "StorageError: the disk is full\n");
  saver_->is_full = false;
  const Value asked = graph.invoke(nullptr, thread_);
  EXPECT_EQ(asked["__interrupt__"].size(), 1U);
}

TEST_P(StoringFails, ACancelledRunDoesNotHideIt) {
  std::stop_source stop;
  const auto stopping = [&](const Value&) {
    saver_->is_full = true;
    stop.request_stop();
  };
  const CompiledGraph graph = graph_of(stopping, {.checkpointer = saver_});
  thread_.stop = stop.get_token();
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), "StorageError: the disk is full\n");
}

TEST_P(StoringFails, ANodeThatCatchesWhatItsCallsThrowDoesNotHideIt) {
  const TaskFunction called = task("called", [this](const Value&) { saver_->is_full = true; });
  const CompiledGraph workflow = entrypoint("workflow",
                                            [=](const Value&, Runtime& runtime) {
                                              try {
                                                called(runtime).result();
                                              } catch (const std::exception&) {
                                              }
                                              return Value("done");
                                            },
                                            {.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { workflow.invoke(1, thread_); }), "StorageError: the disk is full\n");
}

TEST_P(StoringFails, AnErrorOfTheSaversOwnBecomesAStorageErrorOnlyIfANodeFailsToo) {
  saver_->refuse = [] { throw OwnError("the disk is full"); };
  const CompiledGraph graph = graph_of(failing(), {.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), kBoth);
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), "OwnError: the disk is full\n");
}

TEST_P(StoringFails, AloneItIsThrownAsItIs) {
  saver_->is_full = has_failed_ = true;
  const CompiledGraph graph = graph_of(failing(), {.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), "StorageError: the disk is full\n");
}

TEST_P(StoringFails, ANodeThatFailsAloneIsThrownAsItIs) {
  const auto unlucky = [](const Value&) -> Update { throw NodeError("Unlucky", "try again"); };
  const CompiledGraph graph = graph_of(unlucky, {.checkpointer = saver_});
  EXPECT_EQ(thrown_by([&] { graph.invoke(input_, thread_); }), "NodeError: try again\n");
}

INSTANTIATE_TEST_SUITE_P(
    All, StoringFails,
    testing::Values(Kind{Durability::sync, true}, Kind{Durability::async, true},
                    Kind{Durability::exit, true}, Kind{Durability::sync, false},
                    Kind{Durability::async, false}, Kind{Durability::exit, false}),
    [](const auto& kind) {
      return std::string(Value(kind.param.durability).as_string()) +
             (kind.param.waits ? "" : "InMemory");
    });

// Nothing of such a run is stored, also not that the node failed.
TEST(Conflict, ANodeThatFailsDoesNotHideThatTheThreadWasMoved) {
  std::optional<CompiledGraph> graph;
  Config thread;
  thread.thread_id = "1";
  thread.durability = Durability::exit;
  const auto moving = [&](const Value&) -> Update {
    graph->update_state(thread, {{"log", {"moved"}}}, as_node("n"));
    throw NodeError("Unlucky", "try again");
  };
  graph = StateGraph<Value>({{"log", reduced(append, list())}})
              .add_node("n", moving)
              .add_edge(START, "n")
              .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  const std::string story = thrown_by([&] { graph->invoke({{"log", {"in"}}}, thread); });
  EXPECT_TRUE(story.starts_with("ThreadConflict: thread '1' is at checkpoint ")) << story;
  EXPECT_TRUE(story.ends_with("retry; besides, node 'n' failed: try again\nNodeError: try again\n"))
      << story;
}

}  // namespace
}  // namespace clew

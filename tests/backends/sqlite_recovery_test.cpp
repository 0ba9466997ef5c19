// What recover_blobs() makes of values that were deleted: each is what it was, or is said to be
// lost. The graphs here do whatever makes it hard to tell what a value was.
#include <atomic>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>

#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

constexpr const char* kEverything = "DELETE FROM checkpoint_blobs";

class RecoveredFile : public testing::Test {
 protected:
  void SetUp() override { open_anew(); }

  void open_anew() {
    saver_.reset();
    folder_.emplace();
    open();
  }

  void open() { saver_ = SqliteSaver::open(path(), {.synchronous = SqliteSynchronous::off}); }

  std::string path() const { return (folder_->path / "threads.db").string(); }

  // Deletes what `sql` says, recovers, and expects nothing that is neither right nor lost.
  // Returns how many values of each channel are lost.
  std::string lost_after(const std::string& sql, const RecoverOptions& options = {}) {
    const Contents before = contents();
    saver_.reset();
    execute_sql(path(), sql);
    open();
    recovery_ = saver_->recover_blobs("t", options);
    EXPECT_EQ(mistakes(before), "");
    std::map<std::string, int> counts;
    for (const std::string& lost : recovery_.lost) ++counts[lost.substr(0, lost.rfind(' '))];
    std::string line;
    for (const auto& [channel, count] : counts) {
      line += (line.empty() ? "" : " ") + channel + ":" + std::to_string(count);
    }
    return line;
  }

  // By "channel version": the whole value, with null for a channel that holds nothing.
  using Contents = std::map<std::string, Value>;

  // Of what can be read.
  Contents contents() {
    Contents found;
    const Value keys = saver_->query(
        "SELECT checkpoint_ns, channel, version FROM checkpoint_blobs WHERE thread_id = 't'");
    for (const Value& key : keys) {
      try {
        const Value rows = saver_->query(
            "SELECT blob_data FROM checkpoint_values WHERE thread_id = 't'"
            " AND checkpoint_ns = ? AND channel = ? AND version = ?",
            list({key["checkpoint_ns"], key["channel"], key["version"]}));
        found[name_of(key["channel"], key["version"])] = rows[0]["blob_data"];
      } catch (const Error&) {
      }
    }
    return found;
  }

  static std::string name_of(const Value& channel, const Value& version) {
    return std::string(channel.as_string()) + " " + std::string(version.as_string());
  }

  std::string mistakes(const Contents& before) {
    const Contents after = contents();
    const std::set<std::string> lost(recovery_.lost.begin(), recovery_.lost.end());
    std::string lines;
    for (const auto& [name, value] : before) {
      const auto found = after.find(name);
      if (found == after.end()) {
        if (!lost.contains(name)) lines += name + " is missing, and not said to be lost\n";
      } else if (found->second != value) {
        lines +=
            name + " is another value: " + text_of(value) + " -> " + text_of(found->second) + "\n";
      } else if (lost.contains(name)) {
        lines += name + " is said to be lost, and is there\n";
      }
    }
    return lines;
  }

  static std::string text_of(const Value& bytes) {
    if (bytes.is_null()) return "nothing";
    return to_json(JsonPlusSerializer().loads_typed("msgpack", bytes.as_bytes()));
  }

  std::optional<TemporaryFolder> folder_;
  std::shared_ptr<SqliteSaver> saver_;
  BlobRecovery recovery_;
};

Config thread(Durability durability = Durability::sync) {
  Config config;
  config.thread_id = "t";
  config.durability = durability;
  return config;
}

// Writes what it is told, by the number of entries in the log.
std::function<Value(const Value&)> writer(std::function<Value(std::size_t)> make) {
  return [make = std::move(make)](const Value& state) { return make(state["log"].size()); };
}

// START -> a -> b -> END, with a log that both write to.
class Chain {
 public:
  explicit Chain(ChannelPtr channel)
      : graph_({{"log", reduced(append, list())}, {"x", std::move(channel)}}) {}

  CompiledGraph compile(std::shared_ptr<Checkpointer> saver, std::function<Value(std::size_t)> a,
                        std::function<Value(std::size_t)> b) {
    return graph_.add_node("a", writer(std::move(a)))
        .add_node("b", writer(std::move(b)))
        .add_edge(START, "a")
        .add_edge("a", "b")
        .compile({.checkpointer = std::move(saver)});
  }

 private:
  StateGraph<> graph_;
};

Value logged(std::size_t n) { return {{"log", {"entry " + std::to_string(n)}}}; }

std::vector<StateSnapshot> states_of(const CompiledGraph& graph) {
  std::vector<StateSnapshot> states;
  for (const StateSnapshot& state : graph.get_state_history(thread())) states.push_back(state);
  return states;
}

// A thread without branches ---------------------------------------------------------

TEST_F(RecoveredFile, AConversationIsMadeAgain) {
  const CompiledGraph graph =
      StateGraph<>({{"messages", reduced(append, list())}, {"user_context", last_value()}})
          .add_node("retrieve", [](const Value&) { return Value{{"user_context", {{"age", 30}}}}; })
          .add_node("answer", [](const Value&) { return Value{{"messages", {"This one."}}}; })
          .add_edge(START, "retrieve")
          .add_edge("retrieve", "answer")
          .compile({.checkpointer = saver_});
  for (int turn = 0; turn < 5; ++turn) {
    graph.invoke({{"messages", {"question " + std::to_string(turn)}}}, thread());
  }
  EXPECT_EQ(lost_after(kEverything), "");
  EXPECT_EQ(recovery_.recovered, 25U);
  EXPECT_EQ(recovery_.assumed.size(), 20U);  // all but that the input is gone after the first step
  EXPECT_EQ(saver_->recover_blobs("t").recovered, 0U);
}

TEST_F(RecoveredFile, WhatIsUsualNeedNotBeAssumed) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, logged);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(100), thread());
  EXPECT_EQ(lost_after(kEverything, {.assumes_the_usual = false}), "__start__:3 log:9");
  EXPECT_EQ(lost_after(kEverything, {.reducers = {{"log", append}}, .assumes_the_usual = false}),
            "__start__:3 log:9");
}

// What it began with was never written.
TEST_F(RecoveredFile, AChannelThatDidNotBeginEmptyIsLostIfNothingIsAssumed) {
  const auto one = [](std::size_t) { return Value{{"x", 1}}; };
  const CompiledGraph graph = Chain(reduced(add, 100)).compile(saver_, one, one);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(1), thread());
  const RecoverOptions named{.reducers = {{"x", add}}, .assumes_the_usual = false};
  EXPECT_EQ(lost_after("DELETE FROM checkpoint_blobs WHERE channel = 'x'", named), "x:6");
}

TEST_F(RecoveredFile, ValuesThatAreThereTellOfWhatKindAChannelIs) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, [](std::size_t n) {
    return Value{{"x", {n, n + 1}}};
  });
  for (int turn = 0; turn < 4; ++turn) graph.invoke(logged(100), thread());
  EXPECT_EQ(
      lost_after("DELETE FROM checkpoint_blobs WHERE channel = 'x' AND version > '000000000000"
                 "0000000000000000001' AND version NOT LIKE '%8.%'"),
      "");
}

TEST_F(RecoveredFile, ASumIsLostUnlessItIsNamed) {
  const auto one = [](std::size_t) { return Value{{"x", 1}}; };
  const CompiledGraph graph = Chain(reduced(add, 0)).compile(saver_, one, one);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "x:5");
  EXPECT_EQ(lost_after(kEverything, {.reducers = {{"x", add}}}), "");
}

TEST_F(RecoveredFile, ASumIsMadeAgainIfItIsSeenToBeOne) {
  const auto one = [](std::size_t) { return Value{{"x", 1}}; };
  const CompiledGraph graph = Chain(reduced(add, 0)).compile(saver_, one, one);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after("DELETE FROM checkpoint_blobs WHERE channel = 'x' AND version NOT LIKE "
                       "'00000000000000000000000000000004.%'"),
            "");
}

TEST_F(RecoveredFile, TheLastTextIsMadeAgainIfItsChannelIsNamed) {
  const auto text = [](std::size_t n) { return Value{{"x", "text " + std::to_string(n)}}; };
  const CompiledGraph graph = Chain(last_value()).compile(saver_, text, text);
  graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "x:1");
  EXPECT_EQ(lost_after(kEverything, {.reducers = {{"x", nullptr}}}), "");
}

TEST_F(RecoveredFile, ADamagedDifferenceIsMadeAgainWithItsBase) {
  const auto entry = [](std::size_t n) { return Value{{"log", {std::string(100, 'x'), n}}}; };
  const CompiledGraph graph = Chain(last_value()).compile(saver_, entry, entry);
  for (int turn = 0; turn < 10; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after("DELETE FROM checkpoint_blobs WHERE version LIKE '%3.%'"), "");
}

// Branches --------------------------------------------------------------------------

TEST_F(RecoveredFile, AForkDoesNotGetWhatItsSiblingWrote) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, logged);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(100), thread());
  graph.update_state(states_of(graph)[5].config, {{"log", {"forked"}}}, as_node("b"));
  graph.invoke(logged(200), thread());
  EXPECT_EQ(lost_after(kEverything), "log:4");
}

TEST_F(RecoveredFile, WhatFollowsAForkThatIsThereIsMadeAgain) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, logged);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(100), thread());
  const Config fork =
      graph.update_state(states_of(graph)[5].config, {{"log", {"forked"}}}, as_node("b"));
  graph.invoke(logged(200), thread());
  const Value version =
      saver_->get_tuple({"t", "", fork.checkpoint_id})->checkpoint.channel_versions["log"];
  EXPECT_EQ(lost_after("DELETE FROM checkpoint_blobs WHERE version <> '" +
                       std::string(version.as_string()) + "'"),
            "");
}

TEST_F(RecoveredFile, AnUpdateOfTheNewestStateIsOnRecord) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, logged);
  graph.invoke(logged(100), thread());
  graph.update_state(thread(), {{"log", {"updated"}}, {"x", true}}, as_node("b"));
  graph.invoke(logged(200), thread());
  EXPECT_EQ(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, AnUpdateAfterOneThatWasRefusedIsLost) {
  const CompiledGraph graph = Chain(reduced(add, 0)).compile(saver_, logged, logged);
  graph.invoke(logged(100), thread());
  EXPECT_THROW(graph.update_state(thread(), {{"x", "one"}}, as_node("b")), Error);
  graph.update_state(thread(), {{"x", 1}}, as_node("b"));
  EXPECT_EQ(lost_after(kEverything), "x:1");
}

TEST_F(RecoveredFile, SeveralUpdatesOfAStepAreMadeInTheirOrder) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, logged);
  graph.invoke(logged(100), thread());
  const std::vector<std::vector<StateUpdate>> steps{
      {{{{"log", {"z"}}}, "b", ""}, {{{"log", {"a"}}}, "a", ""}}, {{{{"log", {"m"}}}, "b", ""}}};
  graph.bulk_update_state(thread(), steps);
  EXPECT_EQ(lost_after(kEverything), "");
}

CompiledGraph asking(const std::shared_ptr<Checkpointer>& saver) {
  StateGraph<> builder({{"log", reduced(append, list())}});
  return builder
      .add_node("ask",
                [](const Value&, Runtime& runtime) {
                  return Value{{"log", list({runtime.interrupt("?")})}};
                })
      .add_edge(START, "ask")
      .compile({.checkpointer = saver});
}

TEST_F(RecoveredFile, ASecondAnswerToAQuestionIsLost) {
  const CompiledGraph graph = asking(saver_);
  graph.invoke(logged(1), thread());
  const Config asked = graph.get_state(thread()).config;
  graph.invoke(Command{.resume = "first"}, thread());
  EXPECT_EQ(lost_after(kEverything), "");
  graph.invoke(Command{.resume = "second"}, asked);
  EXPECT_NE(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, ASecondAnswerIsLostAlsoIfTheFirstIsDeleted) {
  const CompiledGraph graph = asking(saver_);
  graph.invoke(logged(1), thread());
  const Config asked = graph.get_state(thread()).config;
  graph.invoke(Command{.resume = "first"}, thread());
  const Config first = graph.get_state(thread()).config;
  execute_sql(path(),
              "UPDATE checkpoint_writes SET gmt_create = '2026-01-01 00:00:00.000000'"
              " WHERE checkpoint_id = '" +
                  asked.checkpoint_id + "'");
  graph.invoke(Command{.resume = "second"}, asked);
  const Value version =
      saver_->get_tuple({"t", "", first.checkpoint_id})->checkpoint.channel_versions["log"];
  execute_sql(path(), "DELETE FROM checkpoints WHERE checkpoint_id = '" + first.checkpoint_id +
                          "'; DELETE FROM checkpoint_blobs WHERE version = '" +
                          std::string(version.as_string()) + "'");
  EXPECT_EQ(lost_after("DELETE FROM checkpoint_blobs WHERE channel = 'log'"), "log:1");
}

TEST_F(RecoveredFile, AStepThatWasRefusedAndRepeatedOtherwiseIsLost) {
  std::atomic<int> runs = 0;
  StateGraph<> builder({{"log", reduced(append, list())}, {"x", last_value()}});
  const auto node = [&](const Value&) {
    const int run = ++runs;  // the first two write to one channel
    return run < 3 ? Value{{"log", list({run})}, {"x", run}} : Value{{"log", list({run})}};
  };
  const CompiledGraph graph = builder.add_node("a", node)
                                  .add_node("b", node)
                                  .add_edge(START, "a")
                                  .add_edge(START, "b")
                                  .compile({.checkpointer = saver_});
  const Config update = graph.update_state(thread(), logged(1), as_node(START));
  EXPECT_THROW(graph.invoke(nullptr, thread()), InvalidUpdateError);
  graph.invoke(nullptr, update);
  EXPECT_EQ(graph.get_state(thread()).values["log"].size(), 3U);
  EXPECT_EQ(lost_after(kEverything),
            "log:2");  // of the update, too: there was nothing to record it with
}

TEST_F(RecoveredFile, ACommandAsInputWritesBeforeTheTasks) {
  StateGraph<> builder({{"log", reduced(append, list())}});
  const CompiledGraph graph =
      builder
          .add_node("ask",
                    [](const Value& state, Runtime& runtime) {
                      return Value{{"log", list({runtime.interrupt("?"), state["log"].size()})}};
                    })
          .add_edge(START, "ask")
          .compile({.checkpointer = saver_});
  graph.invoke(logged(1), thread());
  graph.invoke(Command{.update = {{"log", {"by the command"}}}, .resume = "yes"}, thread());
  EXPECT_EQ(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, WhatWasStoredAtTheEndOfARunIsLost) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, logged);
  graph.invoke(logged(1), thread(Durability::exit));
  graph.invoke(logged(1), thread(Durability::exit));
  EXPECT_EQ(lost_after(kEverything), "__start__:1 log:2");
}

// What tasks write --------------------------------------------------------------------

StateGraph<> fan_out() {
  StateGraph<> graph({{"log", reduced(append, list())}, {"n", last_value()}});
  graph.add_node("split", [](const Value&) { return Value(); })
      .add_node("z", [](const Value&) { return Value{{"log", {"z"}}}; })
      .add_node("y", [](const Value&) { return Value{{"log", {"y"}}}; })
      .add_node("sent", [](const Value& n) { return Value{{"log", list({n})}}; })
      .add_node("end", [](const Value&) { return Value{{"log", {"end"}}}; })
      .add_edge(START, "split")
      .add_edge("split", "z")
      .add_edge("split", "y")
      .add_conditional_edges("split",
                             [](const Value&) {
                               std::vector<Send> sends;
                               for (int n = 12; n > 0; --n) sends.push_back({"sent", n});
                               return sends;
                             })
      .add_edge({"z", "y"}, "end");
  return graph;
}

TEST_F(RecoveredFile, TasksOfAStepWriteInTheirOrder) {
  const CompiledGraph graph = fan_out().compile({.checkpointer = saver_});
  for (int turn = 0; turn < 2; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, AStepOfWhichATaskIsGoneIsLost) {
  const CompiledGraph graph = fan_out().compile({.checkpointer = saver_});
  graph.invoke(logged(1), thread());
  EXPECT_EQ(
      lost_after("DELETE FROM checkpoint_blobs; DELETE FROM checkpoint_writes WHERE node = 'y'"),
      "__pregel_tasks:1 join:z+y:end:2 log:2");
}

TEST_F(RecoveredFile, ASendOfWhichTheTaskIsGoneIsNoticed) {
  const CompiledGraph graph = fan_out().compile({.checkpointer = saver_});
  graph.invoke(logged(1), thread());
  const std::string lost = lost_after(
      "DELETE FROM checkpoint_blobs WHERE channel = 'log'; DELETE FROM checkpoint_writes"
      " WHERE task_path LIKE '~__pregel_push, 0000000011%'");
  EXPECT_EQ(lost, "log:2");
}

TEST_F(RecoveredFile, AnOverwriteReplaces) {
  const CompiledGraph graph = Chain(last_value()).compile(saver_, logged, [](std::size_t) {
    return Value{{"log", Overwrite{list({"anew"})}}};
  });
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, MessagesWithIdsAreMadeAgain) {
  const CompiledGraph graph =
      Chain(reduced(add_messages, list()))
          .compile(
              saver_,
              [](std::size_t n) {
                return Value{
                    {"x", list({AIMessage{.content = "hi", .id = "m" + std::to_string(n)}})},
                    {"log", {"a"}}};
              },
              [](std::size_t) {
                return Value{{"x", list({AIMessage{.content = "edited", .id = "m1"}})}};
              });
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, MessagesWithoutIdsAreLost) {
  const auto message = [](std::size_t) { return Value{{"x", list({AIMessage{.content = "hi"}})}}; };
  const CompiledGraph graph =
      Chain(reduced(add_messages, list())).compile(saver_, message, message);
  for (int turn = 0; turn < 2; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "x:4");
}

TEST_F(RecoveredFile, TheInputOfAGraphInsideIsLost) {
  const CompiledGraph inside = StateGraph<>({{"log", reduced(append, list())}})
                                   .add_node("inner", writer(logged))
                                   .add_edge(START, "inner")
                                   .compile();
  const CompiledGraph graph = StateGraph<>({{"log", reduced(append, list())}, {"x", last_value()}})
                                  .add_node("around", inside)
                                  .add_edge(START, "around")
                                  .compile({.checkpointer = saver_});
  graph.invoke({{"log", {"in"}}, {"x", 1}}, thread());
  EXPECT_EQ(lost_after(kEverything), "__start__:1");
}

TEST_F(RecoveredFile, ATaskThatFailedAndRanAgainIsOnRecord) {
  int attempts = 0;
  StateGraph<> builder({{"log", reduced(append, list())}});
  const CompiledGraph graph = builder.add_node("steady", writer(logged))
                                  .add_node("shaky",
                                            [&](const Value& state) {
                                              if (++attempts % 2 == 1) throw NodeError("Down", "!");
                                              return logged(state["log"].size());
                                            })
                                  .add_edge(START, "steady")
                                  .add_edge(START, "shaky")
                                  .compile({.checkpointer = saver_});
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_THROW(graph.invoke(logged(1), thread()), Error);
    graph.invoke(nullptr, thread());
  }
  EXPECT_EQ(lost_after(kEverything), "");
}

TEST_F(RecoveredFile, AStepThatWasEndedWithoutStoringItsWritesIsLost) {
  int attempts = 0;
  StateGraph<> builder({{"log", reduced(append, list())}});
  const CompiledGraph graph = builder.add_node("steady", writer(logged))
                                  .add_node("shaky",
                                            [&](const Value& state) {
                                              if (++attempts == 1) throw NodeError("Down", "!");
                                              return logged(state["log"].size());
                                            })
                                  .add_edge(START, "steady")
                                  .add_edge(START, "shaky")
                                  .compile({.checkpointer = saver_});
  EXPECT_THROW(graph.invoke(logged(1), thread()), Error);
  graph.invoke(nullptr, thread(Durability::exit));
  EXPECT_EQ(lost_after(kEverything), "log:1");
}

TEST_F(RecoveredFile, DeltaChannelsHoldNothingBetweenSnapshots) {
  const auto fold = [](const Value& current, std::span<const Value> writes) {
    Value all = current;
    for (const Value& write : writes) all = all.concat(write);
    return all;
  };
  const auto entry = [](std::size_t) { return Value{{"x", {"entry"}}}; };
  const CompiledGraph graph = Chain(delta(fold, list(), 3)).compile(saver_, entry, entry);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(logged(1), thread());
  EXPECT_EQ(lost_after(kEverything), "x:2");
}

// Whatever a thread does ---------------------------------------------------------------

// A small graph, and a thread of it that does this and that.
class RandomThread {
 public:
  RandomThread(unsigned seed, bool keeps_lists, std::shared_ptr<Checkpointer> saver)
      : random_(seed), keeps_lists_(keeps_lists), graph_(make_graph(std::move(saver))) {}

  void act() {
    try {
      switch (below(8)) {
        case 0: graph_->update_state(thread(), some_update(), as_node("n0")); break;
        case 1: graph_->update_state(any_state(), some_update(), as_node("n1")); break;
        case 2: graph_->invoke(nullptr, any_state()); break;
        case 3:
          graph_->invoke(Command{.update = {{"log", {"command"}}}, .resume = 1}, thread());
          break;
        case 4: graph_->invoke(some_update(), any_state()); break;
        default: graph_->invoke(some_update(), one_in(6) ? thread(Durability::exit) : thread());
      }
    } catch (const Error&) {
      // Tasks that write to one channel, or fail; the next run goes on from there.
    }
  }

 private:
  int below(int limit) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(random_() % static_cast<unsigned>(limit));
  }
  bool one_in(int times) { return below(times) == 0; }

  Config any_state() {
    const std::vector<StateSnapshot> states = states_of(*graph_);
    return states.empty() ? thread()
                          : states[static_cast<std::size_t>(below(int(states.size())))].config;
  }

  Value some_message() {
    const Value id = one_in(3) ? Value("m" + std::to_string(below(5)))
                               : Value("m" + std::to_string(below(1'000'000)));
    return AIMessage{.content = "text " + std::to_string(below(50)),
                     .id = has_ids_ ? std::optional(id.get<std::string>()) : std::nullopt};
  }

  Value some_update() {
    Value update = object();
    if (!one_in(3)) update = update.set("log", list({"entry " + std::to_string(below(9))}));
    if (one_in(10)) update = update.set("log", Overwrite{list({"anew"})});
    if (one_in(3)) update = update.set("n", below(5) - 2);
    if (one_in(3)) update = update.set("most", below(9) - 4);
    if (one_in(3)) update = update.set("text", "text " + std::to_string(below(3)));
    if (one_in(3))
      update = update.set("facts", object({{"f" + std::to_string(below(3)), below(2)}}));
    if (one_in(3))
      update = update.set("last", object({{"l" + std::to_string(below(3)), below(2)}}));
    if (one_in(3)) update = update.set("flag", one_in(2));
    if (one_in(2)) update = update.set("messages", list({some_message()}));
    if (keeps_lists_ && one_in(2)) update = update.set("plan", list({below(3), "then"}));
    return update;
  }

  Value run_node(Runtime& runtime) {
    if (one_in(12)) throw NodeError("Down", "try again");
    if (one_in(12)) return {{"log", list({runtime.interrupt("?")})}};
    return some_update();
  }

  StateGraph<> channels() {
    return StateGraph<>({{"log", reduced(append, list())},
                         {"n", reduced(add, 0)},
                         {"most", reduced(max)},
                         {"text", last_value()},
                         {"facts", reduced(merge, object())},
                         {"last", any_or_last()},
                         {"flag", last_value()},
                         {"messages", reduced(add_messages, list())},
                         {"plan", last_value()}});
  }

  ChannelPtr any_or_last() { return one_in(3) ? any_value() : last_value(); }

  CompiledGraph make_graph(std::shared_ptr<Checkpointer> saver) {
    has_ids_ = !one_in(4);
    const auto node = [this](const Value&, Runtime& runtime) { return run_node(runtime); };
    StateGraph<> inside = channels();
    inside.add_node("inner", node).add_edge(START, "inner");
    const int count = 2 + below(3);
    StateGraph<> graph = channels();
    for (int i = 0; i < count; ++i) graph.add_node("n" + std::to_string(i), node);
    graph.add_node("sent", node).add_node("sub", inside.compile()).add_node("joined", node);
    graph.add_edge(START, "n0");
    for (int i = 1; i < count; ++i) {
      graph.add_edge("n" + std::to_string(one_in(2) ? 0 : i - 1), "n" + std::to_string(i));
    }
    graph.add_conditional_edges("n0", [this](const Value&) {
      std::vector<Send> sends;
      for (int i = below(4); i > 1; --i) sends.push_back({"sent", object({{"log", list()}})});
      return sends;
    });
    if (one_in(2)) graph.add_edge("n1", "sub");
    if (one_in(2)) graph.add_edge({"n0", "n1"}, "joined");
    return graph.compile({.checkpointer = std::move(saver)});
  }

  std::mt19937 random_;
  std::mutex mutex_;
  const bool keeps_lists_;
  bool has_ids_ = true;
  std::optional<CompiledGraph> graph_;
};

std::string any_deletion(std::mt19937& random) {
  const std::string part = std::to_string(2 + random() % 3);
  std::string sql = "DELETE FROM checkpoint_blobs";
  if (random() % 2 == 0) {
    sql += " WHERE CAST(substr(version, 35) * 1e16 AS INTEGER) % " + part + " = 0";
  } else if (random() % 3 == 0) {
    sql += " WHERE channel NOT IN ('messages', 'n')";
  }
  if (random() % 4 > 0) return sql;
  return sql + "; DELETE FROM checkpoint_writes WHERE task_id LIKE '%" + part + "'";
}

class RandomRecovery : public RecoveredFile {
 protected:
  void run(unsigned seed, bool assumes_the_usual) {
    std::mt19937 random(seed);
    open_anew();
    {
      // What is usual is true of this thread if it is assumed.
      RandomThread thread(seed, !assumes_the_usual, saver_);
      for (int n = 0; n < 12; ++n) thread.act();
    }
    RecoverOptions options{.assumes_the_usual = assumes_the_usual};
    if (random() % 3 == 0) options.reducers = {{"n", add}, {"text", nullptr}, {"facts", merge}};
    const std::string sql = any_deletion(random);
    lost_after(sql, options);
    recovered_ += recovery_.recovered;
    lost_ += recovery_.lost.size();
    ASSERT_FALSE(HasFailure()) << "seed " << seed << ": " << sql;
  }

  std::size_t recovered_ = 0;
  std::size_t lost_ = 0;
};

TEST_F(RandomRecovery, AValueIsWhatItWasOrLost) {
  for (unsigned seed = 0; seed < 40 && !HasFailure(); ++seed) run(seed, true);
  EXPECT_GT(recovered_, lost_ / 2);
}

TEST_F(RandomRecovery, AValueIsWhatItWasOrLostIfNothingIsAssumed) {
  for (unsigned seed = 0; seed < 40 && !HasFailure(); ++seed) run(seed, false);
  EXPECT_GT(recovered_, 0U);
}

}  // namespace
}  // namespace clew

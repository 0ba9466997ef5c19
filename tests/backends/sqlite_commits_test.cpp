// How many commits a run takes, and what shares one.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/database.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

class Commits : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open() {
    return SqliteSaver::open(path_, {.synchronous = SqliteSynchronous::off});
  }

  static std::uint64_t of_run(const CompiledGraph& graph, const SqliteSaver& saver) {
    const std::uint64_t before = saver.commits();
    graph.invoke({{"x", 0}}, {.thread_id = "t", .durability = Durability::sync});
    return saver.commits() - before;
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
};

Update add_one(const Value& state) { return Update{{"x", state["x"].as_int() + 1}}; }

StateGraph<> chain(const std::vector<std::string>& names) {
  StateGraph<> graph({{"x", last_value()}});
  std::string before(START);
  for (const std::string& name : names) {
    graph.add_node(name, add_one).add_edge(before, name);
    before = name;
  }
  graph.add_edge(before, END);
  return graph;
}

TEST_F(Commits, AStepIsOneCommitAndTheInputGoesWithTheFirst) {
  const auto saver = open();
  EXPECT_EQ(of_run(chain({"a", "b", "c"}).compile({.checkpointer = saver}), *saver), 4U);
}

TEST_F(Commits, TheLastStepOfASubgraphSharesTheCommitOfTheStepAround) {
  const auto saver = open();
  const CompiledGraph inner = chain({"leaf"}).compile();
  const CompiledGraph outer = chain({"before"})
                                  .add_node("inner", inner)
                                  .add_edge("before", "inner")
                                  .add_edge("inner", END)
                                  .compile({.checkpointer = saver});
  // START; before; the input and START of the subgraph; its leaf with the step around it.
  EXPECT_EQ(of_run(outer, *saver), 4U);
  EXPECT_EQ(saver->list("t", std::nullopt, {}).size(), 4U + 3U);
}

// Counts its own runs.
CompiledGraph counter(SubgraphPersistence persistence) {
  CompileOptions options;
  options.subgraph_persistence = persistence;
  return StateGraph<>({{"before", reduced(add, 0)}, {"runs", last_value()}})
      .add_node("count",
                [](const Value& state) {
                  return Update{{"before", 1}, {"runs", state["before"].as_int() + 1}};
                })
      .add_edge(START, "count")
      .compile(options);
}

TEST_F(Commits, AGraphWithAHistoryOfItsOwnFindsWhatItStoredLast) {
  constexpr int kRounds = 10;
  for (const Durability durability : {Durability::sync, Durability::async}) {
    StateGraph<> graph({{"x", last_value()}, {"runs", last_value()}});
    graph.add_node("inner", counter(SubgraphPersistence::own));
    graph.add_node("next", add_one);
    graph.add_edge(START, "inner").add_edge("inner", "next");
    graph.add_conditional_edges("next", [](const Value& state) {
      return state["x"].as_int() < kRounds ? "inner" : std::string(END);
    });
    const CompiledGraph compiled = graph.compile({.checkpointer = open()});
    const std::string thread_id(Value(durability).as_string());
    const Value result = compiled.invoke(
        {{"x", 0}}, {.thread_id = thread_id, .recursion_limit = 100, .durability = durability});
    EXPECT_EQ(result["runs"], Value(kRounds));
  }
}

TEST_F(Commits, WhatAGraphThatANodeCallsMadeIsStoredWhenTheCallReturns) {
  const auto saver = open();
  std::size_t stored = 0;
  StateGraph<> graph({{"x", last_value()}});
  graph.add_node("call", [&](const Value& state, Runtime& runtime) {
    Value result = chain({"leaf"}).compile().invoke(state, runtime);
    stored = saver->list("t", std::nullopt, {}).size();
    return result;
  });
  graph.add_edge(START, "call");
  of_run(graph.compile({.checkpointer = saver}), *saver);
  EXPECT_EQ(stored, 2U + 3U);
}

TEST_F(Commits, WhatCannotBeEncodedKeepsOnlyWhatBuildsOnItFromBeingStored) {
  const auto saver = open();
  StateGraph<> graph({{"x", last_value()}});
  graph.add_node("good", add_one);
  graph.add_node("bad", [](const Value&) { return Update{{"x", "caf\xE9"}}; });
  graph.add_edge(START, "good").add_edge("good", "bad");
  const CompiledGraph compiled = graph.compile({.checkpointer = saver});
  for (const Durability durability : {Durability::sync, Durability::async}) {
    const Config thread{.thread_id = std::string(Value(durability).as_string()),
                        .durability = durability};
    try {
      compiled.invoke({{"x", 0}}, thread);
      FAIL() << "it was stored";
    } catch (const SerdeError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("node 'bad' wrote to channel 'x'"));
    }
    EXPECT_EQ(compiled.get_state(thread).values["x"], Value(1));
    EXPECT_EQ(compiled.get_state(thread).next, std::vector<std::string>{"bad"});
  }
}

TEST_F(Commits, AnErrorThatIsNotUtf8TakesNoFinishedWorkWithIt) {
  for (const Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    const auto saver = open();
    std::atomic<int> runs{0};
    std::atomic<bool> fails{true};
    StateGraph<> graph({{"x", reduced(append, list())}});
    graph.add_node("a", [&](const Value&) {
      ++runs;
      return Update{{"x", {"a"}}};
    });
    graph.add_node("b", [&](const Value&) {
      while (runs == 0) std::this_thread::yield();
      if (fails) throw std::runtime_error("caf\xE9");
      return Update{{"x", {"b"}}};
    });
    graph.add_edge(START, "a").add_edge(START, "b");
    const CompiledGraph compiled = graph.compile({.checkpointer = saver});
    const Config thread{.thread_id = std::string(Value(durability).as_string()),
                        .durability = durability};
    EXPECT_THROW(compiled.invoke({{"x", list()}}, thread), std::runtime_error);
    fails = false;
    EXPECT_EQ(compiled.invoke(nullptr, thread)["x"], list({"a", "b"}));
    EXPECT_EQ(runs, 1);
  }
}

TEST_F(Commits, ReadsThatComeAgainAndAgainLeaveTheConnectionToWriters) {
  sqlite::Database database(path_, {});
  const auto look = [](sqlite::Connection&) { return true; };
  for (int commit = 0; commit < 3; ++commit) {
    int reads = 0;
    while (reads < 100 && database.read_at_hand(look)) ++reads;
    EXPECT_GT(reads, 0);
    EXPECT_LT(reads, 100);
    EXPECT_FALSE(database.read_at_hand(look));
    database.write([](sqlite::Connection&) {});
  }
}

TEST_F(Commits, AChangeThatFailsAmongOthersIsUndoneAlone) {
  sqlite::Database database(path_, {});
  database.write([](sqlite::Connection& connection) {
    connection.execute("CREATE TABLE numbers (n INTEGER)");
  });
  constexpr int kWriters = 8;
  constexpr int kRounds = 50;
  std::atomic<int> failures{0};
  {
    std::vector<std::jthread> writers;
    for (std::int64_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        for (int round = 0; round < kRounds; ++round) {
          try {
            database.write_repeatable([&](sqlite::Connection& connection) {
              connection.run("INSERT INTO numbers VALUES (?)", writer);
              if (writer == 0) throw StorageError("after it has written");
            });
          } catch (const StorageError&) {
            ++failures;
          }
        }
      });
    }
  }
  EXPECT_EQ(failures, kRounds);
  const auto count = [&](std::string_view sql) {
    return database.read([&](sqlite::Connection& connection) { return connection.value(sql); });
  };
  EXPECT_EQ(count("SELECT count(*) FROM numbers"), std::to_string((kWriters - 1) * kRounds));
  EXPECT_EQ(count("SELECT count(*) FROM numbers WHERE n = 0"), "0");
}

}  // namespace
}  // namespace clew

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

// The row of a thread leaves out what a run that goes on has stored last; the view `threads`
// counts it whatever happens to the run, to the rows, and to the view itself.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/encrypted.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

class ThreadCounts : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open() {
    return SqliteSaver::open(path_, {.synchronous = SqliteSynchronous::off});
  }

  // Checkpoint `n`, with what a task wrote to get there, and a node that waits to run.
  static CheckpointPut followed(int n, int parent) {
    CheckpointPut made = make_put("t", n, parent, {{"n", n}, {"branch:to:next", Value()}});
    made.checkpoint.ts = "2026-11-18T23:44:34." + std::to_string(100'000 + n) + "+00:00";
    if (parent > 0) {
      made.writes.push_back({.key = made.key,
                             .task_id = "task" + std::to_string(parent),
                             .writes = {{"n", n}, {"other", "text"}},
                             .node = "node"});
    }
    return made;
  }

  static void put_steps(Checkpointer& saver, int first, int last) {
    for (int n = first; n <= last; ++n) put(saver, followed(n, n - 1));
  }

  // Of the row itself.
  std::int64_t counted() {
    return saver_->query("SELECT checkpoints FROM clew_threads")[0]["checkpoints"].as_int();
  }

  // What is wrong with the thread: with its counters, status and newest checkpoint among the rest.
  std::string problems(const std::string& thread_id = "t") {
    std::string lines;
    for (const StoredProblem& problem : saver_->verify(thread_id).problems)
      lines += problem.what + "\n";
    return lines + odd_info(thread_id);
  }

  // What is told of the thread and is not that of its newest checkpoint.
  std::string odd_info(const std::string& thread_id) {
    const auto newest = saver_->get_tuple({thread_id});
    for (const ThreadInfo& info : saver_->list_threads({})) {
      if (info.thread_id != thread_id || !newest) continue;
      if (info.updated_at != newest->checkpoint.ts) return "odd time " + info.updated_at + "\n";
      if (info.metadata != newest->metadata) return "odd metadata " + to_json(info.metadata) + "\n";
    }
    return "";
  }

  void execute(const std::string& sql) { execute_sql(path_, sql); }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
  std::shared_ptr<SqliteSaver> saver_ = open();
};

TEST_F(ThreadCounts, AreTrueInTheMidstOfARun) {
  std::vector<std::int64_t> counted_by_row;
  StateGraph<> chain({{"n", last_value()}});
  for (int i = 0; i < 5; ++i) {
    const std::string name = "n" + std::to_string(i);
    chain.add_node(name, [&, i](const Value&) {
      EXPECT_EQ(problems(), "");
      counted_by_row.push_back(counted());
      const ThreadInfo info = saver_->list_threads({}).at(0);
      EXPECT_EQ(info.checkpoint_id, saver_->get_tuple({"t"})->key.checkpoint_id);
      EXPECT_EQ(info.updated_at, saver_->get_tuple({"t"})->checkpoint.ts);
      EXPECT_EQ(info.metadata["step"], Value(i));
      return Update{{"n", i}};
    });
    chain.add_edge(i == 0 ? START : "n" + std::to_string(i - 1), name);
  }
  chain.add_edge("n4", END);
  const CompiledGraph graph = chain.compile({.checkpointer = saver_});
  graph.invoke({{"n", 0}}, Config{.thread_id = "t", .durability = Durability::sync});
  EXPECT_EQ(counted_by_row, (std::vector<std::int64_t>{2, 2, 2, 2, 2}));
  EXPECT_EQ(counted(), 7);
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, NeverLeaveOutMoreThanAFew) {
  for (int n = 1; n <= 300; ++n) {
    put(*saver_, followed(n, n - 1));
    EXPECT_LT(n - counted(), 16);
  }
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, OfARunThatDiedAreTrueAndGoOn) {
  put_steps(*saver_, 1, 5);
  EXPECT_EQ(counted(), 1);
  saver_ = open();
  EXPECT_EQ(problems(), "");
  put(*saver_, followed(6, 5));
  EXPECT_EQ(counted(), 6);
  put(*saver_, followed(7, 6));
  EXPECT_EQ(counted(), 6);
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, OfThreadsOfAnEncryptedFileAreTrue) {
  saver_.reset();
  path_ += ".encrypted";
  saver_ = SqliteSaver::open(path_, {.serializer = std::make_shared<EncryptedSerializer>(
                                         std::make_shared<AesEaxCipher>(std::string(16, 'k'))),
                                     .synchronous = SqliteSynchronous::off});
  put_steps(*saver_, 1, 5);
  EXPECT_EQ(counted(), 1);
  EXPECT_EQ(problems(), "");
}

// Each is then stored alone.
TEST_F(ThreadCounts, OfThoseWhoShareACommitWithOneThatFailsAreTrue) {
  execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON checkpoints WHEN NEW.thread_id = 'refused' BEGIN"
      " SELECT RAISE(ABORT, 'refused'); END");
  const auto put_as = [this](const std::string& thread_id, int n) {
    CheckpointPut one = followed(n, n - 1);
    one.key.thread_id = thread_id;
    for (WritesPut& writes : one.writes) writes.key = one.key;
    put(*saver_, one);
  };
  std::vector<std::jthread> writers;
  for (int i = 0; i < 6; ++i) {
    writers.emplace_back([&, i] {
      for (int n = 1; n <= 30; ++n) put_as("t" + std::to_string(i), n);
    });
  }
  writers.emplace_back([&] {
    for (int n = 1; n <= 30; ++n) EXPECT_THROW(put_as("refused", 1), StorageError);
  });
  writers.clear();
  for (int i = 0; i < 6; ++i) EXPECT_EQ(problems("t" + std::to_string(i)), "");
}

TEST_F(ThreadCounts, OfSaversThatTakeTurnsAreTrue) {
  const auto other = open();
  for (int n = 1; n <= 12; ++n) {
    put(n % 3 == 0 ? *other : *saver_, followed(n, n - 1));
    EXPECT_EQ(problems(), "") << n;
  }
}

TEST_F(ThreadCounts, OfSeveralCheckpointsAtATimeAreTrue) {
  std::vector<CheckpointPut> puts;
  for (int n = 1; n <= 6; ++n) puts.push_back(followed(n, n - 1));
  saver_->put(std::span(puts).subspan(0, 3));
  saver_->put(std::span(puts).subspan(3, 2));
  // One of a graph inside comes with it: the row is written.
  puts[5].key.checkpoint_ns = "inside";
  puts[5].writes.clear();
  saver_->put(std::span(puts).subspan(5));
  const CheckpointPut both[] = {followed(6, 5), puts[5]};
  saver_->put(both);
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, AQuestionIsSeenAtOnce) {
  put_steps(*saver_, 1, 5);
  put_writes(*saver_, "t", 5, {{"__interrupt__", "which?"}}, "asks");
  EXPECT_EQ(saver_->list_threads({}).at(0).status, ThreadStatus::interrupted);
  EXPECT_EQ(problems(), "");
  put(*saver_, followed(6, 5));
  EXPECT_EQ(saver_->list_threads({}).at(0).status, ThreadStatus::idle);
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, OfACopyAreTrue) {
  put_steps(*saver_, 1, 5);
  saver_->copy_thread("t", "copy");
  EXPECT_TRUE(saver_->verify("copy").problems.empty());
  EXPECT_EQ(problems(), "");
}

// Its time cannot be told from a column.
TEST_F(ThreadCounts, OfACheckpointWithAnOddTimeAreWrittenAtOnce) {
  put_steps(*saver_, 1, 3);
  CheckpointPut odd = followed(4, 3);
  odd.checkpoint.ts = "2026-11-18 23:44:34+01:00";
  put(*saver_, odd);
  EXPECT_EQ(counted(), 4);
  EXPECT_EQ(saver_->list_threads({}).at(0).updated_at, odd.checkpoint.ts);
}

TEST_F(ThreadCounts, CanBeChangedBySqlLikeATable) {
  put_steps(*saver_, 1, 5);
  execute("UPDATE threads SET status = 'error' WHERE thread_id = 't'");
  EXPECT_EQ(counted(), 5);
  EXPECT_EQ(problems(), "is idle, and error in the table of threads\n");
  put(*saver_, followed(6, 5));
  EXPECT_EQ(problems(), "");
  execute("DELETE FROM threads");
  EXPECT_EQ(problems(), "is not in the table of threads\n");
  EXPECT_TRUE(saver_->repair("t").left.empty());
  EXPECT_EQ(problems(), "");
  execute("INSERT INTO threads (thread_id, gmt_create, gmt_modified) VALUES ('new', '', '')");
  EXPECT_EQ(saver_->query("SELECT checkpoints FROM threads WHERE thread_id = 'new'")[0],
            object({{"checkpoints", 0}}));
}

// That is what a process of version 3 does: it would count twice.
TEST_F(ThreadCounts, AreNotChangedThroughTheView) {
  put_steps(*saver_, 1, 5);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(database, "UPDATE threads SET checkpoints = checkpoints + 1", nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  EXPECT_THAT(sqlite3_errmsg(database), testing::HasSubstr("kept by Clew"));
  EXPECT_NE(
      sqlite3_exec(database, "UPDATE threads SET checkpoint_id = ''", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(database);
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, OfADamagedStepKeepNobodyFromTheOthers) {
  put_steps(*saver_, 1, 5);
  execute("UPDATE checkpoints SET step_writes = '[\"x\"]' WHERE checkpoint_id = '" + test_id(4) +
          "'");
  saver_ = open();
  put_steps(*saver_, 6, 7);
  EXPECT_EQ(saver_->query("SELECT checkpoints FROM threads")[0]["checkpoints"], Value(7));
  EXPECT_EQ(saver_->query("SELECT writes FROM threads")[0]["writes"], Value(10));
}

// One that would take thousands of millions of bytes adds up to more than a number holds.
TEST_F(ThreadCounts, OfAStepWithDamagedLengthsKeepNobodyFromTheOthers) {
  put_steps(*saver_, 1, 5);
  execute(
      "UPDATE checkpoints SET new_blobs = replace(new_blobs, 'msgpack\",1,', 'msgpack\",1,"
      "9223372036854775807'), step_writes = replace(step_writes, 'msgpack\",1,',"
      " 'msgpack\",1,9223372036854775807') WHERE checkpoint_id = '" +
      test_id(4) + "'");
  saver_ = open();
  EXPECT_FALSE(saver_->verify("t").problems.empty());
  EXPECT_GT(saver_->query("SELECT sum(bytes) AS n FROM threads")[0]["n"], Value(0));
  put_steps(*saver_, 6, 7);
  EXPECT_EQ(saver_->query("SELECT checkpoints FROM threads")[0]["checkpoints"], Value(7));
}

TEST_F(ThreadCounts, OfAStepWithLengthsBelowZeroKeepNobodyFromTheOthers) {
  put_steps(*saver_, 1, 5);
  execute(
      "UPDATE checkpoints SET step_writes = json_set(step_writes, '$[0][3][0][4]',"
      " -9223372036854775807, '$[0][3][1][4]', -9223372036854775807) WHERE checkpoint_id = '" +
      test_id(4) + "'");
  saver_ = open();
  put_steps(*saver_, 6, 7);
  EXPECT_EQ(saver_->query("SELECT checkpoints FROM threads")[0]["checkpoints"], Value(7));
}

// The row is changed, not made anew, which would delete what refers to it.
TEST_F(ThreadCounts, AreCountedWithoutHarmToOtherPrograms) {
  execute(
      "CREATE TABLE notes (thread_id TEXT REFERENCES clew_threads (thread_id) ON DELETE CASCADE);"
      "CREATE TABLE heard (thread_id TEXT);"
      "CREATE TRIGGER hear AFTER INSERT ON clew_threads BEGIN"
      " INSERT INTO heard VALUES (NEW.thread_id); END");
  put_steps(*saver_, 1, 5);
  execute("INSERT INTO notes VALUES ('t')");
  execute("PRAGMA foreign_keys = ON; UPDATE checkpoint_writes SET node = 'x' WHERE idx = 0");
  EXPECT_EQ(counted(), 5);
  EXPECT_EQ(saver_->query("SELECT count(*) AS n FROM notes")[0]["n"], Value(1));
  EXPECT_EQ(saver_->query("SELECT count(*) AS n FROM heard")[0]["n"], Value(1));
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, OutliveThatRowsAreTakenApart) {
  put_steps(*saver_, 1, 5);
  execute("DELETE FROM clew_packed WHERE checkpoint_id = '" + test_id(4) + "'");
  EXPECT_EQ(problems(), "");
  put_steps(*saver_, 6, 7);
  EXPECT_EQ(problems(), "");
}

// Nothing of them is packed, so that nothing is taken apart.
TEST_F(ThreadCounts, OfWhatIsReplacedAreTrue) {
  const auto bare = [](int n) {
    CheckpointPut made = make_put("t", n, n - 1, {{"branch:to:next", Value()}});
    made.metadata = made.metadata.set("note", std::string(static_cast<std::size_t>(n) * 10, 'x'));
    return made;
  };
  for (int n = 1; n <= 5; ++n) put(*saver_, bare(n));
  CheckpointPut again = bare(4);
  again.metadata = object({{"shorter", true}});
  put(*saver_, again);
  EXPECT_EQ(problems(), "");
  put(*saver_, bare(6));
  EXPECT_EQ(problems(), "");
}

// What comes late is found behind the checkpoint that it belongs to, whose next one is taken apart.
TEST_F(ThreadCounts, OfWritesOfEarlierStepsAreTrue) {
  put_steps(*saver_, 1, 5);
  CheckpointPut next = followed(6, 5);
  next.writes[0].key.checkpoint_id = test_id(3);
  next.writes[0].task_id = "late";
  put(*saver_, next);
  EXPECT_EQ(problems(), "");
  put(*saver_, followed(7, 6));
  EXPECT_EQ(problems(), "");
}

TEST_F(ThreadCounts, OfAFileOfVersion3AreTakenOver) {
  put_steps(*saver_, 1, 5);
  put_writes(*saver_, "t", 5, {{"__interrupt__", "which?"}}, "asks");
  saver_.reset();
  execute(
      "DROP VIEW threads; DROP VIEW clew_uncounted; PRAGMA legacy_alter_table = ON;"
      "ALTER TABLE clew_threads RENAME TO threads; UPDATE clew_schema SET version = 3;"
      "CREATE VIEW mine AS SELECT sum(checkpoints) AS checkpoints FROM threads;"
      "CREATE TABLE notes (thread_id TEXT REFERENCES threads (thread_id) ON DELETE CASCADE)");
  saver_ = open();
  EXPECT_EQ(problems(), "");
  execute("PRAGMA foreign_keys = ON; INSERT INTO notes VALUES ('t')");
  put_steps(*saver_, 6, 8);
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(saver_->query("SELECT checkpoints FROM mine")[0]["checkpoints"], Value(8));
}

}  // namespace
}  // namespace clew

// What a saver knows of heads without looking must be what the file holds, whoever changes it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/layout.hpp"
#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

using sqlite::Connection;
using sqlite::Database;

class KnownHeads : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open() {
    return SqliteSaver::open(path_, {.synchronous = SqliteSynchronous::off});
  }

  // Checkpoint `n` after `parent`, which must be the newest, with what a task wrote to get there.
  // A list grows, so that it is worth storing differences.
  static CheckpointPut step(int n, int parent) {
    Value log = list();
    for (int i = 1; i <= n; ++i) log = log.append("line " + std::to_string(i) + " of the log");
    CheckpointPut made = make_put("t", n, parent, {{"log", log}, {"n", n}});
    made.expected_head = test_id(parent);
    if (parent > 0) {
      made.writes.push_back({.key = made.key,
                             .task_id = "task" + std::to_string(parent),
                             .writes = {{"n", n}},
                             .node = "node"});
    }
    return made;
  }

  static void put_steps(Checkpointer& saver, int first, int last) {
    for (int n = first; n <= last; ++n) put(saver, step(n, n - 1));
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
  std::shared_ptr<SqliteSaver> saver_ = open();
};

TEST_F(KnownHeads, WhatAnotherSaverStoredIsAConflict) {
  put_steps(*saver_, 1, 8);
  put(*open(), step(9, 8));
  EXPECT_THROW(put(*saver_, step(10, 8)), ThreadConflict);
  put(*saver_, step(10, 9));
  EXPECT_EQ(number_of(saver_->get_tuple({"t"})->key.checkpoint_id), 10);
}

TEST_F(KnownHeads, WhatWasDeletedBySqlIsAConflict) {
  put_steps(*saver_, 1, 8);
  execute_sql(path_, "DELETE FROM checkpoints WHERE checkpoint_id = '" + test_id(8) + "'");
  EXPECT_THROW(put(*saver_, step(9, 8)), ThreadConflict);
}

TEST_F(KnownHeads, WhatThisSaverDeletedIsAConflict) {
  put_steps(*saver_, 1, 8);
  saver_->delete_thread("t");
  EXPECT_THROW(put(*saver_, step(9, 8)), ThreadConflict);
  put(*saver_, step(9, 0));
  EXPECT_EQ(number_of(saver_->get_tuple({"t"})->key.checkpoint_id), 9);
}

TEST_F(KnownHeads, WhatWasRefusedIsNoHead) {
  put_steps(*saver_, 1, 8);
  const std::vector<CheckpointPut> puts = {step(9, 8), step(11, 10)};
  EXPECT_THROW(saver_->put(puts), ThreadConflict);
  EXPECT_EQ(number_of(saver_->get_tuple({"t"})->key.checkpoint_id), 9);
  put(*saver_, step(10, 9));
  EXPECT_TRUE(saver_->verify("t").problems.empty());
}

TEST_F(KnownHeads, WritesThatWereThereFirstAreFound) {
  put_writes(*saver_, "t", 4, {{"early", 1}}, "early");
  put_steps(*saver_, 1, 6);
  EXPECT_EQ(render(*open()->get_tuple({"t", "", test_id(4)})).substr(0, 4), "4 <3");
  const auto pending = open()->get_tuple({"t", "", test_id(4)})->pending_writes;
  ASSERT_EQ(pending.size(), 2U);
  EXPECT_EQ(pending[0].task_id, "early");
  EXPECT_EQ(pending[1].task_id, "task4");
  EXPECT_TRUE(saver_->verify("t").problems.empty());
}

TEST_F(KnownHeads, WhatATaskWroteBeforeIsStoredOnce) {
  for (const int first : {1, 5}) {
    put_steps(*saver_, first, first + 2);
    put_writes(*saver_, "t", first + 2, {{"n", "before"}}, "task" + std::to_string(first + 2));
    put(*saver_, step(first + 3, first + 2));
    const auto pending = saver_->get_tuple({"t", "", test_id(first + 2)})->pending_writes;
    ASSERT_EQ(pending.size(), 1U);
    EXPECT_EQ(pending[0].value, Value("before"));
  }
}

// They come with a checkpoint of another namespace.
TEST_F(KnownHeads, WhatATaskWroteElsewhereIsStoredOnce) {
  const auto inside = [](int n) {
    CheckpointPut made = step(n, n - 1);
    made.key.checkpoint_ns = "sub";
    for (WritesPut& writes : made.writes) writes.key = made.key;
    return made;
  };
  for (int n = 1; n <= 4; ++n) put(*saver_, inside(n));
  CheckpointPut around = step(1, 0);
  around.writes.push_back(inside(5).writes[0]);
  put(*saver_, around);
  put(*saver_, inside(5));
  EXPECT_EQ(saver_->get_tuple({"t", "sub", test_id(4)})->pending_writes.size(), 1U);
}

TEST_F(KnownHeads, WhatComesWithAnOlderCheckpointIsFound) {
  put_steps(*saver_, 1, 2);
  put(*saver_, step(5, 2));
  put(*saver_, step(4, 5));
  EXPECT_EQ(open()->get_tuple({"t", "", test_id(5)})->pending_writes.size(), 1U);
}

// A checkpoint is replaced after the difference from it was made.
TEST_F(KnownHeads, WhatWasReplacedMeanwhileIsNoBase) {
  const auto wide = [](int n) {
    CheckpointPut made = make_put("t", n, n - 1);
    for (int i = 0; i < 40; ++i) {
      const std::string channel = "channel" + std::to_string(i);
      const Value version(i == n ? "2" : "1");
      made.checkpoint.channel_versions = made.checkpoint.channel_versions.set(channel, version);
      made.checkpoint.channel_values = made.checkpoint.channel_values.set(channel, i);
      if (n == 1 || i == n) made.new_versions = made.new_versions.set(channel, version);
    }
    return made;
  };
  Database database(path_, {});
  const auto layout = sqlite::make_native_layout(database, std::make_shared<JsonPlusSerializer>());
  const auto store = [&](const Database::Change& change) {
    database.write_repeatable([&](Connection& connection) {
      layout->begin_puts();
      change(connection);
      layout->finish_puts(connection);
    });
  };
  const CheckpointPut puts[] = {wide(1), wide(2), wide(3)};
  for (const CheckpointPut& one : puts) store(layout->put(one));
  const CheckpointPut next = wide(4);
  const Database::Change prepared = layout->put(next);
  const CheckpointPut again = make_put("t", 3, 0, {{"other", 1}});
  store(layout->put(again));
  store(prepared);
  EXPECT_EQ(open()->get_tuple({"t", "", test_id(4)})->checkpoint.channel_versions,
            next.checkpoint.channel_versions);
}

}  // namespace
}  // namespace clew

// What the LangGraph layout reads from memory is what the file holds, whoever changes it.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/encrypted.hpp>
#include <clew/json.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/checkpoint_cache.hpp"
#include "checkpoint/sqlite/database.hpp"
#include "checkpoint/sqlite/layout.hpp"
#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

using sqlite::CheckpointCache;
using sqlite::CheckpointRow;
using sqlite::Connection;
using sqlite::Database;
using sqlite::Era;
using sqlite::PlaceCache;

// The caches ----------------------------------------------------------------------

int look(PlaceCache<int>& cache, const CheckpointKey& key) {
  return cache.look(key, [](int content) { return content; }).value_or(0);
}

TEST(PlaceCache, KeepsOneCheckpointOfEachPlaceAndThoseUsedLast) {
  PlaceCache<int> cache(10'000);
  cache.remember({"t", ""}, "1", 1, 100);
  cache.remember({"t", "ns"}, "1", 2, 100);
  cache.remember({"t", ""}, "2", 3, 100);
  EXPECT_EQ(look(cache, {"t", "", "1"}), 0);
  EXPECT_EQ(look(cache, {"t", "", "2"}), 3);
  cache.remember({"u", ""}, "1", 4, 4000);
  EXPECT_EQ(look(cache, {"t", "ns", "1"}), 2);
  cache.remember({"v", ""}, "1", 5, 4500);  // the one of the root of "t" goes
  EXPECT_EQ(look(cache, {"t", "", "2"}), 0);
  EXPECT_EQ(look(cache, {"t", "ns", "1"}), 2);
  cache.remember({"w", ""}, "1", 6, 20'000);
  EXPECT_EQ(look(cache, {"t", "ns", "1"}), 0);
  EXPECT_EQ(look(cache, {"w", "", "1"}), 6);
}

TEST(PlaceCache, ForgetsPlacesAndThreads) {
  PlaceCache<int> cache(10'000);
  cache.remember({"t", ""}, "1", 1, 0);
  cache.remember({"t", "ns"}, "1", 2, 0);
  cache.remember({"u", ""}, "1", 3, 0);
  cache.forget({"t", "ns", "any"});
  EXPECT_EQ(look(cache, {"t", "", "1"}), 1);
  EXPECT_EQ(look(cache, {"t", "ns", "1"}), 0);
  cache.forget_thread("t");
  EXPECT_EQ(look(cache, {"t", "", "1"}), 0);
  EXPECT_EQ(cache.take({"u", "", "1"}), 3);
  EXPECT_EQ(cache.take({"u", "", "1"}), std::nullopt);
}

CheckpointCache::Row row(const std::string& parent_id) {
  return std::make_shared<CheckpointRow>(
      CheckpointRow{.checkpoint = {}, .parent_id = parent_id, .metadata = "{}"});
}

std::string known(CheckpointCache& cache, const Era& era) {
  const auto found = cache.look({"t", "", "1"}, era);
  return found ? found->parent_id : "none";
}

TEST(CheckpointCache, ALookFindsWhatIsOfItsEra) {
  CheckpointCache cache(10'000);
  cache.store({"t"}, "1", row("a"), 5);
  EXPECT_EQ(known(cache, {.first = 1, .last = 4}), "none");  // not committed when it began
  EXPECT_EQ(known(cache, {.first = 1, .last = 5}), "a");
  EXPECT_EQ(known(cache, {.first = 5, .last = 9}), "a");
  EXPECT_EQ(known(cache, {.first = 6, .last = 9}), "none");
}

TEST(CheckpointCache, WhatWasReadBeforeAChangeIsNotRemembered) {
  const Era era{.first = 1, .last = 9};
  CheckpointCache cache(10'000);
  cache.change({"t"}, 5);
  cache.read({"t", "", "1"}, row("old"), 4);
  EXPECT_EQ(known(cache, era), "none");
  cache.read({"t", "", "1"}, row("new"), 5);
  EXPECT_EQ(known(cache, era), "new");
  cache.change({"t"}, 6);
  EXPECT_EQ(known(cache, era), "none");
}

// Whose commits they are ----------------------------------------------------------

class OwnCommits : public testing::Test {
 protected:
  OwnCommits() {
    write("CREATE TABLE numbers (n INTEGER)");
    write("INSERT INTO numbers VALUES (0)");
  }

  void write(std::string_view sql) {
    database_.write_repeatable([&](Connection& connection) { connection.run(sql); });
  }
  void write_elsewhere() { execute_sql(path_, "INSERT INTO numbers VALUES (1)"); }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "numbers.db").string();
  Database database_{path_, {}};
};

TEST_F(OwnCommits, AnEraLastsWhileNobodyElseCommits) {
  const auto begin = database_.era();
  ASSERT_TRUE(begin);
  write("INSERT INTO numbers VALUES (2)");
  write("DELETE FROM numbers WHERE n = 7");  // changes nothing
  EXPECT_EQ(database_.era(), (Era{begin->first, begin->last + 2}));
  database_.read([](Connection& connection) { return connection.value("SELECT n FROM numbers"); });
  EXPECT_EQ(database_.era(), (Era{begin->first, begin->last + 2}));
}

TEST_F(OwnCommits, AnotherConnectionEndsIt) {
  const auto begin = database_.era();
  write_elsewhere();
  EXPECT_FALSE(database_.era());
  write("INSERT INTO numbers VALUES (3)");
  EXPECT_EQ(database_.era(), (Era{begin->last + 1, begin->last + 1}));
}

TEST_F(OwnCommits, ADatabaseOfTheSameProcessEndsIt) {
  Database other(path_, {});
  other.write([](Connection& connection) { connection.run("INSERT INTO numbers VALUES (1)"); });
  EXPECT_FALSE(database_.era());
  EXPECT_TRUE(other.era());
  write("INSERT INTO numbers VALUES (3)");
  EXPECT_TRUE(database_.era());
  EXPECT_FALSE(other.era());
}

TEST_F(OwnCommits, WhatWasUndoneIsOfNoEra) {
  std::uint64_t undone = 0;
  const auto fail = [&](Connection& connection) {
    connection.run("INSERT INTO numbers VALUES (4)");
    undone = database_.transaction();
    throw ValueError("no");
  };
  EXPECT_THROW(database_.write(fail), ValueError);
  EXPECT_FALSE(database_.era() && database_.era()->contains(undone));
  write("INSERT INTO numbers VALUES (5)");
  ASSERT_TRUE(database_.era());
  EXPECT_FALSE(database_.era()->contains(undone));
  EXPECT_TRUE(database_.era()->contains(undone + 1));
}

TEST_F(OwnCommits, AChangeThatNobodyKeepsTrackOfEndsIt) {
  std::uint64_t transaction = 0;
  database_.write([&](Connection& connection) {
    connection.run("DELETE FROM numbers");
    transaction = database_.transaction();
  });
  const auto after = database_.era();
  ASSERT_TRUE(after);
  EXPECT_GT(after->first, transaction);
  EXPECT_EQ(after->first, after->last);  // what is read now can be relied on
  write("INSERT INTO numbers VALUES (3)");
  EXPECT_EQ(database_.era(), (Era{after->first, after->last + 1}));
}

// Those that share a transaction with it are run before and after, in whatever order they come.
TEST_F(OwnCommits, WhatWasNotedBeforeDoesNotHoldForThoseAfterIt) {
  const std::uint64_t before = database_.era()->last;
  bool is_deleted = false;
  int looks = 0;
  const auto look = [&] {
    database_.write_repeatable([&](Connection&) {
      EXPECT_EQ(database_.holds(before), !is_deleted);
      ++looks;
    });
  };
  const auto remove = [&] {
    database_.write([&](Connection& connection) {
      connection.run("DELETE FROM numbers");
      is_deleted = true;
    });
  };
  std::vector<std::jthread> threads;
  // While this one holds the file, the others queue up behind it.
  database_.write_repeatable([&](Connection&) {
    for (int i = 0; i < 4; ++i) threads.emplace_back(look);
    threads.emplace_back(remove);
    for (int i = 0; i < 4; ++i) threads.emplace_back(look);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  threads.clear();
  look();
  EXPECT_GE(looks, 9);
}

TEST_F(OwnCommits, AFileInMemoryHasNone) {
  Database database(":memory:", {});
  database.write_repeatable(
      [](Connection& connection) { connection.run("CREATE TABLE numbers (n INTEGER)"); });
  database.write_repeatable(
      [](Connection& connection) { connection.run("INSERT INTO numbers VALUES (1)"); });
  EXPECT_FALSE(database.era());
}

// As soon as we have committed, and before it is looked at what that has left.
TEST_F(OwnCommits, WhoCommitsRightAfterUsIsNotTakenForUs) {
  for (const bool writes_something : {true, false}) {
    Connection writer(path_, std::chrono::seconds(1));
    sqlite::OwnCommits own;
    const auto transaction = [&](bool somebody_is_quick) {
      writer.run("BEGIN IMMEDIATE");
      own.begin(writer);
      if (writes_something) writer.run("INSERT INTO numbers VALUES (6)");
      writer.run("COMMIT");
      if (somebody_is_quick) write_elsewhere();
      own.commit(writer);
      return own.era();
    };
    EXPECT_EQ(transaction(false), (Era{1, 1}));
    EXPECT_EQ(transaction(true), std::nullopt);
    EXPECT_EQ(transaction(false), (Era{3, 3}));
    EXPECT_EQ(transaction(false), (Era{3, 4}));
  }
}

// A file that several change ------------------------------------------------------

class LangGraphMemory : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open(std::shared_ptr<const Serializer> serializer = nullptr) {
    SqliteOptions options;
    options.layout = SqliteLayout::langgraph;
    options.serializer = std::move(serializer);
    return SqliteSaver::open(path_, options);
  }

  // A list that is worth sharing, with one text in front.
  static Value values(const std::string& text) {
    ListBuilder list;
    for (int i = 0; i < 50; ++i) list.push_back("element " + std::to_string(i));
    return object({{"text", text}, {"list", std::move(list).build()}});
  }

  static std::string text(Checkpointer& saver, const std::string& thread_id = "t",
                          const std::string& id = "") {
    const auto tuple = saver.get_tuple({thread_id, "", id});
    return tuple ? tuple->checkpoint.channel_values.get<std::string>("text") : "none";
  }

  static Value list_of(Checkpointer& saver, const std::string& thread_id = "t") {
    return saver.get_tuple({thread_id})->checkpoint.channel_values["list"];
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
  std::shared_ptr<SqliteSaver> saver_ = open();
};

TEST_F(LangGraphMemory, WhatWasStoredIsNotReadAgain) {
  const Value stored = values("one");
  put(*saver_, make_put("t", 1, 0, stored));
  EXPECT_TRUE(same(list_of(*saver_), stored["list"]));
  EXPECT_TRUE(same(list_of(*saver_), stored["list"]));
  put(*saver_, make_put("u", 1, 0, values("other")));
  EXPECT_TRUE(same(list_of(*saver_), stored["list"]));
}

TEST_F(LangGraphMemory, WhatWasReadIsNotReadAgain) {
  put(*open(), make_put("t", 1, 0, values("one")));
  const auto saver = open();
  const Value first = list_of(*saver);
  EXPECT_TRUE(same(list_of(*saver), first));
}

TEST_F(LangGraphMemory, IsReadWithItsParentMetadataAndWrites) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  CheckpointPut two = make_put("t", 2, 1, object({{"a", 1}}));
  two.metadata = Value{{"source", "loop"}, {"bytes", 2}};
  put(*saver_, two);
  put_writes(*saver_, "t", 2, {{"a", 2}}, "task");
  const auto known = saver_->get_tuple({"t"});
  const auto read = open()->get_tuple({"t"});
  ASSERT_TRUE(known && read);
  EXPECT_EQ(render(*known), R"(2 <1 {"a":1} [task.a=2])");
  EXPECT_EQ(render(*known), render(*read));
  EXPECT_EQ(known->metadata, read->metadata);
  EXPECT_EQ(known->checkpoint.channel_versions, read->checkpoint.channel_versions);
  EXPECT_EQ(known->checkpoint.versions_seen, read->checkpoint.versions_seen);
  EXPECT_EQ(known->checkpoint.updated_channels, read->checkpoint.updated_channels);
  EXPECT_EQ(known->checkpoint.ts, read->checkpoint.ts);
}

TEST_F(LangGraphMemory, RowsAreWrittenAsTheSerializerWritesThem) {
  const auto fresh_file = (folder_.path / "fresh.db").string();
  Value all = values("one");
  for (int n = 1; n <= 20; ++n) {
    all = all.set("list", all["list"].append(n)).set("text", std::string(1000, 'x'));
    put(*saver_, make_put("t", n, n - 1, all));
    // A saver that has stored nothing yet has nothing to copy from.
    const auto fresh = SqliteSaver::open(fresh_file, {.layout = SqliteLayout::langgraph});
    put(*fresh, make_put("t", n, n - 1, all));
  }
  const std::string sql =
      "SELECT count(*) FROM checkpoints AS a JOIN fresh.checkpoints AS b USING (checkpoint_id) "
      "WHERE a.checkpoint = b.checkpoint";
  std::string equal;
  execute_sql(
      path_, "ATTACH '" + fresh_file + "' AS fresh; " + sql,
      [](void* to, int, char** found, char**) {
        *static_cast<std::string*>(to) = found[0];
        return 0;
      },
      &equal);
  EXPECT_EQ(equal, "20");
}

TEST_F(LangGraphMemory, AnotherSaverReplacesTheNewestRow) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  EXPECT_EQ(text(*saver_), "one");
  const auto other = open();
  put(*other, make_put("t", 1, 0, values("two")));
  EXPECT_EQ(text(*saver_), "two");
  EXPECT_EQ(text(*saver_, "t", test_id(1)), "two");
  EXPECT_EQ(text(*other), "two");
  // A commit of one's own does not hide it.
  put(*saver_, make_put("u", 1, 0));
  EXPECT_EQ(text(*saver_), "two");
}

// As Python does it, with content of the same length.
TEST_F(LangGraphMemory, AnotherProgramReplacesTheNewestRow) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  EXPECT_EQ(text(*saver_), "one");
  execute_sql(path_,
              "INSERT OR REPLACE INTO checkpoints SELECT thread_id, checkpoint_ns, checkpoint_id, "
              "parent_checkpoint_id, type, CAST(replace(checkpoint, 'one', 'two') AS BLOB), "
              "metadata FROM checkpoints");
  EXPECT_EQ(text(*saver_), "two");
  EXPECT_EQ(text(*saver_), "two");
}

TEST_F(LangGraphMemory, AnotherProgramReplacesWhatWasRead) {
  put(*open(), make_put("t", 1, 0, values("one")));
  const auto saver = open();
  EXPECT_EQ(text(*saver), "one");
  execute_sql(
      path_, "UPDATE checkpoints SET checkpoint = CAST(replace(checkpoint, 'one', 'two') AS BLOB)");
  EXPECT_EQ(text(*saver), "two");
}

TEST_F(LangGraphMemory, AnotherProgramDeletesTheNewestRow) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  put(*saver_, make_put("t", 2, 1, values("two")));
  execute_sql(path_, "DELETE FROM checkpoints WHERE checkpoint_id = '" + test_id(2) + "'");
  EXPECT_EQ(text(*saver_), "one");
  EXPECT_EQ(text(*saver_, "t", test_id(2)), "none");
}

TEST_F(LangGraphMemory, ACheckpointIsStoredAgain) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  put(*saver_, make_put("t", 2, 1, values("two")));
  put(*saver_, make_put("t", 1, 0, values("new")));
  EXPECT_EQ(text(*saver_), "two");
  EXPECT_EQ(text(*saver_, "t", test_id(1)), "new");
  put(*saver_, make_put("t", 2, 1, values("too")));
  EXPECT_EQ(text(*saver_), "too");
}

TEST_F(LangGraphMemory, ADeletedThreadIsGone) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  EXPECT_EQ(text(*saver_), "one");
  saver_->delete_thread("t");
  EXPECT_EQ(text(*saver_), "none");
  EXPECT_EQ(text(*saver_, "t", test_id(1)), "none");
  put(*saver_, make_put("s", 1, 0, values("two")));
  saver_->copy_thread("s", "t");
  EXPECT_EQ(text(*saver_), "two");
}

TEST_F(LangGraphMemory, WhatIsRemovedIsGone) {
  put_chain(*saver_, "t", 3);
  EXPECT_EQ(newest(*saver_, "t"), R"(3 <2 {"n":3})");
  EXPECT_EQ(saver_->size_after_prune("t", {.keep = 1}).checkpoints, 1U);
  EXPECT_EQ(newest(*saver_, "t"), R"(3 <2 {"n":3})");
  saver_->prune("t", {.keep = 1});
  EXPECT_EQ(newest(*saver_, "t"), R"(3 {"n":3})");

  CheckpointPut put_of_run = make_put("t", 4, 3, {{"n", 4}});
  put_of_run.metadata = object({{"run_id", "r"}});
  put(*saver_, put_of_run);
  EXPECT_EQ(newest(*saver_, "t"), R"(4 <3 {"n":4})");
  saver_->delete_for_runs(std::vector<std::string>{"r"});
  EXPECT_EQ(newest(*saver_, "t"), R"(3 {"n":3})");
}

TEST_F(LangGraphMemory, AParentThatIsForgottenIsForgotten) {
  put(*saver_, make_put("t", 1, 0, {{"n", 1}}));
  put(*saver_, make_put("t", 3, 2, {{"n", 3}}));
  EXPECT_EQ(newest(*saver_, "t"), R"(3 <2 {"n":3})");
  EXPECT_EQ(saver_->repair("t", {}).parents, 1U);
  EXPECT_EQ(newest(*saver_, "t"), R"(3 {"n":3})");
}

TEST_F(LangGraphMemory, ARefusedCheckpointIsNotRead) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  CheckpointPut refused = make_put("t", 1, 0, values("two"));
  refused.expected_head = test_id(7);
  EXPECT_THROW(put(*saver_, refused), ThreadConflict);
  EXPECT_EQ(text(*saver_), "one");
  refused.checkpoint.id = test_id(2);
  EXPECT_THROW(put(*saver_, refused), ThreadConflict);
  EXPECT_EQ(text(*saver_), "one");
  EXPECT_EQ(text(*saver_, "t", test_id(2)), "none");
}

// The table refuses a row only after others of the transaction are stored.
TEST_F(LangGraphMemory, WhatWasNotCommittedIsNotRead) {
  put(*saver_, make_put("t", 1, 0, values("one")));
  execute_sql(path_,
              "CREATE TRIGGER refuse BEFORE INSERT ON checkpoints WHEN new.thread_id = 'u' "
              "BEGIN SELECT raise(ABORT, 'refused'); END");
  put(*saver_, make_put("s", 1, 0));
  EXPECT_EQ(text(*saver_), "one");
  const std::vector<CheckpointPut> puts = {make_put("t", 1, 0, values("two")),
                                           make_put("u", 1, 0, values("two"))};
  EXPECT_THROW(saver_->put(puts), StorageError);
  EXPECT_EQ(text(*saver_), "one");
  put(*saver_, make_put("s", 2, 1));
  EXPECT_EQ(text(*saver_), "one");
}

// What comes back from a file in another form is read from there.
TEST_F(LangGraphMemory, ValuesAreReadInTheFormThatTheyAreStoredIn) {
  const Value bytearray = make_extension(ExtensionCode::bytearray, Value::bytes("x"));
  put(*saver_, make_put("t", 1, 0, object({{"b", bytearray}})));
  EXPECT_TRUE(saver_->get_tuple({"t"})->checkpoint.channel_values["b"].is_bytes());
}

TEST_F(LangGraphMemory, AnEncryptedFileIsReadLikeAnyOther) {
  const auto serializer =
      std::make_shared<EncryptedSerializer>(std::make_shared<AesEaxCipher>(std::string(32, 'k')));
  const auto saver = open(serializer);
  for (int n = 1; n <= 3; ++n) {
    put(*saver, make_put("t", n, n - 1, values("step " + std::to_string(n))));
    EXPECT_EQ(text(*saver), "step " + std::to_string(n));
    EXPECT_EQ(text(*open(serializer)), "step " + std::to_string(n));
  }
  put(*saver, make_put("t", 3, 2, values("again")));
  EXPECT_EQ(text(*saver), "again");
  EXPECT_THROW(saver_->get_tuple({"t"}), SerdeError);
}

TEST_F(LangGraphMemory, AFileInMemoryIsReadLikeAnyOther) {
  const auto saver = SqliteSaver::open(":memory:", {.layout = SqliteLayout::langgraph});
  put(*saver, make_put("t", 1, 0, values("one")));
  put(*saver, make_put("t", 1, 0, values("two")));
  EXPECT_EQ(text(*saver), "two");
}

// Two programs take turns on a conversation that grows.
TEST_F(LangGraphMemory, RunsOfSeveralSaversContinueEachOther) {
  StateGraph<> graph({{"log", reduced(add, list())}});
  graph.add_node("reply", [](const Value& state) {
    return Update{{"log", list({static_cast<std::int64_t>(state["log"].size())})}};
  });
  graph.add_edge(START, "reply");
  const auto other = open();
  const CompiledGraph ours = graph.compile({.checkpointer = saver_});
  const CompiledGraph theirs = graph.compile({.checkpointer = other});
  for (int turn = 0; turn < 60; ++turn) {
    const CompiledGraph& app = turn % 5 < 3 ? ours : theirs;
    app.invoke({{"log", list({"ask"})}}, {.thread_id = "t"});
  }
  for (const CompiledGraph* app : {&ours, &theirs}) {
    const Value log = app->get_state({.thread_id = "t"}).values["log"];
    ASSERT_EQ(log.size(), 120U);
    for (std::size_t i = 1; i < log.size(); i += 2) EXPECT_EQ(log[i], Value(i));
  }
}

// A look that began before a commit does not show what that stored.
TEST_F(LangGraphMemory, ALookThatHasBegunShowsWhatWasThere) {
  Database database(path_, {});
  const auto layout =
      sqlite::make_langgraph_layout(database, std::make_shared<JsonPlusSerializer>());
  const auto store = [&](const std::string& text) {
    const CheckpointPut one = make_put("t", 1, 0, values(text));
    database.write_repeatable(layout->put(one));
  };
  const auto text_in = [&](Connection& connection) {
    return layout->get_tuple(connection, {"t"})->checkpoint.channel_values["text"];
  };
  store("one");
  database.read([&](Connection& connection) {
    EXPECT_EQ(text_in(connection), Value("one"));
    store("two");
    EXPECT_EQ(text_in(connection), Value("one"));
    return true;
  });
  EXPECT_EQ(database.read(text_in), Value("two"));
}

// A checkpoint is stored again and again under its id, with an answer, by this saver and by
// another one. Whoever reads it sees both of one time.
TEST_F(LangGraphMemory, ALookShowsOneStateWhileOthersWrite) {
  constexpr int kTimes = 300;
  const auto store = [](SqliteSaver& saver, int time) {
    CheckpointPut one = make_put("t", 1, 0, object({{"time", time}}));
    one.writes.push_back(
        {.key = {"t", "", test_id(1)}, .task_id = "task", .writes = {{"__resume__", time}}});
    put(saver, one);
  };
  store(*saver_, 0);
  const auto other = open();
  std::atomic<bool> is_done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!is_done) {
        const auto tuple = saver_->get_tuple({"t"});
        EXPECT_EQ(tuple->checkpoint.channel_values["time"], tuple->pending_writes.at(0).value);
      }
    });
  }
  for (int time = 1; time <= kTimes; ++time) {
    store(time % 7 == 0 ? *other : *saver_, time);
    EXPECT_EQ(saver_->get_tuple({"t"})->checkpoint.channel_values["time"], Value(time));
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace clew

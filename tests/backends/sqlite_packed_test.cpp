// A super-step is one row of the native layout: what is packed in it is found, stays found when
// the row has to be taken apart, and is seen by SQL as if it had rows of its own.
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/row_pack.hpp"
#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

using sqlite::PackedBlob;
using sqlite::PackedBlobs;
using sqlite::RowPack;
using sqlite::StoredWrite;

// The columns of a row --------------------------------------------------------------------

const JsonPlusSerializer kSerializer;

WritesPut task(std::string task_id, std::vector<ChannelWrite> writes) {
  return {.key = {},
          .task_id = std::move(task_id),
          .task_path = "~__pregel_pull, node",
          .writes = std::move(writes),
          .node = "node"};
}

void add(RowPack& pack, const WritesPut& put) {
  std::vector<TypedBytes> values;
  for (const ChannelWrite& write : put.writes)
    values.push_back(kSerializer.dumps_typed(write.value));
  pack.add_writes(put, values);
}

std::string blobs_in(const RowPack& pack) {
  std::string all;
  PackedBlobs blobs;
  blobs.read(pack.new_blobs(), pack.data());
  for (const PackedBlob& blob : blobs) {
    EXPECT_EQ(blobs.find(blob.channel, blob.version), &blob);
    const sqlite::StoredBlob stored = blob.stored("c");
    all += std::string(blob.channel) + " " + std::string(blob.version) + " " +
           to_json(kSerializer.loads_typed(stored.data));
    if (!stored.base.empty()) {
      all += " from " + stored.base + " in " + stored.base_checkpoint_id + " at " +
             std::to_string(stored.place);
    }
    all += "\n";
  }
  EXPECT_EQ(blobs.find("a", "0.0"), nullptr);
  return all;
}

TEST(RowPack, GivesBackWhatWasPacked) {
  RowPack pack;
  pack.add_blob("a", "1.0", {kSerializer.dumps_typed("x"), {}, 0});
  pack.add_blob("b \"quoted\" \\ \xC3\xA9", "2.0",
                {kSerializer.dumps_typed(7), "1.0", 3, "before"});
  add(pack, task("t1", {{"a", "x"}, {"__interrupt__", 1}}));
  add(pack, task("t2", {{"b", list({1, 2})}}));
  EXPECT_TRUE(pack.is_possible());
  EXPECT_EQ(blobs_in(pack),
            "a 1.0 \"x\"\n"
            "b \"quoted\" \\ \xC3\xA9 2.0 7 from 1.0 in before at 3\n");
  std::string writes;
  for (const StoredWrite& stored :
       sqlite::packed_writes(pack.step_writes(), pack.data(), kSerializer)) {
    const PendingWrite& write = stored.write;
    writes += write.task_id + " " + std::to_string(stored.index) + " " + write.channel + " " +
              to_json(write.value) + " of " + write.node + "\n";
  }
  EXPECT_EQ(writes,
            "t1 0 a \"x\" of node\n"
            "t1 -3 __interrupt__ 1 of node\n"
            "t2 0 b [1,2] of node\n");
}

TEST(RowPack, NamesOfQuotesAloneAreAsTheyWere) {
  for (std::size_t size = 0; size < 70; ++size) {
    RowPack pack;
    const std::string name(size, '"');
    const std::string path(size, '\\');
    pack.add_blob(
        name, path,
        {{name, "x"}, Value(name), std::numeric_limits<std::int64_t>::min(), Value(path)});
    WritesPut put = task(name, {{path, "x"}, {name, "y"}});
    put.task_path = path;
    put.node = name;
    add(pack, put);
    ASSERT_TRUE(pack.is_possible());

    PackedBlobs blobs;
    blobs.read(pack.new_blobs(), pack.data());
    const PackedBlob* blob = blobs.find(name, path);
    ASSERT_TRUE(blob);
    EXPECT_EQ(blob->type, name);
    EXPECT_EQ(blob->base, name);
    EXPECT_EQ(blob->base_checkpoint_id, path);
    EXPECT_EQ(blob->place, std::numeric_limits<std::int64_t>::min());
    const auto writes = sqlite::packed_writes(pack.step_writes(), pack.data(), kSerializer);
    ASSERT_EQ(writes.size(), 2U);
    EXPECT_EQ(writes[0].write.channel, path);
    EXPECT_EQ(writes[1].write.channel, name);
    EXPECT_EQ(writes[1].write.task_id + writes[1].write.task_path + writes[1].write.node,
              name + path + name);
  }
}

TEST(RowPack, ATaskMayHaveWrittenNothing) {
  RowPack pack;
  add(pack, task("t1", {}));
  add(pack, task("t2", {{"a", 1}}));
  EXPECT_EQ(sqlite::packed_writes(pack.step_writes(), pack.data(), kSerializer).size(), 1U);
}

TEST(RowPack, AValueThatATaskWroteStandsOnce) {
  RowPack pack;
  const Value text(std::string(100, 'x'));
  const TypedBytes stored = kSerializer.dumps_typed(text);
  pack.add_blob("a", "1.0", {stored, {}, 0});
  pack.add_blob("b", "1.0", {kSerializer.dumps_typed("another text of its own"), {}, 0});
  const std::size_t size = pack.data().size();
  add(pack, task("t1", {{"b", "another text of its own"}, {"a", text}}));
  add(pack, task("t2", {{"a", text}}));
  EXPECT_EQ(pack.data().size(), size);
  EXPECT_EQ(pack.value_bytes(), 2 * size + stored.bytes.size());
  const auto writes = sqlite::packed_writes(pack.step_writes(), pack.data(), kSerializer);
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_EQ(writes[0].write.value, Value("another text of its own"));
  EXPECT_EQ(writes[1].write.value, text);
  EXPECT_EQ(writes[2].write.value, text);
}

TEST(RowPack, OfManyValuesAllAreGivenBack) {
  RowPack pack;
  const auto text = [](int i) { return "the text of channel " + std::to_string(i); };
  std::vector<ChannelWrite> written;
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "c" + std::to_string(i);
    pack.add_blob(name, "1.0", {kSerializer.dumps_typed(text(i)), {}, 0});
    written.push_back({name, text(i)});
    expected += name + " 1.0 " + to_json(Value(text(i))) + "\n";
  }
  add(pack, task("t1", written));
  EXPECT_EQ(blobs_in(pack), expected);
  const auto writes = sqlite::packed_writes(pack.step_writes(), pack.data(), kSerializer);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(writes[i].write.value, Value(text(i)));
}

TEST(RowPack, RefusesWhatSqliteWouldNotReadFromIt) {
  for (const std::string_view name :
       {std::string_view("a\0b", 3), std::string_view("a\nb"), std::string_view("\xFF")}) {
    RowPack pack;
    pack.add_blob(name, "1.0", {kSerializer.dumps_typed(1), {}, 0});
    EXPECT_FALSE(pack.is_possible());
  }
  RowPack large;
  large.add_blob("a", "1.0", {{"bytes", std::string(100'000, 'x')}, {}, 0});
  EXPECT_FALSE(large.is_possible());
}

TEST(RowPack, DamagedColumnsAreAnError) {
  RowPack pack;
  pack.add_blob("a", "1.0", {kSerializer.dumps_typed("text"), {}, 0});
  const std::string whole(pack.new_blobs());
  PackedBlobs blobs;
  for (std::size_t i = 1; i < whole.size(); ++i) {
    EXPECT_THROW(blobs.read(whole.substr(0, i), pack.data()), SerdeError) << i;
  }
  EXPECT_THROW(blobs.read(whole + "]", pack.data()), SerdeError);
  EXPECT_THROW(blobs.read(whole, pack.data().substr(1)), SerdeError);
}

// In a file -------------------------------------------------------------------------------

class PackedFile : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open() {
    return SqliteSaver::open(path_, {.synchronous = SqliteSynchronous::off});
  }
  void execute(const std::string& sql) { execute_sql(path_, sql); }

  std::int64_t count(SqliteSaver& saver, const std::string& from) {
    return saver.query("SELECT count(*) AS n FROM " + from)[0]["n"].as_int();
  }

  // Checkpoint `n` after the one before, with what a task wrote to get there.
  static CheckpointPut step(int n, Value values) {
    CheckpointPut made = make_put("t", n, n - 1, std::move(values));
    if (n == 1) return made;
    made.expected_head = test_id(n - 1);
    made.writes.push_back({.key = made.key,
                           .task_id = "task" + std::to_string(n),
                           .writes = {{"a", n}, {"b", std::to_string(n)}},
                           .node = "node"});
    return made;
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
};

TEST_F(PackedFile, AStepIsOneRow) {
  auto saver = open();
  for (int n = 1; n <= 3; ++n) put(*saver, step(n, {{"a", n}}));
  EXPECT_EQ(count(*saver, "clew_blobs"), 0);
  EXPECT_EQ(count(*saver, "clew_writes"), 0);
  EXPECT_EQ(count(*saver, "checkpoint_blobs"), 3);
  EXPECT_EQ(count(*saver, "checkpoint_writes"), 4);
  const std::string before = history(*saver, "t");
  EXPECT_EQ(before,
            "3 <2 {\"a\":3}\n"
            "2 <1 {\"a\":2} [task3.a=3 task3.b=\"3\"]\n"
            "1 {\"a\":1} [task2.a=2 task2.b=\"2\"]\n");
  EXPECT_EQ(before, history(*open(), "t"));
  EXPECT_EQ(render(*open()->get_tuple({"t", "", test_id(2)})),
            render(*saver->get_tuple({"t", "", test_id(2)})));

  execute("DELETE FROM clew_packed");
  saver = open();
  EXPECT_EQ(count(*saver, "checkpoints WHERE data IS NOT NULL"), 0);
  EXPECT_EQ(count(*saver, "clew_blobs"), 3);
  EXPECT_EQ(count(*saver, "clew_writes"), 4);
  EXPECT_EQ(history(*saver, "t"), before);
  EXPECT_TRUE(saver->verify("t").problems.empty());
}

TEST_F(PackedFile, AValueThatATaskWroteIsBothToSql) {
  auto saver = open();
  const std::string text = "a text that is long enough";
  for (int n = 1; n <= 3; ++n) {
    CheckpointPut one = step(n, {{"a", text}, {"branch:to:next", Value()}});
    for (WritesPut& writes : one.writes) writes.writes[0].value = text;
    put(*saver, one);
  }
  const auto sizes = [&](const std::string& from) {
    return to_json(saver->query("SELECT DISTINCT length(blob_data) AS size FROM " + from +
                                " WHERE channel = 'a'"));
  };
  EXPECT_EQ(saver->query("SELECT count(*) AS n FROM checkpoints WHERE length(data) < 40")[0]["n"],
            Value(3));
  for (const bool is_packed : {true, false}) {
    EXPECT_EQ(sizes("checkpoint_blobs"), R"([{"size":27}])");
    EXPECT_EQ(sizes("checkpoint_writes"), R"([{"size":27}])");
    EXPECT_EQ(saver->thread_size("t").bytes,
              saver->query("SELECT bytes FROM threads")[0]["bytes"].get<std::uint64_t>());
    EXPECT_TRUE(saver->verify("t").problems.empty());
    if (is_packed) execute("DELETE FROM clew_packed");
  }
  execute("DELETE FROM checkpoint_writes WHERE channel = 'a'");
  EXPECT_EQ(open()->get_tuple({"t"})->checkpoint.channel_values["a"], Value(text));
}

TEST_F(PackedFile, ValuesThatDoNotChangeAreFoundWhereTheyCame) {
  auto saver = open();
  CheckpointPut first = make_put("t", 1, 0, {{"kept", "from the first"}, {"n", 1}});
  put(*saver, first);
  Value versions = first.checkpoint.channel_versions;
  for (int n = 2; n <= 5; ++n) {
    CheckpointPut next = make_put("t", n, n - 1, {{"n", n}});
    versions = versions.merge(next.new_versions);
    next.checkpoint.channel_versions = versions;
    put(*saver, next);
  }
  const auto last = open()->get_tuple({"t"});
  EXPECT_EQ(to_json(last->checkpoint.channel_values), R"({"kept":"from the first","n":5})");

  // A checkpoint that takes up what another branch brought, and does not say from where.
  CheckpointPut stranger = make_put("t", 6, 1, {{"other", 1}});
  stranger.checkpoint.channel_versions = versions.merge(stranger.new_versions);
  put(*saver, stranger);
  EXPECT_EQ(to_json(open()->get_tuple({"t"})->checkpoint.channel_values),
            R"({"kept":"from the first","n":5,"other":1})");
}

TEST_F(PackedFile, WritesThatComeLateJoinThoseThatArePacked) {
  auto saver = open();
  for (int n = 1; n <= 3; ++n) put(*saver, step(n, {{"a", n}}));
  // A task that is known already keeps its writes; those of another are added.
  put_writes(*saver, "t", 2, {{"a", "again"}}, "task3");
  put_writes(*saver, "t", 2, {{"c", 1}}, "other");
  EXPECT_EQ(render(*open()->get_tuple({"t", "", test_id(2)})),
            R"(2 <1 {"a":2} [other.c=1 task3.a=3 task3.b="3"])");
  EXPECT_EQ(count(*saver, "checkpoint_writes WHERE checkpoint_id = '" + test_id(2) + "'"), 3);
}

TEST_F(PackedFile, ACheckpointBetweenTwoTakesNoWritesFromThem) {
  auto saver = open();
  for (int n = 1; n <= 2; ++n) put(*saver, step(n, {{"a", n}}));
  CheckpointPut fourth = step(4, {{"a", 4}});
  fourth.key.checkpoint_id = fourth.writes[0].key.checkpoint_id = test_id(2);
  fourth.expected_head = test_id(2);
  put(*saver, fourth);
  put(*saver, make_put("t", 3, 1, {{"a", 3}}));
  EXPECT_EQ(render(*open()->get_tuple({"t", "", test_id(2)})),
            R"(2 <1 {"a":2} [task4.a=4 task4.b="4"])");
  EXPECT_EQ(render(*open()->get_tuple({"t", "", test_id(3)})), R"(3 <1 {"a":3})");
}

TEST_F(PackedFile, NamesThatCannotBePackedAreStoredAllTheSame) {
  auto saver = open();
  const std::string name("a\0b", 3);
  put(*saver, make_put("t", 1, 0, object({{name, 1}})));
  EXPECT_EQ(open()->get_tuple({"t"})->checkpoint.channel_values[name], Value(1));
  EXPECT_EQ(count(*saver, "clew_blobs"), 1);
}

TEST_F(PackedFile, SqlChangesWhatIsPackedAsIfItHadRows) {
  auto saver = open();
  for (int n = 1; n <= 3; ++n) put(*saver, step(n, {{"a", n}}));
  saver.reset();
  execute("UPDATE checkpoint_writes SET node = 'renamed' WHERE task_id = 'task2' AND idx = 0");
  execute("DELETE FROM checkpoint_writes WHERE task_id = 'task3'");
  execute("DELETE FROM checkpoint_blobs WHERE blob_data = x'02'");
  execute(
      "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, checkpoint_ns_hash, channel,"
      " version, type, blob_data) SELECT thread_id, checkpoint_ns, checkpoint_ns_hash, 'extra',"
      " version, type, blob_data FROM checkpoint_blobs LIMIT 1");
  saver = open();
  EXPECT_EQ(to_json(saver->query("SELECT DISTINCT node, idx FROM checkpoint_writes ORDER BY idx")),
            R"([{"node":"renamed","idx":0},{"node":"node","idx":1}])");
  EXPECT_EQ(count(*saver, "checkpoint_blobs"), 3);
  EXPECT_EQ(saver->verify("t").problems.front().kind, StoredProblem::Kind::missing_value);
}

TEST_F(PackedFile, OfControlChannelsTheLastWriteCounts) {
  auto saver = open();
  put(*saver, step(1, {{"a", 1}}));
  CheckpointPut second = step(2, {{"a", 2}});
  second.writes[0].writes = {{"__resume__", "old"}, {"__resume__", "new"}, {"b", 1}};
  put(*saver, second);
  EXPECT_EQ(render(*open()->get_tuple({"t", "", test_id(1)})),
            R"(1 {"a":1} [task2.__resume__="new" task2.b=1])");
  EXPECT_TRUE(saver->verify("t").problems.empty());
}

TEST_F(PackedFile, BranchesThatAreStoredTogetherHaveTheirValues) {
  auto saver = open();
  CheckpointPut first = make_put("t", 1, 0, {{"kept", "x"}, {"n", 1}});
  put(*saver, first);
  std::vector<CheckpointPut> puts;
  Value versions[2] = {first.checkpoint.channel_versions, first.checkpoint.channel_versions};
  for (int n = 2; n <= 41; ++n) {
    CheckpointPut next = make_put("t", n, n <= 3 ? 1 : n - 2, {{"n", n}});
    Value& of_branch = versions[n % 2];
    of_branch = of_branch.merge(next.new_versions);
    next.checkpoint.channel_versions = of_branch;
    puts.push_back(std::move(next));
  }
  saver->put(puts);
  for (int n = 2; n <= 41; ++n) {
    const auto tuple = open()->get_tuple({"t", "", test_id(n)});
    EXPECT_EQ(to_json(tuple->checkpoint.channel_values),
              R"({"kept":"x","n":)" + std::to_string(n) + "}");
  }
  EXPECT_TRUE(saver->verify("t").problems.empty());
}

// Damage ----------------------------------------------------------------------------------

TEST_F(PackedFile, ADamagedRowIsToldAndLeavesTheOthersReadable) {
  auto saver = open();
  for (int n = 1; n <= 4; ++n) put(*saver, step(n, {{"a", n}}));
  saver.reset();
  execute("UPDATE checkpoints SET step_writes = '[[' WHERE checkpoint_id = '" + test_id(3) + "'");
  saver = open();
  const VerifyReport report = saver->verify("t");
  EXPECT_EQ(report.problems.front().kind, StoredProblem::Kind::damaged_checkpoint);
  EXPECT_EQ(report.problems.front().checkpoint_id, test_id(3));
  EXPECT_EQ(report.checkpoints, 4U);
  EXPECT_EQ(saver->stored_threads().size(), 1U);
  EXPECT_THROW(saver->get_tuple({"t", "", test_id(2)}), SerdeError);
  EXPECT_EQ(render(*saver->get_tuple({"t"})), R"(4 <3 {"a":4})");
}

TEST_F(PackedFile, RepairKeepsTheWritesOfAMissingParent) {
  auto saver = open();
  for (int n = 1; n <= 4; ++n) put(*saver, step(n, {{"a", n}}));
  saver.reset();
  execute("DELETE FROM clew_packed WHERE checkpoint_id = '" + test_id(2) + "'");
  execute("DELETE FROM checkpoints WHERE checkpoint_id = '" + test_id(2) + "'");
  saver = open();
  const std::int64_t before = count(*saver, "checkpoint_writes");
  EXPECT_EQ(saver->repair("t").parents, 1U);
  EXPECT_EQ(count(*saver, "checkpoint_writes"), before);
}

TEST_F(PackedFile, WritesInTheWrongRowAreTold) {
  auto saver = open();
  for (int n = 1; n <= 3; ++n) put(*saver, step(n, {{"a", n}}));
  saver.reset();
  execute("UPDATE checkpoints SET parent_checkpoint_id = '" + test_id(1) +
          "' WHERE checkpoint_id = '" + test_id(3) + "'");
  EXPECT_EQ(open()->verify("t").problems.front().kind, StoredProblem::Kind::damaged_checkpoint);
}

// Files of earlier versions ---------------------------------------------------------------

// It has the same tables as one of version 3, and may now hold what its Clew does not know.
TEST_F(PackedFile, AFileOfVersion2IsOfVersion4OnceItIsOpened) {
  put(*open(), make_put("t", 1, 0, {{"a", 1}}));
  execute(
      "DROP VIEW threads; DROP VIEW clew_uncounted; PRAGMA legacy_alter_table = ON;"
      "ALTER TABLE clew_threads RENAME TO threads; UPDATE clew_schema SET version = 2");
  auto saver = open();
  EXPECT_EQ(saver->query("SELECT version FROM clew_schema")[0]["version"], Value(4));
  EXPECT_EQ(newest(*saver, "t"), R"(1 {"a":1})");
}

TEST_F(PackedFile, AFileOfVersion1IsReadAndContinued) {
  std::filesystem::copy_file(CLEW_TEST_DATA_DIR "/databases/clew.db", path_);
  auto saver = open();
  EXPECT_EQ(saver->query("SELECT version FROM clew_schema")[0]["version"], Value(4));
  EXPECT_EQ(count(*saver, "clew_packed"), 0);
  for (const ThreadInfo& thread : saver->list_threads({})) {
    EXPECT_TRUE(saver->verify(thread.thread_id).problems.empty()) << thread.thread_id;
  }
  const CheckpointTuple head = *saver->get_tuple({"chat"});
  CheckpointPut next;
  next.key = head.key;
  next.checkpoint = head.checkpoint;
  next.checkpoint.id = checkpoint_id(100);
  next.checkpoint.channel_values = object({{"added", 1}});
  next.new_versions = object({{"added", "1.0"}});
  next.checkpoint.channel_versions = head.checkpoint.channel_versions.merge(next.new_versions);
  next.metadata = head.metadata;
  put(*saver, next);
  EXPECT_EQ(count(*saver, "clew_packed"), 1);
  EXPECT_EQ(open()->get_tuple({"chat"})->checkpoint.channel_values,
            head.checkpoint.channel_values.merge(object({{"added", 1}})));
}

TEST_F(PackedFile, TheViewsOfOtherProgramsOutliveTheUpgrade) {
  std::filesystem::copy_file(CLEW_TEST_DATA_DIR "/databases/clew.db", path_);
  execute("CREATE VIEW mine AS SELECT channel FROM checkpoint_blobs");
  execute("CREATE VIEW broken AS SELECT * FROM no_such_table");
  auto saver = open();
  EXPECT_EQ(count(*saver, "mine"), count(*saver, "checkpoint_blobs"));
  put(*saver, make_put("new", 1, 0, {{"a", 1}}));
  EXPECT_EQ(count(*saver, "mine"), count(*saver, "checkpoint_blobs"));
}

}  // namespace
}  // namespace clew

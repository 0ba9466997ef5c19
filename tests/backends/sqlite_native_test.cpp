// What the native layout leaves in a file, and what it makes of damage.
#include <fstream>

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

using testing::HasSubstr;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

class NativeFile : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open(SqliteOptions options = {}) {
    options.synchronous = SqliteSynchronous::off;
    return SqliteSaver::open(path_, std::move(options));
  }

  void execute(const std::string& sql) { execute_sql(path_, sql); }

  std::string bytes_of_all_files() const {
    std::string all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path)) {
      std::ifstream file(entry.path(), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
};

CompiledGraph advisor(std::shared_ptr<Checkpointer> saver) {
  return StateGraph<>({{"messages", reduced(append, list())}, {"user_context", last_value()}})
      .add_node("retrieve_context",
                [](const Value&) { return Update{{"user_context", {{"age", 30}}}}; })
      .add_node("generate_response",
                [](const Value&) { return Update{{"messages", {"I recommend this one."}}}; })
      .add_edge(START, "retrieve_context")
      .add_edge("retrieve_context", "generate_response")
      .add_edge("generate_response", END)
      .compile({.checkpointer = std::move(saver)});
}

Config thread(std::string id) {
  Config config;
  config.thread_id = std::move(id);
  return config;
}

Value question(int turn) { return {{"messages", {"question " + std::to_string(turn)}}}; }

// The queries of the documents ------------------------------------------------------

TEST_F(NativeFile, TheExecutionTraceOfACheckpointIsAQuery) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  graph.invoke(question(1), thread("thread_001"));
  std::vector<StateSnapshot> history;
  for (const StateSnapshot& state : graph.get_state_history(thread("thread_001"))) {
    history.push_back(state);
  }
  const Value trace = saver->query(
      "SELECT task_id, idx, channel, task_path, LENGTH(blob_data) as data_size, gmt_create, node "
      "FROM checkpoint_writes WHERE thread_id = 'thread_001' AND checkpoint_id = ? "
      "AND checkpoint_ns = '' ORDER BY gmt_create, idx",
      list({history[1].config.checkpoint_id}));
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace[0]["channel"], Value("messages"));
  EXPECT_EQ(trace[0]["node"], Value("generate_response"));
  EXPECT_EQ(trace[0]["task_path"], Value("~__pregel_pull, generate_response"));
  EXPECT_GT(trace[0]["data_size"].as_int(), 20);
}

TEST_F(NativeFile, WritesPerNodeAreAQuery) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  for (int turn = 0; turn < 3; ++turn) graph.invoke(question(turn), thread("thread_001"));
  const Value rows = saver->query(
      "SELECT node, COUNT(*) as write_count, SUM(LENGTH(blob_data)) / 1024 / 1024 as total_mb, "
      "AVG(LENGTH(blob_data)) as avg_bytes FROM checkpoint_writes "
      "WHERE thread_id LIKE 'thread_%' AND gmt_create >= '2026-04-01' AND checkpoint_ns = '' "
      "GROUP BY node ORDER BY write_count DESC, node");
  EXPECT_EQ(rows[0]["node"], Value("__start__"));
  EXPECT_EQ(rows[0]["write_count"], Value(6));
  EXPECT_EQ(rows[1]["node"], Value("retrieve_context"));
  EXPECT_EQ(rows[1]["write_count"], Value(6));
  EXPECT_EQ(rows[2]["node"], Value("generate_response"));
  EXPECT_EQ(rows[2]["write_count"], Value(3));
}

TEST_F(NativeFile, WritesAgainstBlobsAreAQuery) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  graph.invoke(question(1), thread("thread_001"));
  const std::string id = graph.get_state(thread("thread_001")).parent_config->checkpoint_id;
  const Value writes = saver->query(
      "SELECT SUM(LENGTH(blob_data)) as writes FROM checkpoint_writes "
      "WHERE thread_id = 'thread_001' AND checkpoint_id = ?",
      list({id}));
  const Value blobs = saver->query(
      "SELECT SUM(LENGTH(blob_data)) as blobs FROM checkpoint_blobs "
      "WHERE thread_id = 'thread_001' AND checkpoint_ns_hash = "
      "(SELECT checkpoint_ns_hash FROM checkpoints WHERE checkpoint_id = ?)",
      list({id}));
  EXPECT_GT(writes[0]["writes"].as_int(), 0);
  EXPECT_GT(blobs[0]["blobs"].as_int(), writes[0]["writes"].as_int());
  const Value hash = saver->query("SELECT DISTINCT checkpoint_ns_hash AS hash FROM checkpoints");
  EXPECT_EQ(hash[0]["hash"], Value("d41d8cd98f00b204e9800998ecf8427e"));
}

TEST_F(NativeFile, TheNewestValueOfAChannelForManyThreadsIsAQuery) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  for (const char* id : {"t1", "t2", "t3"}) {
    for (int turn = 0; turn < 20; ++turn) graph.invoke(question(turn), thread(id));
  }
  const auto newest_from = [&](const std::string& table, const std::string& column) {
    return saver->query("SELECT thread_id, version, " + column +
                        " AS found FROM (SELECT thread_id, version, " + column +
                        ", ROW_NUMBER() OVER (PARTITION BY thread_id ORDER BY version DESC) AS rn "
                        "FROM " +
                        table +
                        " WHERE thread_id IN ('t1', 't2') AND checkpoint_ns = '' "
                        "AND channel = 'messages') t WHERE rn = 1 ORDER BY thread_id");
  };
  const Value rows = newest_from("checkpoint_values", "json");
  ASSERT_EQ(rows.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const StateSnapshot state = graph.get_state(thread("t" + std::to_string(i + 1)));
    EXPECT_EQ(rows[i]["found"], Value(to_json(state.values["messages"])));
    EXPECT_EQ(rows[i]["version"],
              saver->get_tuple({state.config.thread_id})->checkpoint.channel_versions["messages"]);
  }
  // The row itself may hold a difference; the view has the whole.
  const Value stored = newest_from("checkpoint_blobs", "blob_data");
  const Value whole = newest_from("checkpoint_values", "blob_data");
  EXPECT_LT(stored[0]["found"].as_bytes().size(), whole[0]["found"].as_bytes().size());
}

TEST_F(NativeFile, AQueryCannotChangeAnything) {
  auto saver = open();
  EXPECT_THROW(saver->query("DELETE FROM threads"), ValueError);
  EXPECT_THROW(saver->query("SELECT * FROM nothing"), StorageError);
}

// Storage ---------------------------------------------------------------------------

TEST_F(NativeFile, ALongConversationIsStoredOnce) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  const std::string text(1000, 'x');
  for (int turn = 0; turn < 200; ++turn) {
    graph.invoke({{"messages", {text + std::to_string(turn)}}}, thread("t"));
  }
  // Five copies of each message: input, two writes, the value, and its second digit.
  EXPECT_LT(saver->thread_size("t").bytes, 200U * 5 * 1100 + 200U * 3000);
  EXPECT_EQ(graph.get_state(thread("t")).values["messages"].size(), 400U);

  saver.reset();
  const CompiledGraph reopened = advisor(open());
  EXPECT_EQ(reopened.get_state(thread("t")).values["messages"].size(), 400U);
  EXPECT_EQ(reopened.get_state(thread("t")).values["messages"][398].as_string(), text + "199");
}

TEST_F(NativeFile, CountersOfAThreadAreTrue) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  for (int turn = 0; turn < 10; ++turn) graph.invoke(question(turn), thread("t"));
  const auto counted = [&] {
    const Value row = saver->query("SELECT checkpoints, writes, bytes FROM threads")[0];
    return std::tuple(row["checkpoints"].as_int(), row["writes"].as_int(), row["bytes"].as_int());
  };
  const auto real = [&] {
    const ThreadSize size = saver->thread_size("t");
    return std::tuple<std::int64_t, std::int64_t, std::int64_t>(size.checkpoints, size.writes,
                                                                size.bytes);
  };
  EXPECT_EQ(counted(), real());
  saver->prune("t", {.keep = 3});
  EXPECT_EQ(counted(), real());
}

TEST_F(NativeFile, TheFileShrinksAfterThreadsAreDeleted) {
  auto saver = open();
  for (int i = 1; i <= 50; ++i) {
    put(*saver, make_put("t" + std::to_string(i), 1, 0, {{"a", std::string(20'000, 'x')}}));
  }
  saver->vacuum();
  const auto before = std::filesystem::file_size(path_);
  for (int i = 1; i <= 50; ++i) saver->delete_thread("t" + std::to_string(i));
  saver->vacuum();
  EXPECT_LT(std::filesystem::file_size(path_), before / 5);
}

// Damage and strangers ----------------------------------------------------------------

TEST_F(NativeFile, LostValuesAreMadeAgainFromTheWrites) {
  auto saver = open();
  const CompiledGraph graph = advisor(saver);
  for (int turn = 0; turn < 5; ++turn) graph.invoke(question(turn), thread("t"));
  const auto states = [&] {
    std::string all;
    for (const CheckpointTuple& tuple : saver->list("t", "", {})) {
      all += to_json(tuple.checkpoint.channel_values) + "\n";
    }
    return all;
  };
  const std::string before = states();
  saver.reset();
  execute("DELETE FROM checkpoint_blobs WHERE channel <> '__start__'");

  saver = open();
  const BlobRecovery recovery = saver->recover_blobs("t");
  EXPECT_EQ(recovery.recovered, 15U);
  EXPECT_THAT(recovery.lost, testing::IsEmpty());
  EXPECT_EQ(states(), before);
  EXPECT_EQ(saver->recover_blobs("t").recovered, 0U);
}

TEST_F(NativeFile, AMissingBaseIsAnErrorThatNamesIt) {
  auto saver = open();
  const std::string text(300, 'x');
  put(*saver, make_put("t", 1, 0, {{"a", {text, text}}}));
  put(*saver, make_put("t", 2, 1, {{"a", {text, text, 1}}}));
  saver.reset();
  execute("DELETE FROM checkpoint_blobs WHERE base_version IS NULL");
  EXPECT_THAT(message_of([&] { open()->get_tuple({"t"}); }), HasSubstr("is not in the file"));
}

TEST_F(NativeFile, WhatAnotherProcessPrunedIsNoBase) {
  auto first = open();
  auto second = open();
  const std::string text(300, 'x');
  Value values = {text, text};
  put(*first, make_put("t", 1, 0, {{"a", values}}));
  values = values.append(2);
  put(*first, make_put("t", 2, 1, {{"a", values}}));
  second->delete_thread("t");
  values = values.append(3);
  put(*first, make_put("t", 3, 2, {{"a", values}}));
  EXPECT_EQ(second->get_tuple({"t"})->checkpoint.channel_values["a"], values);
}

TEST_F(NativeFile, ReplacingACheckpointDoesNotChangeWhatIsBasedOnIt) {
  auto saver = open();
  const auto wide = [](int n, int parent, int changed) {
    ObjectBuilder values;
    for (int i = 0; i < 40; ++i) values.set("channel" + std::to_string(i), i == changed ? n : i);
    CheckpointPut made = make_put("t", n, parent, std::move(values).build());
    const std::string name = "channel" + std::to_string(changed);
    if (parent > 0) made.new_versions = Value(object({{name, made.new_versions[name]}}));
    return made;
  };
  CheckpointPut first = wide(1, 0, 0);
  put(*saver, first);
  CheckpointPut second = wide(2, 1, 3);
  second.checkpoint.channel_versions = first.checkpoint.channel_versions.merge(second.new_versions);
  put(*saver, second);
  CheckpointPut third = wide(3, 2, 4);
  third.checkpoint.channel_versions = second.checkpoint.channel_versions.merge(third.new_versions);
  put(*saver, third);
  ASSERT_EQ(
      saver->query("SELECT count(*) AS n FROM checkpoints WHERE base_checkpoint_id <> ''")[0]["n"],
      Value(1));
  const Value before = saver->get_tuple({"t", "", test_id(3)})->checkpoint.channel_values;
  put(*saver, make_put("t", 2, 1, {{"other", 1}}));
  EXPECT_EQ(open()->get_tuple({"t", "", test_id(3)})->checkpoint.channel_values, before);
}

TEST_F(NativeFile, OtherFilesAreRefusedWithTheReason) {
  std::ofstream(path_) << "this is not a database, but it is long enough to be looked at "
                       << std::string(4096, '.');
  EXPECT_THAT(message_of([&] { open(); }), HasSubstr("not a database"));
  EXPECT_THAT(message_of([&] { SqliteSaver::open((folder_.path / "no/such/folder.db").string()); }),
              HasSubstr("check that the folder exists"));
}

TEST_F(NativeFile, ANewerSchemaIsRefused) {
  open();
  execute("UPDATE clew_schema SET version = 99");
  EXPECT_THAT(message_of([&] { open(); }), HasSubstr("open it with the newer Clew"));
}

TEST_F(NativeFile, SharesAFileWithTheTablesOfAnotherProgram) {
  execute("CREATE TABLE notes (text TEXT); PRAGMA user_version = 7; PRAGMA application_id = 7");
  const CompiledGraph graph = advisor(open());
  graph.invoke(question(1), thread("t"));
  EXPECT_EQ(graph.get_state(thread("t")).values["messages"].size(), 2U);
  EXPECT_EQ(open()->query("PRAGMA user_version")[0]["user_version"], Value(7));
}

TEST_F(NativeFile, AThreadMayHaveAHundredThousandCheckpoints) {
  auto saver = open();
  constexpr int kCount = 100'000;
  std::vector<CheckpointPut> puts;
  for (int n = 1; n <= kCount; ++n) {
    puts.push_back(make_put("t", n, n - 1, {{"n", n}}));
    if (puts.size() < 1000) continue;
    saver->put(puts);
    puts.clear();
  }
  EXPECT_EQ(saver->list_threads({})[0].checkpoints, static_cast<std::size_t>(kCount));
  EXPECT_EQ(saver->get_tuple({"t"})->checkpoint.channel_values["n"], Value(kCount));
  EXPECT_EQ(saver->get_tuple({"t", "", test_id(777)})->checkpoint.channel_values["n"], Value(777));
  EXPECT_EQ(saver->list("t", "", {.before = test_id(50'000), .limit = 3}).size(), 3U);
}

TEST_F(NativeFile, ChainsStayShortHoweverOftenRunsAreDeleted) {
  auto saver = open();
  Value notes = list({std::string(200, 'x')});
  int n = 0;
  const auto put_in_run = [&](const char* run_id) {
    notes = notes.append(++n);
    CheckpointPut made = make_put("t", n, n - 1, {{"notes", notes}});
    made.metadata = made.metadata.set("run_id", run_id);
    put(*saver, made);
  };
  for (int day = 0; day < 50; ++day) {
    for (int i = 0; i < 8; ++i) put_in_run("kept");
    put_in_run("gone");
    put_in_run("kept");
    saver->delete_for_runs(std::vector<std::string>{"gone"});
  }
  EXPECT_EQ(open()->get_tuple({"t"})->checkpoint.channel_values["notes"], notes);
  EXPECT_EQ(open()->list("t", "", {}).size(), 450U);
  const Value longest = saver->query(
      "WITH RECURSIVE path (base, rows) AS ("
      " SELECT base_version, 1 FROM checkpoint_blobs UNION ALL"
      " SELECT blob.base_version, path.rows + 1 FROM path"
      " JOIN checkpoint_blobs AS blob ON blob.version = path.base) SELECT max(rows) AS n FROM "
      "path");
  EXPECT_LE(longest[0]["n"].as_int(), 64 * 3);
}

TEST_F(NativeFile, AnotherLayoutIsRefused) {
  open();
  EXPECT_THAT(message_of([&] { open({.layout = SqliteLayout::langgraph}); }),
              HasSubstr("has the native layout"));
  EXPECT_EQ(open()->layout(), SqliteLayout::native);
}

// Encryption ------------------------------------------------------------------------

TEST_F(NativeFile, AnEncryptedFileShowsNothingButNames) {
  const auto encrypted = [](char key) {
    return SqliteOptions{.serializer = std::make_shared<EncryptedSerializer>(
                             std::make_shared<AesEaxCipher>(std::string(32, key)))};
  };
  auto saver = open(encrypted('k'));
  const CompiledGraph graph = advisor(saver);
  Config config = thread("t");
  config.metadata = Value{{"customer", "MARKER-metadata"}};
  for (int turn = 0; turn < 40; ++turn) {
    graph.invoke({{"messages", {"MARKER-message " + std::to_string(turn)}}}, config);
  }
  EXPECT_EQ(graph.get_state(config).values["messages"].size(), 80U);
  EXPECT_EQ(bytes_of_all_files().find("MARKER"), std::string::npos);
  EXPECT_EQ(bytes_of_all_files().find("I recommend"), std::string::npos);
  EXPECT_NE(bytes_of_all_files().find("retrieve_context"), std::string::npos);
  EXPECT_EQ(saver->list_threads({.filter = {{"customer", "MARKER-metadata"}}}).size(), 1U);
  saver.reset();

  EXPECT_THROW(open(encrypted('x')), CryptoError);
  EXPECT_THROW(open(), CryptoError);
  execute("UPDATE checkpoints SET metadata_type = 'json', metadata = '{\"planted\": 1}'");
  EXPECT_THROW(open(encrypted('k'))->get_tuple({"t"}), CryptoError);
  EXPECT_THROW(open()->get_tuple({"t"}), SerdeError);
}

}  // namespace
}  // namespace clew

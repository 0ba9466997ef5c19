// What the LangGraph layout leaves in a file, as Python's saver would, and what
// it makes of files that others wrote.
#include <sqlite3.h>

#include <filesystem>

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/msgpack.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

class LangGraphFile : public testing::Test {
 protected:
  std::shared_ptr<SqliteSaver> open(SqliteLayout layout = SqliteLayout::automatic) {
    SqliteOptions options;
    options.layout = layout;
    return SqliteSaver::open(path_, options);
  }

  // Every row as its columns joined by "|", blobs in hex.
  std::string rows(const std::string& sql) {
    std::string text;
    const auto add = [](void* to, int columns, char** values, char**) {
      for (int i = 0; i < columns; ++i) {
        *static_cast<std::string*>(to) +=
            (i ? "|" : "") + std::string(values[i] ? values[i] : "NULL");
      }
      *static_cast<std::string*>(to) += "\n";
      return 0;
    };
    run(sql, add, &text);
    return text;
  }

  void run(const std::string& sql, sqlite3_callback callback = nullptr, void* to = nullptr) {
    execute_sql(path_, sql, callback, to);
  }

  TemporaryFolder folder_;
  std::string path_ = (folder_.path / "threads.db").string();
};

TEST_F(LangGraphFile, RowsAreAsPythonWritesThem) {
  auto saver = open(SqliteLayout::langgraph);
  CheckpointPut one = make_put("t", 1, 0, {{"a", 1}});
  one.checkpoint.versions_seen = object({{"n", object({{"a", "1"}})}});
  one.checkpoint.updated_channels = list({"a"});
  one.metadata = Value{{"source", "loop"}, {"step", 1}, {"name", "Zoë"}, {"f", 1.0}};
  one.writes.push_back({.key = {"t", "", test_id(1)},
                        .task_id = "task",
                        .task_path = "~p",
                        .writes = {{"a", nullptr}, {"__error__", "e"}}});
  put(*saver, one);
  EXPECT_EQ(saver->layout(), SqliteLayout::langgraph);

  EXPECT_EQ(rows("SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, "
                 "typeof(checkpoint), typeof(metadata), CAST(metadata AS TEXT) FROM checkpoints"),
            "t||" + test_id(1) +
                "|NULL|msgpack|blob|blob|"
                "{\"source\": \"loop\", \"step\": 1, \"name\": \"Zoë\", \"f\": 1.0}\n");
  EXPECT_EQ(rows("SELECT task_id, task_path, idx, channel, type, typeof(value), hex(value) "
                 "FROM writes ORDER BY idx"),
            "task|~p|-1|__error__|msgpack|blob|A165\n"
            "task|~p|0|a|null|blob|\n");
}

TEST_F(LangGraphFile, TheCheckpointHasPythonsKeysInPythonsOrder) {
  auto saver = open(SqliteLayout::langgraph);
  put(*saver, make_put("t", 1, 0, {{"a", 1}}));
  const std::string hex = rows("SELECT hex(checkpoint) FROM checkpoints");
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  EXPECT_EQ(to_json(from_msgpack(bytes)),
            R"({"v":4,"ts":"2024-01-01T00:00:00+00:00","id":")" + test_id(1) +
                R"(","channel_values":{"a":1},"channel_versions":{"a":")" + next_version("0", 0.5) +
                R"("},"versions_seen":{},"updated_channels":null})");
}

// Everything that `from` holds of a thread, stored again by Clew.
void store_again(SqliteSaver& from, SqliteSaver& to, const std::string& thread_id) {
  for (const CheckpointTuple& tuple : from.list(thread_id, std::nullopt, {})) {
    put(to, {.key = {thread_id, tuple.key.checkpoint_ns, tuple.parent_id},
             .checkpoint = tuple.checkpoint,
             .metadata = tuple.metadata,
             .new_versions = tuple.checkpoint.channel_versions});
    // One by one: what was written in one call is not known any more.
    for (const PendingWrite& write : tuple.pending_writes) {
      const WritesPut one{.key = tuple.key,
                          .task_id = write.task_id,
                          .task_path = write.task_path,
                          .writes = {{write.channel, write.value}}};
      to.put_writes({&one, 1});
    }
  }
}

TEST_F(LangGraphFile, WhatPythonWroteIsStoredAgainByteForByte) {
  const std::string python_file = (folder_.path / "python.db").string();
  std::filesystem::copy_file(
      std::filesystem::path(CLEW_TEST_DATA_DIR) / "databases" / "sqlite_checkpoints.db",
      python_file);
  auto python = SqliteSaver::open(python_file);
  auto saver = open(SqliteLayout::langgraph);
  run("ATTACH '" + python_file +
      "' AS python; DELETE FROM python.checkpoints WHERE type LIKE "
      "'%+aes'; DELETE FROM python.writes WHERE type LIKE '%+aes';");
  for (const ThreadInfo& thread : python->list_threads({})) {
    store_again(*python, *saver, thread.thread_id);
  }
  const std::string attach = "ATTACH '" + python_file + "' AS python; ";
  EXPECT_EQ(rows("SELECT COUNT(*) > 150 FROM checkpoints"), "1\n");
  // One is empty, the anchor of a run that saved nothing else: LangGraph makes it
  // elsewhere and with its keys in another order.
  EXPECT_EQ(rows(attach + "SELECT thread_id, CAST(metadata AS TEXT) FROM (SELECT * FROM "
                          "python.checkpoints EXCEPT SELECT * FROM main.checkpoints)"),
            "delta-exit-long|{\"step\": -2}\n");
  // Of a task's writes the first is stored here, and all to control channels.
  EXPECT_EQ(rows("SELECT COUNT(*) > 150 FROM writes"), "1\n");
  EXPECT_EQ(rows(attach + "SELECT thread_id, channel, task_path FROM (SELECT thread_id, "
                          "checkpoint_ns, checkpoint_id, task_id, task_path, channel, type, value "
                          "FROM main.writes EXCEPT SELECT thread_id, checkpoint_ns, checkpoint_id, "
                          "task_id, task_path, channel, type, value FROM python.writes)"),
            "");
}

TEST_F(LangGraphFile, AFileFromBeforeTaskPathsGetsThem) {
  run("CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', "
      "checkpoint_id TEXT NOT NULL, parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, "
      "metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));"
      "CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', "
      "checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT "
      "NULL, type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, "
      "idx));"
      "INSERT INTO writes VALUES ('t', '', '" +
      test_id(1) + "', 'old', 0, 'a', 'msgpack', x'01');");
  auto saver = open();
  EXPECT_EQ(saver->layout(), SqliteLayout::langgraph);
  put(*saver, make_put("t", 1, 0));
  put_writes(*saver, "t", 1, {{"a", 2}}, "new", "~p");
  EXPECT_EQ(newest(*saver, "t"), "1 {} [old.a=1 new.a=2]");
}

// JSON is what old versions and other languages store; only `id` and
// `channel_values` are there, `extra` is not known, and the metadata is missing.
TEST_F(LangGraphFile, ReadsCheckpointsWithOtherFields) {
  open(SqliteLayout::langgraph);
  run("INSERT INTO checkpoints VALUES ('t', '', '" + test_id(1) +
      "', NULL, 'json', "
      "'{\"id\": \"" +
      test_id(1) + "\", \"channel_values\": {\"a\": 1}, \"extra\": [1]}', NULL)");
  auto saver = open();
  const auto tuple = saver->get_tuple({"t"});
  ASSERT_TRUE(tuple);
  EXPECT_EQ(render(*tuple), R"(1 {"a":1})");
  EXPECT_EQ(tuple->metadata, object());
  EXPECT_EQ(tuple->checkpoint.channel_versions, object());
  EXPECT_EQ(saver->list_threads({}).size(), 1U);
}

TEST_F(LangGraphFile, SendsBesideTheChannelsOfAnOldCheckpointBecomeTheirChannel) {
  open(SqliteLayout::langgraph);
  run("INSERT INTO checkpoints VALUES ('t', '', '" + test_id(1) +
      "', NULL, 'json', "
      "'{\"v\": 3, \"id\": \"" +
      test_id(1) +
      "\", \"ts\": \"\", \"channel_values\": {\"a\": 1}, "
      "\"channel_versions\": {\"a\": \"2\", \"b\": \"1\"}, \"pending_sends\": [\"send\"]}', '{}')");
  const auto tuple = open()->get_tuple({"t"});
  ASSERT_TRUE(tuple);
  EXPECT_EQ(render(*tuple), R"(1 {"__pregel_tasks":["send"],"a":1})");
  EXPECT_EQ(tuple->checkpoint.channel_versions["__pregel_tasks"], Value("2"));
}

TEST_F(LangGraphFile, ADamagedRowIsAnErrorThatLeavesTheRestReadable) {
  auto saver = open(SqliteLayout::langgraph);
  put_chain(*saver, "t", 1);
  run("INSERT INTO checkpoints VALUES ('u', '', '" + test_id(1) +
      "', NULL, 'msgpack', x'c1', '{}')");
  EXPECT_THROW(saver->get_tuple({"u"}), SerdeError);
  EXPECT_EQ(newest(*saver, "t"), R"(1 {"n":1})");
}

}  // namespace
}  // namespace clew

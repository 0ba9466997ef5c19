// What a commit of SQLite costs here and now, and how many checkpoints share one.
#include <sqlite3.h>

#include <atomic>
#include <thread>
#include <vector>

#include <clew/ids.hpp>
#include <clew/sqlite_saver.hpp>

#include "report.hpp"
#include "slow_disk.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

void execute(sqlite3* database, const char* sql) {
  expect(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
}

// What SQLite is given when nobody is in between.
struct Transaction {
  const char* tables;
  std::vector<const char*> statements;
};

// A row of 1 kB, and nothing else.
const Transaction kRow = {
    "CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB)",
    {"BEGIN IMMEDIATE", "INSERT INTO rows (data) VALUES (zeroblob(1000))", "COMMIT"}};

// The least that a checkpoint is: its row, a value of 1 kB, and what a task wrote.
const Transaction kCheckpoint = {
    "CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, thread_id TEXT, checkpoint BLOB);"
    "CREATE TABLE blobs (thread_id TEXT, channel TEXT, version INTEGER, data BLOB,"
    " PRIMARY KEY (thread_id, channel, version));"
    "CREATE TABLE writes (thread_id TEXT, checkpoint_id INTEGER, task_id TEXT, idx INTEGER,"
    " data BLOB, PRIMARY KEY (thread_id, checkpoint_id, task_id, idx))",
    {"BEGIN IMMEDIATE",
     "INSERT INTO checkpoints (thread_id, checkpoint) VALUES ('thread', zeroblob(300))",
     "INSERT INTO blobs VALUES ('thread', 'note', last_insert_rowid(), zeroblob(1000))",
     "INSERT INTO writes VALUES ('thread', (SELECT max(id) FROM checkpoints), 'task', 0,"
     " zeroblob(100))",
     "COMMIT"}};

void commit_repeatedly(const Transaction& transaction, const std::string& path, bool is_full,
                       int count, Times& times) {
  sqlite3* database = nullptr;
  expect(sqlite3_open(path.c_str(), &database) == SQLITE_OK, "commit: the file opens");
  execute(database, "PRAGMA journal_mode = WAL");
  execute(database, is_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  execute(database, transaction.tables);
  std::vector<sqlite3_stmt*> statements;
  for (const char* sql : transaction.statements) {
    sqlite3_prepare_v2(database, sql, -1, &statements.emplace_back(), nullptr);
  }
  const auto commit = [&] {
    for (sqlite3_stmt* statement : statements) {
      expect(sqlite3_step(statement) == SQLITE_DONE, sqlite3_sql(statement));
      sqlite3_reset(statement);
    }
  };
  for (int i = 0; i < 20; ++i) commit();
  times.measure([&] {
    for (int i = 0; i < count; ++i) commit();
  });
  for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  sqlite3_close(database);
}

void put_one(Checkpointer& saver, const std::string& thread_id, int number) {
  CheckpointPut put;
  put.key.thread_id = thread_id;
  put.checkpoint.id = checkpoint_id(number);
  put.checkpoint.ts = "2026-01-01T00:00:00+00:00";
  put.checkpoint.channel_values = object({{"note", std::string(1000, 'x')}});
  put.checkpoint.channel_versions = object({{"note", next_version("")}});
  put.checkpoint.versions_seen = object();
  put.new_versions = put.checkpoint.channel_versions;
  put.metadata = object({{"step", number}});
  saver.put({&put, 1});
}

// All checkpoints that `threads` threads put, each waiting for its own, to threads of the saver
// that nobody has put to before.
void put_from_threads(SqliteSaver& saver, int threads, int count, Times& times) {
  const std::string prefix = "of " + std::to_string(threads) + ", ";
  times.measure([&] {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([&, thread_id = prefix + std::to_string(i)] {
        for (int n = 0; n < count / threads; ++n) put_one(saver, thread_id, n);
      });
    }
  });
}

struct Puts {
  Times alone;
  Times together;
  std::uint64_t commits = 0;  // of the last that were put together
};

// So many more of them are put together that it is their rate that is measured, not how long it
// takes to start the threads.
constexpr int kTimesTogether = 10;

void put_alone_and_together(const Options& options, int count, Puts& puts) {
  const Storage storage = open_storage(options);
  auto& saver = dynamic_cast<SqliteSaver&>(*storage.checkpointer);
  put_from_threads(saver, 1, count, puts.alone);
  const std::uint64_t before = saver.commits();
  put_from_threads(saver, 64, count * kTimesTogether, puts.together);
  puts.commits = saver.commits() - before;
}

}  // namespace

void run_commits(const Options& options) {
  const int count = options.n ? options.n : 640;
  const bool is_full = options.backend != "sqlite_normal";
  Times rows;
  Times checkpoints;
  Puts puts;
  Puts slow_puts;
  for (int i = 0; i < options.repeat; ++i) {
    const Folder folder(options);
    commit_repeatedly(kRow, folder.file("rows.db"), is_full, count, rows);
    commit_repeatedly(kCheckpoint, folder.file("checkpoints.db"), is_full, count, checkpoints);
    put_alone_and_together(options, count, puts);
    if (!is_full) continue;
    const SlowDisk disk;
    put_alone_and_together(options, count, slow_puts);
  }
  const auto row = [&](const char* name, int n, const Times& times, Value extra) {
    emit({.workload = name, .backend = options.backend, .n = n, .times = times, .extra = extra});
  };
  const auto rows_of = [&](const char* alone, const char* together, const Puts& made) {
    row(alone, count, made.alone, object({{"commits", count}}));
    row(together, count * kTimesTogether, made.together, object({{"commits", made.commits}}));
  };
  row("commit", count, rows, object());
  row("commit_checkpoint", count, checkpoints, object());
  rows_of("put_1_thread", "put_64_threads", puts);
  if (is_full) rows_of("put_1_thread_slow", "put_64_threads_slow", slow_puts);
}

}  // namespace clew::bench

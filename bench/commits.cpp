// What a commit of SQLite costs here and now, and how many checkpoints share one.
#include <sqlite3.h>

#include <atomic>
#include <thread>

#include <clew/ids.hpp>
#include <clew/sqlite_saver.hpp>

#include "report.hpp"
#include "storage.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

void execute(sqlite3* database, const char* sql) {
  expect(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
}

// A row of 1 kB per transaction, and nothing else.
void commit_rows(const std::string& path, bool is_full, int count, Times& times) {
  sqlite3* database = nullptr;
  expect(sqlite3_open(path.c_str(), &database) == SQLITE_OK, "commit: the file opens");
  execute(database, "PRAGMA journal_mode = WAL");
  execute(database, is_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  execute(database, "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, data BLOB)");
  const auto commit = [&] {
    execute(database, "BEGIN IMMEDIATE; INSERT INTO rows (data) VALUES (zeroblob(1000)); COMMIT");
  };
  for (int i = 0; i < 20; ++i) commit();
  times.measure([&] {
    for (int i = 0; i < count; ++i) commit();
  });
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

// All checkpoints that `threads` threads put, each waiting for its own.
void put_from_threads(SqliteSaver& saver, int threads, int count, Times& times) {
  times.measure([&] {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([&, i] {
        for (int n = 0; n < count / threads; ++n) put_one(saver, "t" + std::to_string(i), n);
      });
    }
  });
}

}  // namespace

void run_commits(const Options& options) {
  const int count = options.n ? options.n : 640;
  Times commits;
  Times alone;
  Times together;
  std::uint64_t shared = 0;
  for (int i = 0; i < options.repeat; ++i) {
    const Folder folder(options);
    commit_rows(folder.file("rows.db"), options.backend != "sqlite_normal", count, commits);
    const Storage storage = open_storage(options);
    auto& saver = dynamic_cast<SqliteSaver&>(*storage.checkpointer);
    put_from_threads(saver, 1, count, alone);
    const std::uint64_t before = saver.commits();
    put_from_threads(saver, 64, count, together);
    shared = saver.commits() - before;
  }
  const auto row = [&](const char* name, const Times& times, Value extra) {
    emit(
        {.workload = name, .backend = options.backend, .n = count, .times = times, .extra = extra});
  };
  row("commit", commits, object());
  row("put_1_thread", alone, object({{"commits", count}}));
  row("put_64_threads", together, object({{"commits", shared}}));
}

}  // namespace clew::bench

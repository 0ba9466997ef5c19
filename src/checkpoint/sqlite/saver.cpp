#include <clew/errors.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpoint/sqlite/layout.hpp"
#include "checkpoint/thread_conflict.hpp"

namespace clew {

using sqlite::Connection;
using sqlite::Database;
using sqlite::Layout;
using sqlite::Rows;

namespace {

// Both layouts have a table `checkpoints`; only the native one has `clew_schema`, only
// LangGraph's has `writes`.
std::optional<SqliteLayout> layout_of(Connection& connection) {
  if (connection.has_table("clew_schema")) return SqliteLayout::native;
  if (connection.has_table("checkpoints") || connection.has_table("writes")) {
    return SqliteLayout::langgraph;
  }
  return std::nullopt;
}

SqliteLayout choose_layout(Database& database, const std::string& path, SqliteLayout wanted) {
  const auto found = database.read([](Connection& connection) { return layout_of(connection); });
  if (wanted == SqliteLayout::automatic) return found.value_or(SqliteLayout::native);
  if (found && *found != wanted) {
    throw StorageError("SQLite file '" + path + "' has the " +
                       (*found == SqliteLayout::native ? "native" : "LangGraph") +
                       " layout, not the one that was asked for; open it with "
                       "SqliteLayout::automatic, or copy its threads to a new file");
  }
  return wanted;
}

}  // namespace

struct SqliteSaver::Parts {
  Parts(const std::string& path, SqliteOptions options)
      : database(path, options), layout(choose_layout(database, path, options.layout)) {
    std::shared_ptr<const Serializer> serializer = std::move(options.serializer);
    if (!serializer) serializer = std::make_shared<JsonPlusSerializer>();
    tables = layout == SqliteLayout::native
                 ? sqlite::make_native_layout(database, std::move(serializer))
                 : sqlite::make_langgraph_layout(database, std::move(serializer));
    // Whoever only looks waits for nobody who writes.
    if (database.read([this](Connection& connection) { return tables->is_made(connection); })) {
      database.watch();
    } else {
      make_tables();
    }
    // The connection that looked for the layout learns of the tables now, not when somebody reads.
    database.read([this](Connection& connection) {
      tables->check_key(connection);
      return connection.value("SELECT 1 FROM checkpoints LIMIT 1").has_value();
    });
  }

  void make_tables() {
    // A table that is renamed takes the foreign keys of other programs with it only if SQLite heeds
    // such keys, which cannot be said within a transaction.
    std::string before;
    database.maintain([&](Connection& connection) {
      before = connection.value("PRAGMA foreign_keys").value_or("0");
      connection.execute("PRAGMA foreign_keys = ON");
    });
    database.write([this](Connection& connection) { tables->create(connection); });
    database.maintain(
        [&](Connection& connection) { connection.execute("PRAGMA foreign_keys = " + before); });
  }

  void prune(Connection& connection, std::string_view thread_id, const PruneOptions& options) {
    if (options.expected_head) {
      const std::string head = sqlite::newest_checkpoint(connection, {std::string(thread_id)});
      internal::expect_head(thread_id, options, head);
    }
    if (options.keep == 0) return tables->delete_thread(connection, thread_id);
    tables->prune(connection, std::string(thread_id), options);
  }

  Database database;
  SqliteLayout layout;
  std::unique_ptr<Layout> tables;
};

std::shared_ptr<SqliteSaver> SqliteSaver::open(const std::string& path, SqliteOptions options) {
  return std::shared_ptr<SqliteSaver>(
      new SqliteSaver(std::make_unique<Parts>(path, std::move(options))));
}

bool SqliteSaver::is_in(const std::string& path) {
  Connection connection(path, SqliteOptions().busy_timeout);
  return layout_of(connection).has_value();
}

SqliteSaver::SqliteSaver(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SqliteSaver::~SqliteSaver() = default;

std::optional<CheckpointTuple> SqliteSaver::get_tuple(const CheckpointKey& key) {
  Layout& tables = *parts_->tables;
  std::optional<CheckpointTuple> found;
  const auto look_at_hand = [&](Connection& connection) {
    return tables.get_tuple_at_hand(connection, key, found);
  };
  if (tables.knows_tuples() && parts_->database.read_at_hand(look_at_hand)) return found;
  return parts_->database.read(
      [&](Connection& connection) { return tables.get_tuple(connection, key); });
}

std::vector<CheckpointTuple> SqliteSaver::list(std::string_view thread_id,
                                               std::optional<std::string_view> checkpoint_ns,
                                               const ListOptions& options) {
  return parts_->database.read([&](Connection& connection) {
    return parts_->tables->list(connection, thread_id, checkpoint_ns, options);
  });
}

// What cannot be encoded keeps only what builds on it from being stored.
void SqliteSaver::put(std::span<const CheckpointPut> puts) {
  std::vector<Database::Change> changes(puts.size());
  internal::RefusedPuts unencodable;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    unencodable.encode(puts[i], [&] { changes[i] = parts_->tables->put(puts[i]); });
  }
  internal::RefusedPuts conflicts;
  const auto store = [&](Connection& connection) {
    conflicts = {};
    parts_->tables->begin_puts();
    for (std::size_t i = 0; i < puts.size(); ++i) {
      const auto& change = changes[i];
      const bool is_stored = change && conflicts.store(puts[i], [&] { change(connection); });
      if (!is_stored) parts_->tables->forget(puts[i].key);
    }
    parts_->tables->finish_puts(connection);
  };
  try {
    parts_->database.write_repeatable(store);
  } catch (...) {
    for (const CheckpointPut& put : puts) parts_->tables->forget(put.key);
    throw;
  }
  conflicts.rethrow();
  unencodable.rethrow();
}

void SqliteSaver::put_writes(std::span<const WritesPut> puts) {
  if (puts.empty()) return;
  std::exception_ptr unencodable;
  parts_->database.write_repeatable(parts_->tables->put_writes(puts, unencodable));
  if (unencodable) std::rethrow_exception(unencodable);
}

std::vector<DeltaHistory> SqliteSaver::get_delta_channel_history(
    const CheckpointKey& key, std::span<const std::string> channels) {
  return parts_->database.read([&](Connection& connection) {
    return internal::delta_history(parts_->tables->reader(connection, key), key, channels);
  });
}

void SqliteSaver::delete_thread(std::string_view thread_id) {
  parts_->database.write(
      [&](Connection& connection) { parts_->tables->delete_thread(connection, thread_id); });
}

void SqliteSaver::copy_thread(std::string_view source, std::string_view target) {
  parts_->database.write(
      [&](Connection& connection) { parts_->tables->copy_thread(connection, source, target); });
}

void SqliteSaver::prune(std::string_view thread_id, const PruneOptions& options) {
  parts_->database.write(
      [&](Connection& connection) { parts_->prune(connection, thread_id, options); });
}

// Prunes, and changes its mind: what stays depends on all the rules of pruning.
ThreadSize SqliteSaver::size_after_prune(std::string_view thread_id, const PruneOptions& options) {
  struct Undo {};
  ThreadSize size;
  try {
    parts_->database.write([&](Connection& connection) {
      parts_->prune(connection, thread_id, options);
      size = parts_->tables->thread_size(connection, thread_id);
      throw Undo();
    });
  } catch (const Undo&) {
  }
  return size;
}

void SqliteSaver::delete_for_runs(std::span<const std::string> run_ids) {
  parts_->database.write(
      [&](Connection& connection) { parts_->tables->delete_for_runs(connection, run_ids); });
}

std::vector<ThreadInfo> SqliteSaver::list_threads(const ThreadQuery& query) {
  return parts_->database.read(
      [&](Connection& connection) { return parts_->tables->list_threads(connection, query); });
}

ThreadSize SqliteSaver::thread_size(std::string_view thread_id) {
  return parts_->database.read(
      [&](Connection& connection) { return parts_->tables->thread_size(connection, thread_id); });
}

bool SqliteSaver::stores_all_values() const { return parts_->tables->stores_all_values(); }

Value SqliteSaver::query(const std::string& sql, const Value& parameters) {
  return parts_->database.read([&](Connection& connection) {
    parts_->tables->add_functions(connection);
    return connection.select(sql, parameters);
  });
}

BlobRecovery SqliteSaver::recover_blobs(std::string_view thread_id, const RecoverOptions& options) {
  BlobRecovery recovery;
  parts_->database.write([&](Connection& connection) {
    recovery = parts_->tables->recover_blobs(connection, std::string(thread_id), options);
  });
  return recovery;
}

VerifyReport SqliteSaver::verify(std::string_view thread_id, const VerifyOptions& options) {
  VerifyReport report;
  const std::string id(thread_id);
  try {
    parts_->database.read([&](Connection& connection) {
      parts_->tables->verify(connection, id, options, report);
      return true;
    });
  } catch (const StorageError& error) {
    report.problems.push_back({.kind = StoredProblem::Kind::damaged_file,
                               .thread_id = id,
                               .what = std::string("cannot be read: ") + error.what()});
  }
  return report;
}

RepairReport SqliteSaver::repair(std::string_view thread_id, const RecoverOptions& options) {
  RepairReport report;
  parts_->database.write([&](Connection& connection) {
    report = parts_->tables->repair(connection, std::string(thread_id), options);
  });
  return report;
}

std::vector<std::string> SqliteSaver::check_file() {
  return parts_->database.read([](Connection& connection) {
    std::vector<std::string> problems;
    for (Rows rows = connection.query("PRAGMA integrity_check"); rows.next();) {
      if (rows.text(0) != "ok") problems.emplace_back(rows.text(0));
    }
    return problems;
  });
}

std::vector<std::string> SqliteSaver::stored_threads() {
  return parts_->database.read(
      [&](Connection& connection) { return parts_->tables->stored_threads(connection); });
}

SqliteLayout SqliteSaver::layout() const { return parts_->layout; }

void SqliteSaver::vacuum() {
  parts_->database.maintain([](Connection& connection) { sqlite::vacuum(connection); });
}

std::uint64_t SqliteSaver::commits() const { return parts_->database.commits(); }

}  // namespace clew

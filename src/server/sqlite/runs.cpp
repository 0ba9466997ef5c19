#include "server/sqlite/tables.hpp"

namespace clew::server::sqlite {

using clew::sqlite::Blob;

Run SqliteRuns::read_row(Rows& rows) const {
  Run run;
  run.run_id = rows.text(0);
  run.thread_id = rows.text(1);
  run.assistant_id = rows.text(2);
  run.status = rows.text(3);
  run.multitask_strategy = rows.text(4);
  run.created_at = time_of(rows.integer(5));
  run.updated_at = time_of(rows.integer(6));
  run.due_at = time_of(rows.integer(7));
  run.attempt = rows.integer(8);
  run.metadata = codec_.decode(rows.text(9));
  run.kwargs = codec_.decode(rows.text(10));
  return run;
}

std::optional<Run> SqliteRuns::get(std::string_view thread_id, std::string_view run_id) const {
  Rows rows = connection_.query(
      "SELECT run_id, thread_id, assistant_id, status, multitask_strategy, created_at, updated_at, "
      "due_at, attempt, metadata, kwargs FROM agent_runs WHERE run_id = ? AND thread_id = ?",
      run_id, thread_id);
  if (!rows.next()) return std::nullopt;
  return read_row(rows);
}

std::vector<Run> SqliteRuns::list(const RunQuery& query) const {
  std::vector<Run> runs;
  const std::string status = query.status.value_or("");
  Rows rows = connection_.query(
      "SELECT run_id, thread_id, assistant_id, status, multitask_strategy, created_at, updated_at, "
      "due_at, attempt, metadata, kwargs FROM agent_runs WHERE thread_id = ?1 AND "
      "(?2 = '' OR status = ?2) ORDER BY created_at DESC, run_id DESC LIMIT ?3 OFFSET ?4",
      query.thread_id, status, static_cast<std::int64_t>(query.page.limit),
      static_cast<std::int64_t>(query.page.offset));
  while (rows.next()) runs.push_back(read_row(rows));
  return runs;
}

std::vector<Run> SqliteRuns::unfinished(std::string_view thread_id) const {
  constexpr std::string_view kOfThread =
      "SELECT run_id, thread_id, assistant_id, status, multitask_strategy, created_at, updated_at, "
      "due_at, attempt, metadata, kwargs FROM agent_runs WHERE thread_id = ? AND "
      "status IN ('pending', 'running') ORDER BY created_at, run_id";
  constexpr std::string_view kOfAll =
      "SELECT run_id, thread_id, assistant_id, status, multitask_strategy, created_at, updated_at, "
      "due_at, attempt, metadata, kwargs FROM agent_runs WHERE "
      "status IN ('pending', 'running') ORDER BY created_at, run_id";
  std::vector<Run> runs;
  const auto take = [&](Rows rows) {
    while (rows.next()) runs.push_back(read_row(rows));
  };
  if (thread_id.empty()) {
    take(connection_.query(kOfAll));
  } else {
    take(connection_.query(kOfThread, thread_id));
  }
  return runs;
}

void SqliteRuns::put(const Run& run) {
  connection_.run(
      "INSERT INTO agent_runs (run_id, thread_id, assistant_id, status, multitask_strategy, "
      "created_at, updated_at, due_at, attempt, metadata, kwargs) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id) DO UPDATE SET "
      "status = excluded.status, updated_at = excluded.updated_at, due_at = excluded.due_at, "
      "attempt = excluded.attempt, metadata = excluded.metadata, kwargs = excluded.kwargs",
      run.run_id, run.thread_id, run.assistant_id, run.status, run.multitask_strategy,
      micros(run.created_at), micros(run.updated_at), micros(run.due_at), run.attempt,
      Blob{codec_.encode(run.metadata)}, Blob{codec_.encode(run.kwargs)});
}

void SqliteRuns::erase(std::string_view run_id) {
  connection_.run("DELETE FROM agent_runs WHERE run_id = ?", run_id);
}

}  // namespace clew::server::sqlite

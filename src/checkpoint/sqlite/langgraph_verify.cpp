// Looking for damage in the LangGraph layout.
#include "checkpoint/sqlite/langgraph_layout.hpp"
#include "checkpoint/sqlite/langgraph_rows.hpp"
#include "checkpoint/sqlite/verification.hpp"

namespace clew::sqlite {

using Kind = StoredProblem::Kind;

void LangGraphLayout::verify(Connection& connection, const std::string& thread_id,
                             const VerifyOptions& options, VerifyReport& report) {
  VerifyProgress progress(options, report);
  verify_checkpoints(connection, thread_id, progress, report);
  verify_writes(connection, thread_id, progress, report);
}

void LangGraphLayout::verify_checkpoints(Connection& connection, const std::string& thread_id,
                                         VerifyProgress& progress, VerifyReport& report) const {
  for (Rows rows = connection.query(
           "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
           " FROM checkpoints WHERE thread_id = ? ORDER BY checkpoint_ns, checkpoint_id",
           thread_id);
       rows.next() && progress.next();) {
    ++report.checkpoints;
    const CheckpointKey key{thread_id, std::string(rows.text(0)), std::string(rows.text(1))};
    const auto note = [&](Kind kind, std::string what) {
      report.problems.push_back({.kind = kind,
                                 .thread_id = thread_id,
                                 .checkpoint_ns = key.checkpoint_ns,
                                 .checkpoint_id = key.checkpoint_id,
                                 .what = std::move(what)});
    };
    if (const auto error = error_of([&] {
          const Checkpoint checkpoint =
              load_checkpoint(key.checkpoint_id, rows.text(3), rows.text(4));
          report.values += checkpoint.channel_values.size();
        })) {
      note(Kind::damaged_checkpoint, "cannot be read: " + *error);
    }
    if (const auto error = error_of([&] { parse_metadata(rows.text(5)); })) {
      note(Kind::damaged_checkpoint, "has metadata that cannot be read: " + *error);
    }
    const std::string parent_id(rows.text(2));
    if (!parent_id.empty() && !has_parent(connection, key, parent_id)) {
      note(Kind::missing_parent, "follows " + parent_id + ", which is missing");
    }
  }
}

void LangGraphLayout::verify_writes(Connection& connection, const std::string& thread_id,
                                    VerifyProgress& progress, VerifyReport& report) const {
  for (Rows rows = connection.query(
           "SELECT checkpoint_ns, checkpoint_id, task_id, channel, type, value FROM writes"
           " WHERE thread_id = ? ORDER BY checkpoint_ns, checkpoint_id, task_id, idx",
           thread_id);
       rows.next() && progress.next();) {
    ++report.writes;
    const auto error = error_of([&] { serializer_->loads_typed(rows.text(4), rows.text(5)); });
    if (!error) continue;
    report.problems.push_back({.kind = Kind::damaged_write,
                               .thread_id = thread_id,
                               .checkpoint_ns = std::string(rows.text(0)),
                               .checkpoint_id = std::string(rows.text(1)),
                               .channel = std::string(rows.text(3)),
                               .task_id = std::string(rows.text(2)),
                               .what = "cannot be read: " + *error});
  }
}

// A row holds all of a checkpoint: there is nothing to make it again from.
RepairReport LangGraphLayout::repair(Connection& connection, const std::string& thread_id,
                                     const RecoverOptions&) {
  VerifyReport report;
  verify(connection, thread_id, {}, report);
  RepairReport repaired;
  repaired.parents = forget_parents(connection, report);
  report = {};
  verify(connection, thread_id, {}, report);
  repaired.left = std::move(report.problems);
  return repaired;
}

std::vector<std::string> LangGraphLayout::stored_threads(Connection& connection) {
  std::vector<std::string> ids;
  for (Rows rows =
           connection.query("SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes");
       rows.next();) {
    ids.emplace_back(rows.text(0));
  }
  return ids;
}

}  // namespace clew::sqlite

// What both layouts do alike: each has a table `checkpoints` with the same key.
#include "checkpoint/sqlite/layout.hpp"

#include <map>

#include <clew/errors.hpp>

namespace clew::sqlite {
namespace {

bool has_checkpoint(Connection& connection, const CheckpointKey& key) {
  return connection
      .value(
          "SELECT 1 FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
          " AND checkpoint_id = ?",
          key.thread_id, key.checkpoint_ns, key.checkpoint_id)
      .has_value();
}

}  // namespace

std::string newest_checkpoint(Connection& connection, const CheckpointKey& place) {
  return connection
      .value("SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?",
             place.thread_id, place.checkpoint_ns)
      .value_or("");
}

std::vector<std::string> namespaces_of(Connection& connection, std::string_view thread_id) {
  std::vector<std::string> names;
  for (Rows rows = connection.query("SELECT checkpoint_ns FROM checkpoints WHERE thread_id = ?"
                                    " GROUP BY checkpoint_ns ORDER BY min(checkpoint_id)",
                                    thread_id);
       rows.next();) {
    names.emplace_back(rows.text(0));
  }
  return names;
}

void expect_readable(Rows rows, const Serializer& serializer) {
  if (!rows.next()) return;
  try {
    static_cast<void>(serializer.loads_typed(rows.text(0), rows.text(1)));
  } catch (const CryptoError& error) {
    throw CryptoError("the SQLite file holds threads that were stored without this key: " +
                      std::string(error.what()) +
                      "; open it with the key that they were stored with, or copy those that are"
                      " not encrypted to a new file with copy_threads()");
  } catch (const SerdeError&) {
    // Damage is told by whoever reads it.
  }
}

void Layout::prune(Connection& connection, const std::string& thread_id,
                   const PruneOptions& options) {
  // The namespaces of subgraph calls, each with the root checkpoint that made the
  // call. A call may be saved before that; then it is not among them.
  std::map<std::string, std::string> calls;
  const std::vector<std::string> namespaces = namespaces_of(connection, thread_id);
  for (const std::string& ns : namespaces) {
    const std::string caller =
        internal::calling_root(ns, newest_metadata(connection, {thread_id, ns}));
    if (has_checkpoint(connection, {thread_id, "", caller})) calls.emplace(ns, caller);
  }
  prune_namespace(connection, {thread_id, ""}, options);
  for (const std::string& ns : namespaces) {
    const auto call = calls.find(ns);
    if (call != calls.end() && !has_checkpoint(connection, {thread_id, "", call->second})) {
      delete_namespace(connection, {thread_id, ns});
    } else if (!ns.empty()) {
      prune_namespace(connection, {thread_id, ns}, options);
    }
  }
  recount(connection, thread_id);
}

void Layout::prune_namespace(Connection& connection, const CheckpointKey& place,
                             const PruneOptions& options) {
  const internal::Retention all = retention(connection, place);
  const auto is_open = [&](std::string_view id) {
    return has_open_interrupt(connection, {place.thread_id, place.checkpoint_ns, std::string(id)});
  };
  retain(connection, place, all, all.after_prune(options, is_open));
}

void Layout::delete_for_runs(Connection& connection, std::span<const std::string> run_ids) {
  if (run_ids.empty()) return;
  std::vector<CheckpointKey> places;
  for (Rows rows = connection.query("SELECT DISTINCT thread_id, checkpoint_ns FROM checkpoints");
       rows.next();) {
    places.push_back({std::string(rows.text(0)), std::string(rows.text(1))});
  }
  for (const CheckpointKey& place : places) {
    const internal::Retention all = retention(connection, place);
    const internal::Retention::Ids kept = all.after_deleting_runs(run_ids);
    if (kept.size() == all.facts().size()) continue;
    retain(connection, place, all, kept);
    recount(connection, place.thread_id);
  }
}

}  // namespace clew::sqlite

// What is done to whole threads in the LangGraph layout.
#include <set>
#include <unordered_map>

#include "checkpoint/sqlite/langgraph_layout.hpp"
#include "checkpoint/sqlite/langgraph_rows.hpp"
#include "checkpoint/thread_conflict.hpp"
#include "checkpoint/thread_query.hpp"

namespace clew::sqlite {

namespace {

using internal::CheckpointFacts;
using internal::Retention;
using internal::StoredValue;

std::uint64_t number(const std::optional<std::string>& text) {
  return text && !text->empty() ? std::stoull(*text) : 0;
}

}  // namespace

void LangGraphLayout::delete_thread(Connection& connection, std::string_view thread_id) {
  connection.run("DELETE FROM checkpoints WHERE thread_id = ?", thread_id);
  connection.run("DELETE FROM writes WHERE thread_id = ?", thread_id);
  encodings_.forget_thread(thread_id);
}

void LangGraphLayout::copy_thread(Connection& connection, std::string_view source,
                                  std::string_view target) {
  constexpr std::string_view kExists =
      "SELECT 1 WHERE EXISTS (SELECT 1 FROM checkpoints WHERE thread_id = ?1) OR "
      "EXISTS (SELECT 1 FROM writes WHERE thread_id = ?1)";
  if (!connection.value(kExists, source)) return;
  if (connection.value(kExists, target)) internal::refuse_copy(source, target);
  connection.run(
      "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
      "type, checkpoint, metadata) SELECT ?, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
      "type, checkpoint, metadata FROM checkpoints WHERE thread_id = ?",
      target, source);
  connection.run(
      "INSERT INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, "
      "channel, type, value) SELECT ?, checkpoint_ns, checkpoint_id, task_id, task_path, idx, "
      "channel, type, value FROM writes WHERE thread_id = ?",
      target, source);
}

// Removing ----------------------------------------------------------------------

Retention LangGraphLayout::retention(Connection& connection, const CheckpointKey& place) const {
  std::vector<CheckpointFacts> facts;
  // Of each checkpoint, channel to whether it holds a delta snapshot.
  std::unordered_map<std::string, Value> snapshots;
  Rows rows = connection.query(
      "SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints "
      "WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id",
      place.thread_id, place.checkpoint_ns);
  while (rows.next()) {
    const Checkpoint checkpoint = load_checkpoint(rows.text(0), rows.text(2), rows.text(3));
    ObjectBuilder held;
    for (auto [channel, value] : checkpoint.channel_values.items()) {
      held.set(channel, internal::stored_form(value) == StoredValue::delta_snapshot);
    }
    snapshots.emplace(rows.text(0), std::move(held).build());
    facts.push_back({std::string(rows.text(0)), std::string(rows.text(1)), checkpoint.v,
                     checkpoint.ts, parse_metadata(rows.text(4)), checkpoint.channel_versions});
  }
  return Retention(std::move(facts), [snapshots = std::move(snapshots)](std::string_view id,
                                                                        std::string_view channel) {
    const Value* is_snapshot = snapshots.at(std::string(id)).find(channel);
    if (!is_snapshot) return StoredValue::none;
    return is_snapshot->as_bool() ? StoredValue::delta_snapshot : StoredValue::plain;
  });
}

bool LangGraphLayout::has_open_interrupt(Connection& connection, const CheckpointKey& key) const {
  return connection
      .value(
          "SELECT 1 FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND "
          "checkpoint_id = ? AND channel = '__interrupt__' LIMIT 1",
          key.thread_id, key.checkpoint_ns, key.checkpoint_id)
      .has_value();
}

Value LangGraphLayout::newest_metadata(Connection& connection, const CheckpointKey& place) const {
  return parse_metadata(
      connection
          .value("SELECT metadata FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? "
                 "ORDER BY checkpoint_id DESC LIMIT 1",
                 place.thread_id, place.checkpoint_ns)
          .value_or(""));
}

// Writes that came before their checkpoint stay: it will be the next newest.
void LangGraphLayout::retain(Connection& connection, const CheckpointKey& place,
                             const Retention& retention, const Retention::Ids& kept) {
  if (kept.size() == retention.facts().size()) return;
  for (const CheckpointFacts& checkpoint : retention.facts()) {
    if (!kept.contains(checkpoint.id)) {
      connection.run(
          "DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND "
          "checkpoint_id = ?",
          place.thread_id, place.checkpoint_ns, checkpoint.id);
    } else if (!checkpoint.parent_id.empty() && !kept.contains(checkpoint.parent_id)) {
      connection.run(
          "UPDATE checkpoints SET parent_checkpoint_id = NULL WHERE thread_id = ? AND "
          "checkpoint_ns = ? AND checkpoint_id = ?",
          place.thread_id, place.checkpoint_ns, checkpoint.id);
    }
  }
  connection.run(
      "DELETE FROM writes WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND checkpoint_id <= ?3 "
      "AND checkpoint_id NOT IN (SELECT checkpoint_id FROM checkpoints WHERE thread_id = ?1 AND "
      "checkpoint_ns = ?2)",
      place.thread_id, place.checkpoint_ns, retention.facts().back().id);
}

void LangGraphLayout::delete_namespace(Connection& connection, const CheckpointKey& place) {
  connection.run("DELETE FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?",
                 place.thread_id, place.checkpoint_ns);
  connection.run("DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ?", place.thread_id,
                 place.checkpoint_ns);
}

// Looking -----------------------------------------------------------------------

ThreadInfo LangGraphLayout::describe(Connection& connection, std::string_view thread_id,
                                     std::size_t checkpoints) const {
  ThreadInfo info;
  info.thread_id = thread_id;
  info.checkpoints = checkpoints;
  Rows row = connection.query(
      "SELECT checkpoint_id, type, checkpoint, metadata FROM checkpoints WHERE thread_id = ? AND "
      "checkpoint_ns = '' ORDER BY checkpoint_id DESC LIMIT 1",
      thread_id);
  if (row.next()) {
    info.checkpoint_id = row.text(0);
    info.updated_at = load_checkpoint(row.text(0), row.text(1), row.text(2)).ts;
    info.metadata = parse_metadata(row.text(3));
    info.status =
        internal::status_of(load_writes(connection, {info.thread_id, "", info.checkpoint_id}));
  }
  return info;
}

std::vector<ThreadInfo> LangGraphLayout::list_threads(Connection& connection,
                                                      const ThreadQuery& query) {
  std::vector<ThreadInfo> found;
  Rows rows = connection.query(
      "SELECT thread_id, COUNT(*) FROM checkpoints WHERE ?1 = '' OR thread_id > ?1 "
      "GROUP BY thread_id ORDER BY thread_id",
      query.after);
  while ((!query.limit || found.size() < *query.limit) && rows.next()) {
    ThreadInfo info = describe(connection, rows.text(0), static_cast<std::size_t>(rows.integer(1)));
    if (internal::matches(info, query)) found.push_back(std::move(info));
  }
  return found;
}

ThreadSize LangGraphLayout::thread_size(Connection& connection, std::string_view thread_id) {
  ThreadSize size;
  std::set<std::pair<std::string, Value>> versions;  // of channels that hold something
  Rows rows = connection.query(
      "SELECT checkpoint_id, type, checkpoint, checkpoint_ns, length(checkpoint) + "
      "IFNULL(length(CAST(metadata AS BLOB)), 0) FROM checkpoints WHERE thread_id = ?",
      thread_id);
  while (rows.next()) {
    ++size.checkpoints;
    size.bytes += static_cast<std::uint64_t>(rows.integer(4));
    const Checkpoint checkpoint = load_checkpoint(rows.text(0), rows.text(1), rows.text(2));
    for (auto [channel, value] : checkpoint.channel_values.items()) {
      versions.emplace(std::string(rows.text(3)) + '\0' + std::string(channel),
                       checkpoint.channel_versions[channel]);
    }
  }
  size.values = versions.size();
  size.writes =
      number(connection.value("SELECT COUNT(*) FROM writes WHERE thread_id = ?", thread_id));
  size.write_bytes = number(connection.value(
      "SELECT SUM(length(CAST(value AS BLOB))) FROM writes WHERE thread_id = ?", thread_id));
  size.bytes += size.write_bytes;
  return size;
}

}  // namespace clew::sqlite

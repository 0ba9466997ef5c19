#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "server/sqlite/tables.hpp"

namespace clew::server::sqlite {
namespace {

// Connections keep compiled statements by their text, which must live on. There
// are only as many texts as ways to search.
std::string_view kept(std::string sql) {
  static std::mutex mutex;
  static auto* const texts = new std::unordered_set<std::string>();
  const std::lock_guard lock(mutex);
  return *texts->insert(std::move(sql)).first;
}

std::string order_by(const std::string& column, const Walk& walk) {
  const std::string direction = walk.sort.descending ? " DESC" : " ASC";
  return " ORDER BY " + column + direction + ", t." + std::string(walk.key) + direction;
}

std::string select(const Walk& walk) { return "SELECT " + std::string(walk.columns) + " FROM "; }

void visit_all(Rows rows, const std::function<bool(Rows&)>& visit) {
  while (rows.next() && visit(rows)) {
  }
}

}  // namespace

void LabelIndex::replace(std::string_view id, const Value& before, const Value& after,
                         Time created_at) {
  if (before == after) return;
  const std::vector<Label> old_labels = codec_.labels(before);
  const std::vector<Label> new_labels = codec_.labels(after);
  const auto is_in = [](const std::vector<Label>& labels, const Label& label) {
    return std::find(labels.begin(), labels.end(), label) != labels.end();
  };
  for (const Label& label : old_labels) {
    if (is_in(new_labels, label)) continue;
    connection_.run(
        "DELETE FROM agent_labels WHERE kind = ? AND key = ? AND value = ? AND created_at = ? "
        "AND id = ?",
        kind_, label.key, label.value, micros(created_at), id);
  }
  for (const Label& label : new_labels) {
    if (is_in(old_labels, label)) continue;
    connection_.run(
        "INSERT OR IGNORE INTO agent_labels (kind, key, value, created_at, id) "
        "VALUES (?, ?, ?, ?, ?)",
        kind_, label.key, label.value, micros(created_at), id);
  }
}

Value conditions(const Value& owner, const Value& metadata) {
  if (!owner.is_object()) return metadata;
  return metadata.is_object() ? owner.merge(metadata) : owner;
}

void walk_rows(Connection& connection, const Walk& walk, const LabelIndex& index,
               const Value& wanted, const std::function<bool(Rows&)>& visit) {
  const std::string table = std::string(walk.table) + " t";
  if (const std::vector<Label> labels = index.codec().labels(wanted); !labels.empty()) {
    const bool by_creation = walk.sort.by == "created_at";
    const std::string_view sql =
        kept(select(walk) + "agent_labels l CROSS JOIN " + table + " ON t." +
             std::string(walk.key) + " = l.id WHERE l.kind = ? AND l.key = ? AND l.value = ?" +
             (by_creation ? std::string(" ORDER BY l.created_at ") +
                                (walk.sort.descending ? "DESC, l.id DESC" : "ASC, l.id ASC")
                          : order_by("t." + walk.sort.by, walk)));
    const Label& label = labels.back();
    return visit_all(connection.query(sql, index.kind(), label.key, label.value), visit);
  }
  const std::string order = order_by("t." + walk.sort.by, walk);
  if (!walk.condition.empty()) {
    const std::string_view sql = kept(select(walk) + table + " WHERE " + walk.condition + order);
    return visit_all(connection.query(sql, walk.argument), visit);
  }
  visit_all(connection.query(kept(select(walk) + table + order)), visit);
}

}  // namespace clew::server::sqlite

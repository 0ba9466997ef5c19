#include "server/sqlite/tables.hpp"

namespace clew::server::sqlite {

using clew::sqlite::Blob;

namespace {

constexpr std::string_view kColumns =
    "t.cron_id, t.assistant_id, t.thread_id, t.enabled, t.created_at, t.updated_at, "
    "t.next_run_date, t.end_time, t.metadata, t.body";

}  // namespace

Cron SqliteCrons::read_row(Rows& rows) const {
  Cron cron;
  cron.cron_id = rows.text(0);
  cron.assistant_id = rows.text(1);
  cron.thread_id = rows.text(2);
  cron.enabled = rows.integer(3) != 0;
  cron.created_at = time_of(rows.integer(4));
  cron.updated_at = time_of(rows.integer(5));
  if (!rows.is_null(6)) cron.next_run_date = time_of(rows.integer(6));
  if (!rows.is_null(7)) cron.end_time = time_of(rows.integer(7));
  cron.metadata = codec_.decode(rows.text(8));
  const Value body = codec_.decode(rows.text(9));
  cron.user_id = body.at("user_id").get<std::string>();
  cron.schedule = body.at("schedule").get<std::string>();
  cron.timezone = body["timezone"];
  cron.payload = body["payload"];
  cron.on_run_completed = body["on_run_completed"];
  return cron;
}

std::optional<Cron> SqliteCrons::get(std::string_view id, const Value& owner) const {
  Rows rows = connection_.query(
      "SELECT cron_id, assistant_id, thread_id, enabled, created_at, updated_at, next_run_date, "
      "end_time, metadata, body FROM agent_crons WHERE cron_id = ?",
      id);
  if (!rows.next()) return std::nullopt;
  Cron cron = read_row(rows);
  if (!contains(cron.metadata, owner)) return std::nullopt;
  return cron;
}

void SqliteCrons::visit(const CronQuery& query, const std::function<bool(Cron)>& each) const {
  Walk walk{kColumns, "agent_crons", "cron_id"};
  walk.sort = query.sort;
  walk_rows(connection_, walk, labels_, conditions(query.owner, query.metadata), [&](Rows& rows) {
    if (query.assistant_id && rows.text(1) != *query.assistant_id) return true;
    if (query.thread_id && rows.text(2) != *query.thread_id) return true;
    if (query.enabled && (rows.integer(3) != 0) != *query.enabled) return true;
    Cron cron = read_row(rows);
    const bool is_wanted =
        contains(cron.metadata, query.owner) && contains(cron.metadata, query.metadata);
    return !is_wanted || each(std::move(cron));
  });
}

Found<Cron> SqliteCrons::search(const CronQuery& query) const {
  return take_page<Cron>(query.page, [&](const auto& take) {
    visit(query, [&](Cron cron) { return take([&] { return std::move(cron); }); });
  });
}

std::size_t SqliteCrons::count(const CronQuery& query) const {
  std::size_t count = 0;
  visit(query, [&](const Cron&) { return ++count > 0; });
  return count;
}

std::optional<Cron> SqliteCrons::next() const {
  Rows rows = connection_.query(
      "SELECT cron_id, assistant_id, thread_id, enabled, created_at, updated_at, next_run_date, "
      "end_time, metadata, body FROM agent_crons WHERE enabled = 1 AND next_run_date IS NOT NULL "
      "ORDER BY next_run_date LIMIT 1");
  if (!rows.next()) return std::nullopt;
  return read_row(rows);
}

void SqliteCrons::put(const Cron& cron) {
  const auto before = get(cron.cron_id, {});
  labels_.replace(cron.cron_id, before ? before->metadata : Value(), cron.metadata,
                  cron.created_at);
  const Value body = object({{"user_id", cron.user_id},
                             {"schedule", cron.schedule},
                             {"timezone", cron.timezone},
                             {"payload", cron.payload},
                             {"on_run_completed", cron.on_run_completed}});
  connection_.run(
      "INSERT OR REPLACE INTO agent_crons (cron_id, assistant_id, thread_id, enabled, created_at, "
      "updated_at, next_run_date, end_time, metadata, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      cron.cron_id, cron.assistant_id, cron.thread_id, std::int64_t{cron.enabled},
      micros(cron.created_at), micros(cron.updated_at), micros(cron.next_run_date),
      micros(cron.end_time), Blob{codec_.encode(cron.metadata)}, Blob{codec_.encode(body)});
}

void SqliteCrons::erase(std::string_view id) {
  const auto before = get(id, {});
  if (!before) return;
  labels_.replace(id, before->metadata, {}, before->created_at);
  connection_.run("DELETE FROM agent_crons WHERE cron_id = ?", id);
}

}  // namespace clew::server::sqlite

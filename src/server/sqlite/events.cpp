#include "server/sqlite/tables.hpp"

namespace clew::server::sqlite {

using clew::sqlite::Blob;

std::vector<Event> SqliteEvents::read(std::string_view thread_id, std::int64_t place,
                                      std::size_t limit) const {
  std::vector<Event> events;
  Rows rows = connection_.query(
      "SELECT place, run_id, seq, protocol_seq, ms, kind, name, data, source FROM agent_events "
      "WHERE thread_id = ? AND place > ? ORDER BY place LIMIT ?",
      thread_id, place, static_cast<std::int64_t>(limit));
  while (rows.next()) {
    Event event;
    event.thread_id = thread_id;
    event.place = rows.integer(0);
    event.run_id = rows.text(1);
    event.seq = rows.integer(2);
    event.protocol_seq = rows.integer(3);
    event.ms = rows.integer(4);
    event.kind = static_cast<EventKind>(rows.integer(5));
    event.name = rows.text(6);
    event.data = codec_.open(rows.text(7));
    event.source = rows.text(8);
    events.push_back(std::move(event));
  }
  return events;
}

EventTail SqliteEvents::tail(std::string_view thread_id) const {
  EventTail tail;
  Rows rows = connection_.query(
      "SELECT place, ms FROM agent_events WHERE thread_id = ? ORDER BY place DESC LIMIT 1",
      thread_id);
  if (!rows.next()) return tail;
  tail.place = rows.integer(0);
  tail.ms = rows.integer(1);
  Rows numbered = connection_.query(
      "SELECT protocol_seq FROM agent_events WHERE thread_id = ? AND protocol_seq > 0 "
      "ORDER BY place DESC LIMIT 1",
      thread_id);
  if (numbered.next()) tail.protocol_seq = numbered.integer(0);
  return tail;
}

std::int64_t SqliteEvents::last_seq(std::string_view run_id) const {
  Rows rows = connection_.query("SELECT max(seq) FROM agent_events WHERE run_id = ?", run_id);
  return rows.next() ? rows.integer(0) : 0;
}

std::optional<std::int64_t> SqliteEvents::place_of(std::string_view run_id,
                                                   std::int64_t seq) const {
  {
    Rows rows = connection_.query(
        "SELECT place FROM agent_events WHERE run_id = ? AND seq BETWEEN 1 AND ? "
        "ORDER BY seq DESC LIMIT 1",
        run_id, seq);
    if (rows.next()) return rows.integer(0);
  }
  Rows rows = connection_.query("SELECT min(place) FROM agent_events WHERE run_id = ?", run_id);
  if (!rows.next() || rows.is_null(0)) return std::nullopt;
  return rows.integer(0) - 1;
}

std::optional<std::int64_t> SqliteEvents::place_of_checkpoint(
    std::string_view run_id, std::string_view checkpoint_id) const {
  Rows rows =
      connection_.query("SELECT place FROM agent_events WHERE run_id = ? AND kind = ? AND name = ?",
                        run_id, static_cast<std::int64_t>(EventKind::checkpoint), checkpoint_id);
  if (!rows.next()) return std::nullopt;
  return rows.integer(0);
}

std::int64_t SqliteEvents::place_at(std::string_view thread_id, std::int64_t ms,
                                    std::int64_t seq) const {
  Rows rows = connection_.query(
      "SELECT place FROM agent_events WHERE thread_id = ?1 AND seq > 0 AND "
      "(ms < ?2 OR (ms = ?2 AND seq <= ?3)) ORDER BY place DESC LIMIT 1",
      thread_id, ms, seq);
  return rows.next() ? rows.integer(0) : 0;
}

std::int64_t SqliteEvents::place_of_protocol(std::string_view thread_id,
                                             std::int64_t protocol_seq) const {
  Rows rows = connection_.query(
      "SELECT place FROM agent_events WHERE thread_id = ? AND protocol_seq BETWEEN 1 AND ? "
      "ORDER BY place DESC LIMIT 1",
      thread_id, protocol_seq);
  return rows.next() ? rows.integer(0) : 0;
}

void SqliteEvents::append(std::span<const Event> events) {
  for (const Event& event : events) {
    connection_.run(
        "INSERT OR REPLACE INTO agent_events (thread_id, place, run_id, seq, protocol_seq, ms, "
        "kind, name, data, source) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        event.thread_id, event.place, event.run_id, event.seq, event.protocol_seq, event.ms,
        static_cast<std::int64_t>(event.kind), event.name, Blob{codec_.seal(event.data)},
        event.source);
  }
}

void SqliteEvents::erase_run(std::string_view run_id) {
  connection_.run("DELETE FROM agent_events WHERE run_id = ?", run_id);
}

void SqliteEvents::erase_thread(std::string_view thread_id) {
  connection_.run("DELETE FROM agent_events WHERE thread_id = ?", thread_id);
}

void SqliteEvents::erase_orphans() {
  connection_.run(
      "DELETE FROM agent_events WHERE thread_id NOT IN (SELECT thread_id FROM agent_threads)");
}

}  // namespace clew::server::sqlite

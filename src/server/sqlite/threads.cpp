#include <algorithm>

#include <clew/json.hpp>

#include "server/sqlite/tables.hpp"

namespace clew::server::sqlite {

using clew::sqlite::Blob;

namespace {

constexpr std::string_view kColumns =
    "t.thread_id, t.status, t.created_at, t.updated_at, t.state_updated_at, t.expires_at, "
    "t.metadata, t.body, t.thread_values";

Value body_of(const Thread& thread) {
  ObjectBuilder body;
  body.set("config", thread.config);
  if (thread.error) body.set("error", *thread.error);
  if (thread.interrupts) body.set("interrupts", *thread.interrupts);
  if (thread.ttl) {
    body.set("ttl", object({{"strategy", thread.ttl->strategy}, {"minutes", thread.ttl->minutes}}));
  }
  return std::move(body).build();
}

void read_body(const Value& body, Thread& thread) {
  thread.config = body["config"];
  if (const Value* error = body.find("error")) thread.error = *error;
  if (const Value* interrupts = body.find("interrupts")) thread.interrupts = *interrupts;
  if (const Value* ttl = body.find("ttl")) {
    thread.ttl = {ttl->at("strategy").get<std::string>(), ttl->at("minutes").as_double()};
  }
}

}  // namespace

Thread SqliteThreads::read_row(Rows& rows, Value metadata) const {
  Thread thread;
  thread.thread_id = rows.text(0);
  thread.status = rows.text(1);
  thread.created_at = time_of(rows.integer(2));
  thread.updated_at = time_of(rows.integer(3));
  thread.state_updated_at = time_of(rows.integer(4));
  if (!rows.is_null(5)) thread.expires_at = time_of(rows.integer(5));
  thread.metadata = std::move(metadata);
  read_body(codec_.decode(rows.text(7)), thread);
  thread.values = codec_.decode(rows.text(8));
  return thread;
}

std::optional<Thread> SqliteThreads::get(std::string_view id, const Value& owner) const {
  Rows rows = connection_.query(
      "SELECT thread_id, status, created_at, updated_at, state_updated_at, expires_at, metadata, "
      "body, thread_values FROM agent_threads WHERE thread_id = ?",
      id);
  if (!rows.next()) return std::nullopt;
  Value metadata = codec_.decode(rows.text(6));
  if (!contains(metadata, owner)) return std::nullopt;
  return read_row(rows, std::move(metadata));
}

void SqliteThreads::visit(const ThreadQuery& query,
                          const std::function<bool(Rows&, Value)>& each) const {
  Walk walk{kColumns, "agent_threads", "thread_id"};
  walk.sort = query.sort;
  Value wanted = conditions(query.owner, query.metadata);
  if (query.ids) {
    walk.condition = "t.thread_id IN (SELECT value FROM json_each(?))";
    walk.argument = to_json(Value(*query.ids));
    wanted = {};
  } else if (query.status) {
    walk.condition = "t.status = ?";
    walk.argument = *query.status;
  }
  walk_rows(connection_, walk, labels_, wanted, [&](Rows& rows) {
    if (query.status && rows.text(1) != *query.status) return true;
    Value metadata = codec_.decode(rows.text(6));
    if (!contains(metadata, query.owner) || !contains(metadata, query.metadata)) return true;
    if (!query.values.is_null() && !contains(codec_.decode(rows.text(8)), query.values)) {
      return true;
    }
    return each(rows, std::move(metadata));
  });
}

Found<Thread> SqliteThreads::search(const ThreadQuery& query) const {
  return take_page<Thread>(query.page, [&](const auto& take) {
    visit(query, [&](Rows& rows, Value metadata) {
      return take([&] { return read_row(rows, std::move(metadata)); });
    });
  });
}

std::size_t SqliteThreads::count(const ThreadQuery& query) const {
  std::size_t count = 0;
  visit(query, [&](Rows&, const Value&) { return ++count > 0; });
  return count;
}

std::vector<Thread> SqliteThreads::expired(Time now, std::size_t limit) const {
  std::vector<Thread> threads;
  Rows rows = connection_.query(
      "SELECT thread_id, status, created_at, updated_at, state_updated_at, expires_at, metadata, "
      "body, thread_values FROM agent_threads WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
      micros(now), static_cast<std::int64_t>(limit));
  while (rows.next()) threads.push_back(read_row(rows, codec_.decode(rows.text(6))));
  return threads;
}

void SqliteThreads::put(const Thread& thread) {
  const auto before =
      connection_.value("SELECT metadata FROM agent_threads WHERE thread_id = ?", thread.thread_id);
  labels_.replace(thread.thread_id, before ? codec_.decode(*before) : Value(), thread.metadata,
                  thread.created_at);
  connection_.run(
      "INSERT INTO agent_threads (thread_id, status, created_at, updated_at, state_updated_at, "
      "expires_at, metadata, body, thread_values) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
      "ON CONFLICT (thread_id) DO UPDATE SET status = excluded.status, "
      "updated_at = excluded.updated_at, state_updated_at = excluded.state_updated_at, "
      "expires_at = excluded.expires_at, metadata = excluded.metadata, body = excluded.body, "
      "thread_values = excluded.thread_values",
      thread.thread_id, thread.status, micros(thread.created_at), micros(thread.updated_at),
      micros(thread.state_updated_at), micros(thread.expires_at),
      Blob{codec_.encode(thread.metadata)}, Blob{codec_.encode(body_of(thread))},
      Blob{codec_.encode(thread.values)});
}

void SqliteThreads::erase(std::string_view id) {
  const auto before = get(id, {});
  if (!before) return;
  labels_.replace(id, before->metadata, {}, before->created_at);
  connection_.run("DELETE FROM agent_threads WHERE thread_id = ?", id);
  connection_.run("DELETE FROM agent_runs WHERE thread_id = ?", id);
}

}  // namespace clew::server::sqlite

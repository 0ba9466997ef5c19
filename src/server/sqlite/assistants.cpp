#include <algorithm>
#include <cctype>

#include "server/sqlite/tables.hpp"

namespace clew::server::sqlite {

using clew::sqlite::Blob;

namespace {

constexpr std::string_view kColumns =
    "t.assistant_id, t.graph_id, t.name, t.is_system, t.version, t.created_at, t.updated_at, "
    "t.metadata, t.body";

Value body_of(const Assistant& assistant) {
  return object({{"config", assistant.config},
                 {"context", assistant.context},
                 {"description", assistant.description}});
}

void read_body(const Value& body, Assistant& assistant) {
  assistant.config = body["config"];
  assistant.context = body["context"];
  assistant.description = body["description"];
}

bool is_part_of(std::string_view part, std::string_view text) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool is_visible(const Assistant& assistant, const Value& owner) {
  return assistant.is_system || contains(assistant.metadata, owner);
}

}  // namespace

Assistant SqliteAssistants::read_row(Rows& rows) const {
  Assistant assistant;
  assistant.assistant_id = rows.text(0);
  assistant.graph_id = rows.text(1);
  assistant.name = rows.text(2);
  assistant.is_system = rows.integer(3) != 0;
  assistant.version = rows.integer(4);
  assistant.created_at = time_of(rows.integer(5));
  assistant.updated_at = time_of(rows.integer(6));
  assistant.metadata = codec_.decode(rows.text(7));
  read_body(codec_.decode(rows.text(8)), assistant);
  return assistant;
}

std::optional<Assistant> SqliteAssistants::get(std::string_view id, const Value& owner) const {
  Rows rows = connection_.query(
      "SELECT assistant_id, graph_id, name, is_system, version, created_at, updated_at, metadata, "
      "body FROM agent_assistants WHERE assistant_id = ?",
      id);
  if (!rows.next()) return std::nullopt;
  Assistant assistant = read_row(rows);
  if (!is_visible(assistant, owner)) return std::nullopt;
  return assistant;
}

// The owner is no way to walk along: assistants of the system belong to nobody.
void SqliteAssistants::visit(const AssistantQuery& query,
                             const std::function<bool(Assistant)>& each) const {
  Walk walk{kColumns, "agent_assistants", "assistant_id"};
  walk.sort = query.sort;
  walk_rows(connection_, walk, labels_, query.metadata, [&](Rows& rows) {
    if (query.graph_id && rows.text(1) != *query.graph_id) return true;
    if (query.name && !is_part_of(*query.name, rows.text(2))) return true;
    Assistant assistant = read_row(rows);
    const bool is_wanted =
        is_visible(assistant, query.owner) && contains(assistant.metadata, query.metadata);
    return !is_wanted || each(std::move(assistant));
  });
}

Found<Assistant> SqliteAssistants::search(const AssistantQuery& query) const {
  return take_page<Assistant>(query.page, [&](const auto& take) {
    visit(query, [&](Assistant assistant) { return take([&] { return std::move(assistant); }); });
  });
}

std::size_t SqliteAssistants::count(const AssistantQuery& query) const {
  std::size_t count = 0;
  visit(query, [&](const Assistant&) { return ++count > 0; });
  return count;
}

void SqliteAssistants::put(const Assistant& assistant) {
  const auto before = get(assistant.assistant_id, {});
  labels_.replace(assistant.assistant_id, before ? before->metadata : Value(), assistant.metadata,
                  assistant.created_at);
  connection_.run(
      "INSERT OR REPLACE INTO agent_assistants (assistant_id, graph_id, name, is_system, version, "
      "created_at, updated_at, metadata, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      assistant.assistant_id, assistant.graph_id, assistant.name, std::int64_t{assistant.is_system},
      assistant.version, micros(assistant.created_at), micros(assistant.updated_at),
      Blob{codec_.encode(assistant.metadata)}, Blob{codec_.encode(body_of(assistant))});
}

void SqliteAssistants::erase(std::string_view id) {
  const auto before = get(id, {});
  if (!before) return;
  labels_.replace(id, before->metadata, {}, before->created_at);
  connection_.run("DELETE FROM agent_assistants WHERE assistant_id = ?", id);
  connection_.run("DELETE FROM agent_assistant_versions WHERE assistant_id = ?", id);
}

std::vector<Assistant> SqliteAssistants::versions(std::string_view id) const {
  std::vector<Assistant> versions;
  Rows rows = connection_.query(
      "SELECT assistant_id, graph_id, name, 0, version, created_at, created_at, metadata, body "
      "FROM agent_assistant_versions WHERE assistant_id = ? ORDER BY version DESC",
      id);
  while (rows.next()) versions.push_back(read_row(rows));
  return versions;
}

void SqliteAssistants::put_version(const Assistant& assistant) {
  connection_.run(
      "INSERT OR REPLACE INTO agent_assistant_versions (assistant_id, version, graph_id, name, "
      "created_at, metadata, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
      assistant.assistant_id, assistant.version, assistant.graph_id, assistant.name,
      micros(assistant.updated_at), Blob{codec_.encode(assistant.metadata)},
      Blob{codec_.encode(body_of(assistant))});
}

}  // namespace clew::server::sqlite

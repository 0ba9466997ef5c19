#include "server/assistants.hpp"

#include <algorithm>

#include <clew/uuid.hpp>

#include "server/body.hpp"
#include "server/new_ids.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

constexpr std::string_view kNameSpace = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

Value version_value(const Assistant& assistant) {
  return object({{"assistant_id", assistant.assistant_id},
                 {"version", assistant.version},
                 {"graph_id", assistant.graph_id},
                 {"config", assistant.config},
                 {"context", assistant.context},
                 {"metadata", assistant.metadata},
                 {"created_at", time_text(assistant.created_at)},
                 {"name", assistant.name},
                 {"description", assistant.description}});
}

Value assistant_value(const Assistant& assistant) {
  return version_value(assistant).set("updated_at", time_text(assistant.updated_at));
}

// Whichever of config.configurable and context is given becomes the other as well.
void set_context(const Body& body, Assistant& assistant) {
  const Value config = body.object_field("config");
  const Value context = body.object_field("context");
  const Value configurable = Body(config).object_field("configurable");
  const bool has_configurable = !configurable.empty();
  if (has_configurable && !context.empty()) {
    throw ServiceError(400, "Cannot specify both configurable and context; prefer context alone.");
  }
  if (!config.is_null()) assistant.config = config;
  if (!context.is_null()) {
    assistant.context = context;
    assistant.config = assistant.config.set("configurable", context);
  } else if (has_configurable) {
    assistant.context = configurable;
  }
}

AssistantQuery query_of(const Caller& caller, const Body& body) {
  AssistantQuery query;
  query.owner = caller.assistant_owner;
  query.metadata = body.object_field("metadata");
  query.graph_id = body.text("graph_id");
  query.name = body.text("name");
  return query;
}

void check_graph(const GraphRegistry& graphs, const std::string& graph_id) {
  if (graphs.find(graph_id)) return;
  std::vector<std::string> names = graphs.names();
  std::sort(names.begin(), names.end());
  std::string expected;
  for (const std::string& name : names) expected += (expected.empty() ? "'" : ", '") + name + "'";
  throw ServiceError(404,
                     "Graph '" + graph_id + "' not found. Expected one of: [" + expected + "]");
}

// An assistant of the system is everybody's: whoever has assistants of his own
// leaves it as it is.
void check_may_change(const Caller& caller, const Assistant& assistant) {
  if (assistant.is_system && !caller.assistant_owner.is_null()) {
    throw ServiceError(403, "The assistant of a graph cannot be changed");
  }
}

}  // namespace

std::string system_assistant_id(std::string_view graph_id) {
  return uuid5(Uuid::parse(kNameSpace), graph_id).to_string();
}

std::optional<Assistant> resolve_assistant(const Tables& tables, const GraphRegistry& graphs,
                                           const Caller& caller, const std::string& id_or_graph) {
  if (graphs.find(id_or_graph)) {
    return tables.assistants().get(system_assistant_id(id_or_graph), caller.assistant_owner);
  }
  if (!is_uuid(id_or_graph)) {
    std::string names;
    for (const std::string& name : graphs.names()) names += (names.empty() ? "" : ", ") + name;
    throw ServiceError(422, "Invalid assistant: '" + id_or_graph +
                                "'. Must be either:\n- A valid assistant UUID, or\n"
                                "- One of the registered graphs: " +
                                names);
  }
  return tables.assistants().get(checked_uuid(id_or_graph, "assistant"), caller.assistant_owner);
}

void AssistantService::make_system_assistants() {
  parts_.repository->write([&](Tables& tables) {
    for (const auto& graph : parts_.graphs->all()) {
      const std::string& name = graph->name();
      Assistant assistant;
      assistant.assistant_id = system_assistant_id(name);
      if (tables.assistants().get(assistant.assistant_id, {})) continue;
      assistant.graph_id = assistant.name = name;
      if (!graph->description().empty()) assistant.description = graph->description();
      assistant.metadata = object({{"created_by", "system"}});
      assistant.created_at = assistant.updated_at = parts_.now();
      assistant.is_system = true;
      tables.assistants().put(assistant);
      tables.assistants().put_version(assistant);
    }
  });
}

Value AssistantService::create(const Caller& caller, const Value& json) {
  const Body body(json);
  Assistant assistant;
  assistant.graph_id = body.required_text("graph_id");
  const auto id = body.text("assistant_id");
  assistant.assistant_id = id ? checked_uuid(*id, "assistant") : new_uuid4();
  const auto if_exists = body.choice("if_exists", {"raise", "do_nothing"});
  set_context(body, assistant);
  assistant.metadata = merged(body.object_field("metadata"), caller.assistant_owner);
  assistant.name = body.text("name").value_or("Untitled");
  assistant.description = body.text("description");
  check_graph(*parts_.graphs, assistant.graph_id);
  assistant.created_at = assistant.updated_at = parts_.now();
  parts_.repository->write([&](Tables& tables) {
    if (const auto taken = tables.assistants().get(assistant.assistant_id, {})) {
      const auto ours = tables.assistants().get(assistant.assistant_id, caller.assistant_owner);
      if (!ours || if_exists != "do_nothing") {
        throw ServiceError(409, "Assistant " + assistant.assistant_id + " already exists");
      }
      assistant = *ours;
      return;
    }
    tables.assistants().put(assistant);
    tables.assistants().put_version(assistant);
  });
  return assistant_value(assistant);
}

Listing AssistantService::search(const Caller& caller, const Value& json) {
  const Body body(json);
  AssistantQuery query = query_of(caller, body);
  query.page = body.page();
  query.sort = body.sort({"assistant_id", "created_at", "updated_at", "name", "graph_id"});
  const std::vector<std::string> columns =
      body.select({"assistant_id", "graph_id", "name", "description", "config", "context",
                   "created_at", "updated_at", "metadata", "version"});
  const auto found = parts_.repository->look(
      [&](const Tables& tables) { return tables.assistants().search(query); });
  ListBuilder rows;
  for (const Assistant& row : found.rows) rows.push_back(select(assistant_value(row), columns));
  return listing(std::move(rows).build(), query.page, found.has_more);
}

std::size_t AssistantService::count(const Caller& caller, const Value& json) {
  const AssistantQuery query = query_of(caller, Body(json));
  return parts_.repository->look(
      [&](const Tables& tables) { return tables.assistants().count(query); });
}

Assistant AssistantService::find(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "assistant");
  const auto found = parts_.repository->look(
      [&](const Tables& tables) { return tables.assistants().get(id, caller.assistant_owner); });
  if (!found) throw ServiceError(404, "Not Found");
  return *found;
}

Value AssistantService::get(const Caller& caller, const std::string& id) {
  return assistant_value(find(caller, id));
}

Value AssistantService::patch(const Caller& caller, const std::string& text, const Value& json) {
  const std::string id = checked_uuid(text, "assistant");
  const Body body(json);
  const auto graph_id = body.text("graph_id");
  if (graph_id) check_graph(*parts_.graphs, *graph_id);
  Assistant assistant;
  parts_.repository->write([&](Tables& tables) {
    const auto found = tables.assistants().get(id, caller.assistant_owner);
    if (!found) throw ServiceError(404, "Assistant " + id + " not found");
    check_may_change(caller, *found);
    assistant = *found;
    if (graph_id) assistant.graph_id = *graph_id;
    set_context(body, assistant);
    assistant.metadata =
        merged(merged(assistant.metadata, body.object_field("metadata")), caller.assistant_owner);
    if (const auto name = body.text("name")) assistant.name = *name;
    if (body.has("description")) assistant.description = body.text("description");
    assistant.version = tables.assistants().versions(id).front().version + 1;
    assistant.updated_at = parts_.now();
    tables.assistants().put(assistant);
    tables.assistants().put_version(assistant);
  });
  return assistant_value(assistant);
}

std::vector<std::string> AssistantService::remove(const Caller& caller, const std::string& text,
                                                  bool delete_threads) {
  const std::string id = checked_uuid(text, "assistant");
  std::vector<std::string> threads;
  parts_.repository->write([&](Tables& tables) {
    const auto found = tables.assistants().get(id, caller.assistant_owner);
    if (!found) throw ServiceError(404, "Assistant with ID " + id + " not found");
    if (found->is_system) {
      throw ServiceError(403, "The assistant of a graph cannot be deleted");
    }
    tables.assistants().erase(id);
    if (!delete_threads) return;
    ThreadQuery query;
    query.owner = caller.owner;
    query.metadata = object({{"assistant_id", id}});
    query.page.limit = std::numeric_limits<std::size_t>::max();
    for (const Thread& thread : tables.threads().search(query).rows) {
      threads.push_back(thread.thread_id);
    }
  });
  return threads;
}

Value AssistantService::versions(const Caller& caller, const std::string& id, const Value& json) {
  const Body body(json);
  const Page page = body.page();
  const Value metadata = body.object_field("metadata");
  const Assistant assistant = find(caller, id);
  const auto all = parts_.repository->look(
      [&](const Tables& tables) { return tables.assistants().versions(assistant.assistant_id); });
  ListBuilder rows;
  std::size_t matched = 0;
  for (const Assistant& version : all) {
    if (!contains(version.metadata, metadata)) continue;
    if (matched++ < page.offset || rows.size() == page.limit) continue;
    rows.push_back(version_value(version));
  }
  return std::move(rows).build();
}

Value AssistantService::set_latest(const Caller& caller, const std::string& text,
                                   const Value& json) {
  const std::string id = checked_uuid(text, "assistant");
  const auto wanted = Body(json).integer("version", 1, std::numeric_limits<std::int64_t>::max());
  if (!wanted) throw ServiceError(422, "\"version\" is a required property");
  Assistant assistant;
  parts_.repository->write([&](Tables& tables) {
    const auto found = tables.assistants().get(id, caller.assistant_owner);
    if (!found) throw ServiceError(404, "Assistant " + id + " not found");
    check_may_change(caller, *found);
    const std::vector<Assistant> all = tables.assistants().versions(id);
    const auto version = std::find_if(
        all.begin(), all.end(), [&](const Assistant& other) { return other.version == *wanted; });
    if (version == all.end()) {
      throw ServiceError(404,
                         "Version " + std::to_string(*wanted) + " not found for assistant " + id);
    }
    assistant = *version;
    assistant.metadata = merged(assistant.metadata, caller.assistant_owner);
    assistant.created_at = found->created_at;
    assistant.is_system = found->is_system;
    assistant.updated_at = parts_.now();
    tables.assistants().put(assistant);
  });
  return assistant_value(assistant);
}

// Graphs ------------------------------------------------------------------------

std::shared_ptr<const HostedGraph> AssistantService::graph_of(const Assistant& assistant) {
  auto graph = parts_.graphs->find(assistant.graph_id);
  if (!graph) throw ServiceError(404, "Graph '" + assistant.graph_id + "' not found");
  return graph;
}

Value AssistantService::graph(const Caller& caller, const std::string& id, Xray xray) {
  const auto found = parts_.repository->look(
      [&](const Tables& tables) { return resolve_assistant(tables, *parts_.graphs, caller, id); });
  if (!found) throw ServiceError(404, "Not Found");
  return graph_of(*found)->drawing(xray);
}

Value AssistantService::schemas(const Caller& caller, const std::string& id) {
  return graph_of(find(caller, id))->schemas();
}

Value AssistantService::subgraphs(const Caller& caller, const std::string& id,
                                  const std::optional<std::string>& name_space, bool recurse) {
  return graph_of(find(caller, id))->subgraph_schemas(name_space.value_or(""), recurse);
}

}  // namespace clew::server

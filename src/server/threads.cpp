#include "server/threads.hpp"

#include <algorithm>

#include <clew/errors.hpp>

#include "server/body.hpp"
#include "server/extract.hpp"
#include "server/new_ids.hpp"
#include "server/run_call.hpp"
#include "server/shapes.hpp"

namespace clew::server {

Value to_value(const Thread& thread, bool include_ttl) {
  ObjectBuilder shown;
  shown.set("thread_id", thread.thread_id);
  shown.set("created_at", time_text(thread.created_at));
  shown.set("updated_at", time_text(thread.updated_at));
  shown.set("state_updated_at", time_text(thread.state_updated_at));
  shown.set("metadata", thread.metadata);
  shown.set("status", thread.status);
  shown.set("config", thread.config);
  shown.set("values", thread.values);
  if (thread.error) shown.set("error", *thread.error);
  if (thread.interrupts) shown.set("interrupts", *thread.interrupts);
  if (include_ttl && thread.ttl) {
    shown.set("ttl", object({{"strategy", thread.ttl->strategy},
                             {"ttl_minutes", thread.ttl->minutes},
                             {"expires_at", thread.expires_at ? Value(time_text(*thread.expires_at))
                                                              : Value()}}));
  }
  return std::move(shown).build();
}

namespace {

// Minutes, or {"ttl": minutes, "strategy"}.
std::optional<ThreadTtl> ttl_of(const Body& body) {
  const Value& ttl = body["ttl"];
  if (ttl.is_null()) return std::nullopt;
  if (!ttl.is_object()) return ThreadTtl{"delete", *body.number("ttl", 0)};
  const Body fields(ttl);
  const auto minutes = fields.number("ttl", 0);
  if (!minutes) throw ServiceError(422, "\"ttl\" is a required property of \"ttl\"");
  return ThreadTtl{fields.choice("strategy", {"delete", "keep_latest"}).value_or("delete"),
                   *minutes};
}

void set_ttl(Thread& thread, const std::optional<ThreadTtl>& ttl, Time now) {
  thread.ttl = ttl;
  thread.expires_at.reset();
  if (ttl) thread.expires_at = now + ttl_duration(*ttl);
}

ThreadQuery query_of(const Caller& caller, const Body& body) {
  ThreadQuery query;
  query.owner = caller.owner;
  query.metadata = body.object_field("metadata");
  query.values = body.object_field("values");
  query.status = body.choice("status", {"idle", "busy", "interrupted", "error"});
  return query;
}

ServiceError thread_not_found(const std::string& id) {
  return ServiceError(404, "Thread with ID " + id + " not found");
}

// Thread, namespace and checkpoint that a client's checkpoint object names. The
// thread is the path's, whatever the object says.
Config config_of(const std::string& thread_id, const Value& checkpoint) {
  const Body fields(checkpoint);
  Config config;
  config.thread_id = thread_id;
  config.checkpoint_ns = fields.text("checkpoint_ns").value_or("");
  config.checkpoint_id = fields.text("checkpoint_id").value_or("");
  config.checkpoint_map = fields.object_field("checkpoint_map");
  return config;
}

std::vector<std::vector<StateUpdate>> updates_of(const Value& supersteps) {
  std::vector<std::vector<StateUpdate>> steps;
  for (const Value& superstep : supersteps) {
    std::vector<StateUpdate> updates;
    for (const Value& update : Body(superstep).list_field("updates")) {
      const Body fields(update);
      const Value command = fields.object_field("command");
      updates.push_back({command.is_null() ? fields["values"] : command_of(command),
                         fields.text("as_node").value_or(""),
                         {}});
    }
    steps.push_back(std::move(updates));
  }
  return steps;
}

// What the engine refuses is the caller's mistake.
template <class Call>
auto refused_as_400(const Call& call) {
  try {
    return call();
  } catch (const UnknownNodeError& error) {
    throw ServiceError(400, error.what());
  } catch (const StorageError&) {
    throw;
  } catch (const ServiceError&) {
    throw;
  } catch (const Error& error) {
    throw ServiceError(400, error.what());
  }
}

void set_facts(Thread& thread, const ThreadFacts& facts, Time now) {
  thread.values = facts.values;
  thread.status = facts.has_next ? "interrupted" : "idle";
  thread.error = Value();
  thread.interrupts = facts.interrupts;
  thread.updated_at = thread.state_updated_at = now;
}

}  // namespace

// Threads -----------------------------------------------------------------------

Thread ThreadService::find(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "thread");
  const auto found = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().get(id, caller.owner); });
  if (!found) throw thread_not_found(id);
  return *found;
}

Value ThreadService::create(const Caller& caller, const Value& json) {
  const Body body(json);
  const auto id = body.text("thread_id");
  const auto if_exists = body.choice("if_exists", {"raise", "do_nothing"});
  const Value supersteps = body.list_field("supersteps");
  const auto ttl = ttl_of(body);
  Thread thread;
  thread.thread_id = id ? checked_uuid(*id, "thread") : new_uuid7();
  thread.metadata = merged(body.object_field("metadata"), caller.owner);
  thread.created_at = thread.updated_at = thread.state_updated_at = parts_.now();
  set_ttl(thread, ttl ? ttl : parts_.options.default_ttl, thread.created_at);

  const RunQueue::Hold hold(queue_, thread.thread_id);
  const auto find_existing = [&](const Tables& tables) -> std::optional<Thread> {
    if (!id || !tables.threads().get(thread.thread_id, {})) return std::nullopt;
    auto ours = tables.threads().get(thread.thread_id, caller.owner);
    if (!ours || if_exists != "do_nothing") {
      throw ServiceError(409, "Thread with ID " + thread.thread_id + " already exists");
    }
    return ours;
  };
  if (!supersteps.empty()) {
    if (const auto existing = parts_.repository->look(find_existing)) return to_value(*existing);
    thread = add_supersteps(std::move(thread), supersteps);
  }
  parts_.repository->write([&](Tables& tables) {
    if (const auto existing = find_existing(tables)) {
      thread = *existing;
    } else {
      tables.threads().put(thread);
    }
  });
  return to_value(thread);
}

Thread ThreadService::add_supersteps(Thread thread, const Value& supersteps) {
  const auto graph = graph_of(thread);
  const auto updates = updates_of(supersteps);
  Config config{.thread_id = thread.thread_id};
  config.configurable = object({{"graph_id", thread.metadata["graph_id"]}});
  return refused_as_400([&] {
    graph->graph().bulk_update_state(config, updates);
    const StateSnapshot state = graph->graph().get_state(Config{.thread_id = thread.thread_id});
    set_facts(thread, facts_of(state), thread.created_at);
    return thread;
  });
}

Listing ThreadService::search(const Caller& caller, const Value& json) {
  const Body body(json);
  ThreadQuery query = query_of(caller, body);
  query.ids = body.texts("ids");
  query.page = body.page();
  query.sort = body.sort({"thread_id", "status", "created_at", "updated_at", "state_updated_at"});
  const std::vector<std::string> columns =
      body.select({"thread_id", "created_at", "updated_at", "state_updated_at", "metadata",
                   "config", "status", "values", "interrupts", "error"});
  const std::vector<ExtractPath> extracts = extract_paths(body.object_field("extract"));
  const auto found =
      parts_.repository->look([&](const Tables& tables) { return tables.threads().search(query); });
  ListBuilder rows;
  for (const Thread& thread : found.rows) {
    const Value whole = to_value(thread);
    Value row = select(whole, columns);
    if (!extracts.empty()) row = row.set("extracted", extract(whole, extracts));
    rows.push_back(row);
  }
  return listing(std::move(rows).build(), query.page, found.has_more);
}

std::size_t ThreadService::count(const Caller& caller, const Value& json) {
  const ThreadQuery query = query_of(caller, Body(json));
  return parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().count(query); });
}

Value ThreadService::get(const Caller& caller, const std::string& id, bool include_ttl) {
  return to_value(find(caller, id), include_ttl);
}

Value ThreadService::patch(const Caller& caller, const std::string& text, const Value& json) {
  const std::string id = checked_uuid(text, "thread");
  const Body body(json);
  const Value metadata = body.object_field("metadata");
  const auto ttl = ttl_of(body);
  Thread thread;
  parts_.repository->write([&](Tables& tables) {
    const auto found = tables.threads().get(id, caller.owner);
    if (!found) throw ServiceError(404, "Not Found");
    thread = *found;
    thread.metadata = merged(merged(thread.metadata, metadata), caller.owner);
    thread.updated_at = parts_.now();
    if (ttl) set_ttl(thread, ttl, thread.updated_at);
    tables.threads().put(thread);
  });
  return to_value(thread);
}

void ThreadService::remove(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "thread");
  const RunQueue::Hold hold(queue_, id);
  parts_.repository->write([&](Tables& tables) {
    if (!tables.threads().get(id, caller.owner)) throw thread_not_found(id);
    tables.threads().erase(id);
  });
  erase(id);
}

// What is left of a thread whose row is gone. Under a Hold.
void ThreadService::erase(const std::string& id) {
  queue_.forget_thread(id);
  parts_.checkpointer->delete_thread(id);
  log_.erase_thread(id);
}

Value ThreadService::copy(const Caller& caller, const std::string& text) {
  const std::string id = checked_uuid(text, "thread");
  Thread copy;
  copy.thread_id = new_uuid7();
  const auto source = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().get(id, caller.owner); });
  if (!source) throw ServiceError(409, "Conflict");
  copy.metadata = source->metadata;
  copy.values = source->values;
  copy.status = source->status;
  copy.interrupts = source->interrupts;
  copy.error = source->error;
  copy.created_at = copy.updated_at = copy.state_updated_at = parts_.now();
  set_ttl(copy, source->ttl, copy.created_at);
  if (parts_.checkpointer->get_tuple({id, "", ""})) {
    parts_.checkpointer->copy_thread(id, copy.thread_id);
  }
  if (copy.status == "busy") {
    const auto graph = graph_of(copy);
    set_facts(copy, facts_of(graph->graph().get_state(Config{.thread_id = copy.thread_id})),
              copy.created_at);
  }
  parts_.repository->write([&](Tables& tables) { tables.threads().put(copy); });
  return to_value(copy);
}

Value ThreadService::prune(const Caller& caller, const Value& json) {
  const Body body(json);
  const auto ids = body.texts("thread_ids");
  if (!ids) throw ServiceError(422, "\"thread_ids\" is a required property");
  const bool deletes =
      body.choice("strategy", {"delete", "keep_latest"}).value_or("delete") == "delete";
  std::size_t pruned = 0;
  for (const std::string& text : *ids) {
    const std::string id = checked_uuid(text, "thread");
    const bool is_ours = parts_.repository->look(
        [&](const Tables& tables) { return tables.threads().get(id, caller.owner).has_value(); });
    if (!is_ours) continue;
    if (deletes) {
      remove(caller, id);
    } else {
      parts_.checkpointer->prune(id, PruneOptions{});
    }
    ++pruned;
  }
  return object({{"pruned_count", pruned}});
}

Value ThreadService::storage(const Caller& caller, const std::string& id) {
  const Thread thread = find(caller, id);
  const ThreadSize size = parts_.checkpointer->thread_size(thread.thread_id);
  return object(
      {{"thread_id", thread.thread_id},
       {"total_bytes", size.bytes},
       {"checkpoints", object({{"count", size.checkpoints},
                               {"bytes", size.bytes - size.value_bytes - size.write_bytes}})},
       {"channel_values", object({{"count", size.values}, {"bytes", size.value_bytes}})},
       {"pending_writes", object({{"count", size.writes}, {"bytes", size.write_bytes}})}});
}

std::size_t ThreadService::sweep() {
  constexpr std::size_t kAtOnce = 100;
  const std::vector<Thread> expired = parts_.repository->look(
      [&](const Tables& tables) { return tables.threads().expired(parts_.now(), kAtOnce); });
  std::size_t swept = 0;
  for (const Thread& seen : expired) {
    const RunQueue::Hold hold(queue_, seen.thread_id);
    bool is_deleted = false;
    bool is_cut = false;
    parts_.repository->write([&](Tables& tables) {
      auto thread = tables.threads().get(seen.thread_id, {});
      if (!thread || !thread->ttl || thread->expires_at > parts_.now()) return;
      if (!tables.runs().unfinished(thread->thread_id).empty()) {
        thread->expires_at = parts_.now() + ttl_duration(*thread->ttl);
        return tables.threads().put(*thread);
      }
      is_deleted = thread->ttl->strategy == "delete";
      is_cut = !is_deleted;
      if (is_deleted) return tables.threads().erase(thread->thread_id);
      thread->expires_at.reset();
      tables.threads().put(*thread);
    });
    if (is_deleted) erase(seen.thread_id);
    if (is_cut) parts_.checkpointer->prune(seen.thread_id, PruneOptions{});
    swept += is_deleted || is_cut ? 1 : 0;
  }
  return swept;
}

// States ------------------------------------------------------------------------

std::shared_ptr<const HostedGraph> ThreadService::graph_of(const Thread& thread) {
  const Value& graph_id = thread.metadata["graph_id"];
  if (!graph_id.is_string()) {
    throw ServiceError(400, "Thread '" + thread.thread_id +
                                "' has no assigned graph ID. Run a graph on it, or set "
                                "'graph_id' in its metadata, before this operation.");
  }
  auto graph = parts_.graphs->find(graph_id.as_string());
  if (!graph) {
    throw ServiceError(404, "Graph '" + graph_id.get<std::string>() + "' not found");
  }
  return graph;
}

Value ThreadService::read_state(const Thread& thread, const Config& config, bool subgraphs) {
  if (!thread.metadata["graph_id"].is_string()) {
    StateSnapshot empty;
    empty.config = config;
    return state_value(empty);
  }
  const auto graph = graph_of(thread);
  return refused_as_400([&] { return state_value(graph->graph().get_state(config, subgraphs)); });
}

Value ThreadService::state(const Caller& caller, const std::string& id,
                           const std::string& checkpoint_id, bool subgraphs) {
  const Thread thread = find(caller, id);
  Config config{.thread_id = thread.thread_id};
  config.checkpoint_id = checkpoint_id;
  const Value state = read_state(thread, config, subgraphs);
  if (checkpoint_id.empty()) return state;
  // It was asked for without a namespace, and is shown as it was asked for.
  return state.set("checkpoint", state["checkpoint"].erase("checkpoint_ns"));
}

Value ThreadService::state_at(const Caller& caller, const std::string& id, const Value& json) {
  const Body body(json);
  if (!body.has("checkpoint")) throw ServiceError(422, "\"checkpoint\" is a required property");
  const Thread thread = find(caller, id);
  return read_state(thread, config_of(thread.thread_id, body.object_field("checkpoint")),
                    body.flag("subgraphs").value_or(false));
}

Value ThreadService::update_state(const Caller& caller, const std::string& id, const Value& json) {
  const Body body(json);
  const Value& values = body["values"];
  if (!values.is_null() && !values.is_object() && !values.is_list()) {
    throw ServiceError(422, "\"values\" is not of type \"object\", \"array\" or \"null\"");
  }
  const std::string as = body.text("as_node").value_or("");
  const Thread seen = find(caller, id);
  const auto graph = graph_of(seen);
  Config config = config_of(seen.thread_id, body.object_field("checkpoint"));
  if (const auto checkpoint_id = body.text("checkpoint_id")) config.checkpoint_id = *checkpoint_id;
  config.configurable = object({{"graph_id", seen.metadata["graph_id"]}});

  const RunQueue::Hold hold(queue_, seen.thread_id);
  const bool is_busy = parts_.repository->look(
      [&](const Tables& tables) { return !tables.runs().unfinished(seen.thread_id).empty(); });
  if (is_busy) throw ServiceError(409, "Thread is busy with a running job. Cannot update state.");
  const Config updated =
      refused_as_400([&] { return graph->graph().update_state(config, values, as_node(as)); });
  const StateSnapshot now = graph->graph().get_state(Config{.thread_id = seen.thread_id});
  const auto change = [facts = facts_of(now), thread_id = seen.thread_id,
                       time = parts_.now()](Tables& tables) {
    auto thread = tables.threads().get(thread_id, {});
    if (!thread) return;
    set_facts(*thread, facts, time);
    tables.threads().put(*thread);
  };
  parts_.repository->write(change);
  log_.append(
      seen.thread_id, "",
      {{EventKind::state_update, "state_update",
        json_text(object({{"state", state_value(now)}, {"thread_id", seen.thread_id}})), false}});
  const Value checkpoint = checkpoint_value(updated);
  return object({{"checkpoint", checkpoint},
                 {"configurable", checkpoint},
                 {"checkpoint_id", updated.checkpoint_id}});
}

Value ThreadService::history(const Caller& caller, const std::string& id, const Value& json) {
  const Body body(json);
  HistoryOptions options;
  options.limit = body.page().limit;
  const Value before = body.object_field("before");
  const Value& place = before["configurable"].is_object() ? before["configurable"] : before;
  options.before = Body(place).text("checkpoint_id").value_or("");
  options.filter = body.object_field("metadata");
  const Thread thread = find(caller, id);
  if (!thread.metadata["graph_id"].is_string()) return list();
  const auto graph = graph_of(thread);
  Config config = config_of(thread.thread_id, body.object_field("checkpoint"));
  config.checkpoint_id.clear();
  return refused_as_400([&] {
    ListBuilder states;
    for (const StateSnapshot& state : graph->graph().get_state_history(config, options)) {
      states.push_back(state_value(state));
    }
    return std::move(states).build();
  });
}

// Streams -----------------------------------------------------------------------

std::unique_ptr<EventReader> ThreadService::stream(const Caller& caller, const std::string& id,
                                                   const std::vector<std::string>& modes,
                                                   const std::string& last_event_id) {
  bool wants_runs = modes.empty();
  bool wants_lifecycle = false;
  bool wants_updates = false;
  for (const std::string& mode : modes) {
    if (mode == "run_modes") {
      wants_runs = true;
    } else if (mode == "lifecycle") {
      wants_lifecycle = true;
    } else if (mode == "state_update") {
      wants_updates = true;
    } else {
      throw ServiceError(422, "Invalid stream mode: " + mode);
    }
  }
  const auto start = start_after(last_event_id);
  if (!start) {
    throw ServiceError(422, "Invalid last-event-id: must be \"<milliseconds>-<number>\"");
  }
  const Thread thread = find(caller, id);
  return log_.read_thread(thread.thread_id, *start, [=](const Event& event) {
    if (event.kind == EventKind::state_update) return wants_updates;
    if (wants_runs) return true;
    return wants_lifecycle && event.name == "metadata";
  });
}

}  // namespace clew::server

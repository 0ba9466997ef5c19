// The actions of scenarios, as calls of the engine.
#include <algorithm>
#include <cctype>

#include <clew/errors.hpp>

#include "expression.hpp"
#include "python.hpp"
#include "store_calls.hpp"
#include "world.hpp"

namespace clew::conformance {
namespace {

// Takes the place of the id of an interrupt that is not pending.
constexpr std::string_view kNoSuchInterrupt = "00000000000000000000000000000001";

std::vector<std::string> names(const Value& list_or_name) {
  if (list_or_name.is_string()) return {list_or_name.get<std::string>()};
  return string_list(list_or_name);
}

StateUpdate state_update(const Value& update) {
  StateUpdate result;
  result.values = evaluate(update["values"]);
  if (!update["as_node"].is_null()) {
    result.as_node = update["as_node"] == Value("END") ? END : update.get<std::string>("as_node");
  }
  return result;
}

// Ids of the pending interrupts of a snapshot and the graphs in it, by question.
void collect_questions(const StateSnapshot& snapshot, const Normalizer& normalizer,
                       std::map<std::string, std::string>& ids) {
  const auto add = [&](const std::vector<Interrupt>& interrupts) {
    for (const Interrupt& interrupt : interrupts) {
      ids[canonical_text(normalizer.value(interrupt.value))] = interrupt.id;
    }
  };
  add(snapshot.interrupts);
  for (const SnapshotTask& task : snapshot.tasks) {
    add(task.interrupts);
    if (task.state) collect_questions(*task.state, normalizer, ids);
  }
}

}  // namespace

const World::Action World::kActions[] = {
    {"invoke", &World::invoke},
    {"get_state", &World::get_state},
    {"get_history", &World::get_history},
    {"update_state", &World::update_state},
    {"bulk_update", &World::bulk_update},
    {"delete_thread", &World::delete_thread},
    {"clear_cache", &World::clear_cache},
    {"restart", &World::restart},
    {"store_put", &World::store_put},
    {"store_get", &World::store_get},
    {"store_delete", &World::store_delete},
    {"store_search", &World::store_search},
    {"store_list_namespaces", &World::store_list_namespaces},
};

World::Outcome World::attempt(const Value& action) {
  const std::string name = action.get<std::string>("do");
  try {
    if (name == "stream") return stream(action);
    const auto found = std::find_if(std::begin(kActions), std::end(kActions),
                                    [&](const Action& known) { return known.name == name; });
    if (found == std::end(kActions)) throw ScenarioError("unknown action '" + name + "'");
    return {(this->*found->perform)(action), nullptr};
  } catch (const ScenarioError&) {
    throw;
  } catch (...) {
    return {Value(), std::current_exception()};
  }
}

// ---- Runs

World::Raw World::invoke(const Value& action) {
  const Value input = run_input(action);
  return graph().invoke(input, run_config(action));
}

World::Outcome World::stream(const Value& action) {
  StreamOptions options;
  options.modes = action["modes"].get<std::vector<StreamMode>>();
  options.subgraphs = is_true(action["subgraphs"]);
  const Value input = run_input(action);
  const Config config = run_config(action);

  std::vector<StreamEvent> events;
  std::exception_ptr error;
  try {
    Stream stream = graph().stream(input, config, options);
    for (const StreamEvent& event : stream) events.push_back(event);
  } catch (const ScenarioError&) {
    throw;
  } catch (...) {
    error = std::current_exception();
  }
  if (config.durability == Durability::exit) take_stored_counters(events);
  return {std::move(events), error};
}

// In LangGraph an event holds the metadata itself rather than a copy. Under `exit` it is
// completed when the run ends, and the recorder looked at the events after that.
void World::take_stored_counters(std::vector<StreamEvent>& events) const {
  constexpr std::string_view kCounters = "counters_since_delta_snapshot";
  const auto completed = [&](const Value& payload) {
    const Value& place = payload["config"]["configurable"];
    if (!place["checkpoint_id"].is_string()) return payload;
    const auto tuple = database_->saver()->get_tuple({place.get<std::string>("thread_id"),
                                                      place.get<std::string>("checkpoint_ns"),
                                                      place.get<std::string>("checkpoint_id")});
    if (!tuple) return payload;
    Value metadata = payload["metadata"].erase(kCounters);
    if (const Value* counters = tuple->metadata.find(kCounters)) {
      metadata = metadata.set(kCounters, *counters);
    }
    return payload.set("metadata", metadata);
  };
  for (StreamEvent& event : events) {
    if (event.mode == StreamMode::checkpoints) event.data = completed(event.data);
    if (event.mode == StreamMode::debug && event.data["type"] == Value("checkpoint")) {
      event.data = event.data.set("payload", completed(event.data["payload"]));
    }
  }
}

Value World::run_input(const Value& action) const {
  const Value* command = action.find("command");
  if (!command) return evaluate(action["input"]);
  Value fields = *command;
  if (const Value* answers = command->find("resume_by_value")) {
    fields =
        fields.erase("resume_by_value").set("resume", answers_by_id(action["thread"], *answers));
  }
  return make_command(evaluate(fields));
}

Value World::answers_by_id(const Value& thread, const Value& answers) const {
  const Config config{.thread_id = thread.get<std::string>()};
  std::map<std::string, std::string> ids;
  collect_questions(graph().get_state(config, /*subgraphs=*/true), normalizer_, ids);
  ObjectBuilder result;
  for (const Value& answer : answers) {
    const auto found = ids.find(canonical_text(answer.at(0)));
    result.set(found == ids.end() ? kNoSuchInterrupt : std::string_view(found->second),
               answer.at(1));
  }
  return std::move(result).build();
}

Config World::run_config(const Value& action) const {
  Config config = this->config(action);
  if (const Value* durability = action.find("durability")) {
    config.durability = durability->get<Durability>();
  }
  if (const Value* nodes = action.find("interrupt_before")) config.interrupt_before = names(*nodes);
  if (const Value* nodes = action.find("interrupt_after")) config.interrupt_after = names(*nodes);
  if (const Value* keys = action.find("output_keys")) config.output_keys = names(*keys);
  config.context = action["context"];
  return config;
}

// ---- Addresses

Config World::config(const Value& action) const {
  Config config;
  if (const Value* thread = action.find("thread")) config.thread_id = python_text(*thread);
  if (const Value* ns = action.find("raw_ns")) config.checkpoint_ns = ns->get<std::string>();
  if (const Value& ns = action["ns"]; !ns.is_null()) {
    config.checkpoint_ns = raw_namespace(config.thread_id, ns.get<std::string>());
  }
  if (!action["at"].is_null()) address_checkpoint(config, action["at"]);
  if (const Value* limit = action.find("recursion_limit")) {
    config.recursion_limit = limit->get<int>();
  }
  config.metadata = action["metadata"];
  return config;
}

// As a snapshot's own config would: a child's checkpoint comes with those of
// the graphs around it.
void World::address_checkpoint(Config& config, const Value& label) const {
  config.checkpoint_id =
      raw_checkpoint(config.thread_id, config.checkpoint_ns, label.get<std::string>());
  if (config.checkpoint_ns.empty()) return;
  const auto tuple =
      database_->saver()->get_tuple({config.thread_id, config.checkpoint_ns, config.checkpoint_id});
  if (!tuple) throw ScenarioError("checkpoint " + label.get<std::string>() + " is gone");
  config.checkpoint_map =
      object()
          .merge(tuple->metadata["parents"].is_null() ? object() : tuple->metadata["parents"])
          .set(config.checkpoint_ns, config.checkpoint_id);
}

std::string World::raw_namespace(const std::string& thread, const std::string& label) const {
  if (label.empty()) return "";
  for (const std::string& ns : database_->namespaces(thread)) {
    if (labels_.ns(ns) == label) return ns;
  }
  throw ScenarioError("thread '" + thread + "' has no namespace '" + label + "'");
}

std::string World::raw_checkpoint(const std::string& thread, const std::string& ns,
                                  const std::string& label) const {
  const bool is_label = label.size() > 1 && label.front() == 'c' &&
                        std::all_of(label.begin() + 1, label.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!is_label) throw ScenarioError("'" + label + "' is no checkpoint label");
  const std::vector<std::string> ids = database_->ids(thread, ns);
  const std::size_t number = std::stoul(label.substr(1));
  if (number >= ids.size()) {
    throw ScenarioError("thread '" + thread + "' has no checkpoint " + label + " in namespace '" +
                        labels_.ns(ns) + "'");
  }
  return ids[number];
}

// ---- States

World::Raw World::get_state(const Value& action) {
  return graph().get_state(config(action), is_true(action["subgraphs"]));
}

World::Raw World::get_history(const Value& action) {
  HistoryOptions options;
  options.filter = action["filter"];
  if (const Value* limit = action.find("limit")) options.limit = limit->get<std::size_t>();
  const Config config = this->config(action);
  if (const Value* before = action.find("before")) {
    options.before =
        raw_checkpoint(config.thread_id, config.checkpoint_ns, before->get<std::string>());
  }
  std::vector<StateSnapshot> snapshots;
  for (const StateSnapshot& snapshot : graph().get_state_history(config, options)) {
    snapshots.push_back(snapshot);
  }
  return snapshots;
}

World::Raw World::update_state(const Value& action) {
  const StateUpdate update = state_update(action);
  return graph().update_state(config(action), update.values, as_node(update.as_node));
}

World::Raw World::bulk_update(const Value& action) {
  std::vector<std::vector<StateUpdate>> supersteps;
  for (const Value& step : action["steps"]) {
    std::vector<StateUpdate>& updates = supersteps.emplace_back();
    for (const Value& update : step) updates.push_back(state_update(update));
  }
  return graph().bulk_update_state(config(action), supersteps);
}

World::Raw World::delete_thread(const Value& action) {
  database_->saver()->delete_thread(action.get<std::string>("thread"));
  return Value();
}

World::Raw World::clear_cache(const Value& action) {
  const Value& nodes = action["nodes"];
  graph().clear_cache(nodes.is_null() ? std::vector<std::string>() : string_list(nodes));
  return Value();
}

World::Raw World::restart(const Value& action) {
  if (const Value* root = action.find("root")) root_ = root->get<std::string>();
  build();
  return Value();
}

// ---- The store

World::Raw World::store_put(const Value& action) {
  put_item(store(), action);
  return Value();
}

World::Raw World::store_get(const Value& action) { return get_item(store(), action); }

World::Raw World::store_delete(const Value& action) {
  delete_item(store(), action);
  return Value();
}

World::Raw World::store_search(const Value& action) { return search_items(store(), action); }

World::Raw World::store_list_namespaces(const Value& action) {
  return list_namespaces(store(), action);
}

}  // namespace clew::conformance

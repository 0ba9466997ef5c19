#include "server/shapes.hpp"

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/time.hpp>

#include "pregel/errors.hpp"

namespace clew::server {

std::string json_text(const Value& value) {
  return to_json(value, {.non_finite = NonFinite::null});
}

Value plain(const Value& value) { return parse_json(json_text(value)); }

// Always with microseconds, which format_time() leaves out when they are zero.
std::string time_text(Time time) {
  std::string text = format_time(time);
  if (text.find('.') == std::string::npos) text.insert(text.size() - 6, ".000000");
  return text;
}

Value checkpoint_value(const Config& config) {
  ObjectBuilder checkpoint;
  if (!config.checkpoint_id.empty()) checkpoint.set("checkpoint_id", config.checkpoint_id);
  checkpoint.set("thread_id", config.thread_id);
  checkpoint.set("checkpoint_ns", config.checkpoint_ns);
  if (config.checkpoint_map.is_object()) checkpoint.set("checkpoint_map", config.checkpoint_map);
  return std::move(checkpoint).build();
}

namespace {

Value interrupt_values(const std::vector<Interrupt>& interrupts) {
  ListBuilder list;
  for (const Interrupt& interrupt : interrupts) {
    list.push_back(object({{"id", interrupt.id}, {"value", plain(interrupt.value)}}));
  }
  return std::move(list).build();
}

Value task_value(const SnapshotTask& task) {
  Value checkpoint;
  if (!task.state && task.state_config) {
    checkpoint = object({{"thread_id", task.state_config->thread_id},
                         {"checkpoint_ns", task.state_config->checkpoint_ns}});
  }
  return object({{"id", task.id},
                 {"name", task.name},
                 {"path", plain(task.path)},
                 {"error", task.error ? plain(*task.error) : Value()},
                 {"interrupts", interrupt_values(task.interrupts)},
                 {"checkpoint", checkpoint},
                 {"state", task.state ? state_value(*task.state) : Value()},
                 {"result", task.result ? plain(*task.result) : Value()}});
}

// The thread is part of it, whichever thread the checkpoint was copied from.
Value metadata_value(const StateSnapshot& snapshot) {
  const Value metadata = plain(snapshot.metadata);
  return metadata.is_object() ? metadata.set("thread_id", snapshot.config.thread_id) : metadata;
}

}  // namespace

Value state_value(const StateSnapshot& snapshot) {
  ListBuilder tasks;
  for (const SnapshotTask& task : snapshot.tasks) tasks.push_back(task_value(task));
  const auto id_or_null = [](const std::string& id) { return id.empty() ? Value() : Value(id); };
  const bool is_there = !snapshot.config.checkpoint_id.empty();
  const auto& parent = snapshot.parent_config;
  return object({{"values", snapshot.values.is_null() ? object() : plain(snapshot.values)},
                 {"next", snapshot.next.empty() ? list() : Value(snapshot.next)},
                 {"tasks", std::move(tasks).build()},
                 {"metadata", metadata_value(snapshot)},
                 {"created_at", snapshot.created_at ? Value(*snapshot.created_at) : Value()},
                 {"checkpoint", is_there ? checkpoint_value(snapshot.config) : Value()},
                 {"parent_checkpoint", parent ? checkpoint_value(*parent) : Value()},
                 {"interrupts", interrupt_values(snapshot.interrupts)},
                 {"checkpoint_id", id_or_null(snapshot.config.checkpoint_id)},
                 {"parent_checkpoint_id", parent ? id_or_null(parent->checkpoint_id) : Value()}});
}

ThreadFacts facts_of(const StateSnapshot& snapshot) {
  ThreadFacts facts;
  facts.has_checkpoint = !snapshot.metadata.is_null();
  if (!facts.has_checkpoint) return facts;
  facts.values = snapshot.values.is_null() ? object() : plain(snapshot.values);
  facts.has_next = !snapshot.next.empty();
  for (const SnapshotTask& task : snapshot.tasks) {
    if (task.interrupts.empty()) continue;
    facts.interrupts = facts.interrupts.set(task.id, interrupt_values(task.interrupts));
  }
  return facts;
}

Value stream_interrupts(const Value& interrupts) {
  ListBuilder list;
  for (const Value& element : interrupts) {
    const auto interrupt = element.get<Interrupt>();
    list.push_back(object(
        {{"value", plain(interrupt.value)}, {"id", interrupt.id}, {"response_schema", nullptr}}));
  }
  return std::move(list).build();
}

Value error_value(const std::exception_ptr& error) {
  const std::string repr = pregel::python_repr(error);
  std::string type = repr.substr(0, repr.find('('));
  std::string message = "an exception that is no std::exception";
  try {
    std::rethrow_exception(error);
  } catch (const StorageError&) {
    type = "StorageError";
    message = "the server could not read or write its data";
  } catch (const std::exception& e) {
    message = e.what();
  } catch (...) {
  }
  return object({{"error", type}, {"message", message}});
}

Value select(const Value& object, const std::vector<std::string>& keys) {
  if (keys.empty()) return object;
  ObjectBuilder chosen;
  for (auto [key, value] : object.items()) {
    for (const std::string& wanted : keys) {
      if (wanted == key) chosen.set(key, value);
    }
  }
  return std::move(chosen).build();
}

Value merged(const Value& base, const Value& over) {
  const Value first = base.is_object() ? base : object();
  return over.is_object() ? first.merge(over) : first;
}

}  // namespace clew::server

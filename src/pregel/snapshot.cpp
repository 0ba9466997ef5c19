#include <clew/snapshot.hpp>

#include <ostream>

#include <clew/json.hpp>

#include "pregel/task_view.hpp"

namespace clew {

Value to_value(const Config& config) {
  Value configurable = config.configurable.is_object() ? config.configurable : object();
  if (!config.thread_id.empty()) configurable = configurable.set("thread_id", config.thread_id);
  configurable = configurable.set("checkpoint_ns", config.checkpoint_ns);
  if (!config.checkpoint_id.empty()) {
    configurable = configurable.set("checkpoint_id", config.checkpoint_id);
  }
  if (config.checkpoint_map.is_object()) {
    configurable = configurable.set("checkpoint_map", config.checkpoint_map);
  }
  return object({{"configurable", configurable}});
}

namespace {

Value task_value(const SnapshotTask& task) {
  Value state;
  if (task.state) {
    state = to_value(*task.state);
  } else if (task.state_config) {
    state = to_value(*task.state_config);
  }
  return object({{"id", task.id},
                 {"name", task.name},
                 {"path", task.path},
                 {"error", task.error.value_or(Value())},
                 {"interrupts", pregel::interrupt_list(task.interrupts)},
                 {"state", state},
                 {"result", task.result.value_or(Value())}});
}

}  // namespace

Value to_value(const StateSnapshot& snapshot) {
  ListBuilder tasks;
  for (const SnapshotTask& task : snapshot.tasks) tasks.push_back(task_value(task));
  return object(
      {{"values", snapshot.values},
       {"next", snapshot.next},
       {"config", to_value(snapshot.config)},
       {"metadata", snapshot.metadata},
       {"created_at", snapshot.created_at},
       {"parent_config", snapshot.parent_config ? to_value(*snapshot.parent_config) : Value()},
       {"tasks", std::move(tasks).build()},
       {"interrupts", pregel::interrupt_list(snapshot.interrupts)}});
}

std::ostream& operator<<(std::ostream& out, const StateSnapshot& snapshot) {
  const Value value = to_value(snapshot);
  out << "StateSnapshot(";
  const char* separator = "";
  for (auto [name, part] : value.items()) {
    out << separator << name << '=' << part;
    separator = ",\n              ";
  }
  return out << ')';
}

}  // namespace clew

// What the stored writes of an open step say of its tasks, and what is stored
// about their failures and cached results.
#pragma once

#include <string>

#include <clew/json.hpp>

#include "pregel/task_run.hpp"

namespace clew::pregel {

// Writes that say what happened to a task, not what it produced. A task has
// finished exactly when it has another write.
inline bool is_control_write(const Write& write) {
  return write.index == kUnknown && is_control(write.name.as_string());
}

// What a stored __interrupt__ write holds: a list, or from LangGraph.js a single one.
std::vector<Interrupt> stored_interrupts(const Value& stored);

// The changes a Command makes, by channel.
std::vector<std::pair<std::string, Value>> command_updates(const Command& command);

inline std::string error_text(const Value& stored) {
  return stored.is_string() ? std::string(stored.as_string()) : to_json(stored);
}

// A cached result belongs to a node of a graph and an input.
inline std::string cache_namespace(const Graph& graph, std::string_view node) {
  return graph.name + ":" + std::string(node);
}
inline std::string cache_key(const TaskRun& task) {
  const CachePolicy& policy = *task.cache_policy();
  if (policy.key_func) return xxh3_128_hex(policy.key_func(task.input));
  JsonWriteOptions options;
  options.sort_keys = true;
  options.non_finite = NonFinite::literal;
  return xxh3_128_hex(to_json(task.input, options));
}

}  // namespace clew::pregel

#include "pregel/run_metadata.hpp"

#include <array>

#include "pregel/loop.hpp"

namespace clew::pregel {
namespace {

// What events tell too of what a caller put into `configurable`.
constexpr std::array<std::string_view, 7> kToldOfConfigurable = {
    "thread_id", "checkpoint_id", "checkpoint_ns", "task_id", "run_id", "assistant_id", "graph_id"};

Value with_told(Value metadata, const Value& configurable) {
  for (const std::string_view key : kToldOfConfigurable) {
    const Value* value = configurable.find(key);
    if (value && value->is_string() && !value->as_string().empty() && !metadata.contains(key)) {
      metadata = metadata.set(key, *value);
    }
  }
  return metadata;
}

Value with_scalars(Value metadata, const Value& configurable) {
  for (auto [key, value] : configurable.items()) {
    const bool is_scalar =
        value.is_string() || value.is_int() || value.is_double() || value.is_bool();
    if (is_scalar && !key.starts_with("__") && !metadata.contains(key)) {
      metadata = metadata.set(key, value);
    }
  }
  return metadata;
}

}  // namespace

void describe_run(Scope& scope) {
  const Config& config = scope.config;
  scope.metadata = config.metadata.is_object() ? config.metadata : object();
  if (config.configurable.is_object()) {
    scope.metadata = with_told(std::move(scope.metadata), config.configurable);
    scope.checkpoint_metadata = with_scalars(scope.metadata, config.configurable);
  } else {
    scope.checkpoint_metadata = scope.metadata;
  }
  if (scope.checkpointer && scope.checkpointer->stores_places()) scope.place = place_of(config);
}

Value place_of(const Config& config) {
  ObjectBuilder place;
  place.set("thread_id", config.thread_id);
  if (!config.checkpoint_id.empty()) place.set("checkpoint_id", config.checkpoint_id);
  if (!config.checkpoint_ns.empty()) place.set("checkpoint_ns", config.checkpoint_ns);
  if (config.checkpoint_map.is_object()) place.set("checkpoint_map", config.checkpoint_map);
  return std::move(place).build();
}

}  // namespace clew::pregel

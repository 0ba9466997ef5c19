#include "channel_kinds.hpp"

#include <string>
#include <unordered_map>

#include <clew/add_messages.hpp>

#include "python.hpp"
#include "scenario.hpp"

namespace clew::conformance {
namespace {

constexpr int kDefaultSnapshotFrequency = 100;

Value keep_max(const Value& current, const Value& update) {
  return python_less(current, update) ? update : current;
}

Value delta_append(const Value& current, std::span<const Value> writes) {
  Value result = current;
  for (const Value& write : writes) result = result.concat(python_elements(write));
  return result;
}

Value delta_merge(const Value& current, std::span<const Value> writes) {
  Value result = current;
  for (const Value& write : writes) result = python_merge(result, write);
  return result;
}

bool option(const Value& spec, std::string_view name, bool otherwise) {
  const Value* value = spec.find(name);
  return value ? value->as_bool() : otherwise;
}

int snapshot_frequency(const Value& spec) {
  const Value* value = spec.find("snapshot_frequency");
  return value ? value->get<int>() : kDefaultSnapshotFrequency;
}

using Make = ChannelPtr (*)(const Value& spec);

const std::unordered_map<std::string_view, Make>& kinds() {
  static const std::unordered_map<std::string_view, Make> table = {
      {"last_value", [](const Value&) { return last_value(); }},
      {"append", [](const Value&) { return reduced(python_add, list()); }},
      {"add", [](const Value&) { return reduced(python_add, 0); }},
      {"concat", [](const Value&) { return reduced(python_add, ""); }},
      {"merge", [](const Value&) { return reduced(python_merge, object()); }},
      {"union", [](const Value&) { return reduced(python_union, list()); }},
      {"max", [](const Value&) { return reduced(keep_max, 0); }},
      {"messages", [](const Value&) { return reduced(add_messages, list()); }},
      {"any_value", [](const Value&) { return any_value(); }},
      {"ephemeral", [](const Value& spec) { return ephemeral(option(spec, "guard", true)); }},
      {"untracked", [](const Value& spec) { return untracked(option(spec, "guard", true)); }},
      {"topic", [](const Value& spec) { return topic(option(spec, "accumulate", false)); }},
      {"delta_append",
       [](const Value& spec) { return delta(delta_append, list(), snapshot_frequency(spec)); }},
      {"delta_merge",
       [](const Value& spec) { return delta(delta_merge, object(), snapshot_frequency(spec)); }},
      {"delta_messages",
       [](const Value& spec) {
         return delta(messages_delta_reducer, list(), snapshot_frequency(spec));
       }},
      {"is_last_step", [](const Value&) { return is_last_step(); }},
      {"remaining_steps", [](const Value&) { return remaining_steps(); }},
  };
  return table;
}

}  // namespace

ChannelPtr make_channel(const Value& spec) {
  const std::string kind = (spec.is_string() ? spec : spec["kind"]).get<std::string>();
  const auto found = kinds().find(kind);
  if (found == kinds().end()) throw ScenarioError("unknown channel kind '" + kind + "'");
  return found->second(spec);
}

}  // namespace clew::conformance

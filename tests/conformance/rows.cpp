// What the saver holds, row by row.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "normalize.hpp"
#include "python.hpp"

namespace clew::conformance {
namespace {

constexpr std::string_view kUpdatePath = "~__interrupt__, ";

// Versions carry a random tail; only the integer in front of it is comparable.
Value version_number(const Value& version) {
  if (version.is_null()) return 0;
  if (!version.is_string()) return version;
  const std::string text(version.as_string());
  return text.empty() ? Value(0) : Value(std::stoll(text.substr(0, text.find('.'))));
}

Value version_numbers(const Value& versions) {
  if (!versions.is_object()) return versions;
  ObjectBuilder result;
  for (const auto& [channel, version] : versions.items()) {
    result.set(channel, version_number(version));
  }
  return std::move(result).build();
}

Value sorted_names(const Value& names) {
  if (names.is_null()) return names;
  std::vector<Value> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

Value Normalizer::row(const CheckpointTuple& tuple) const {
  const Checkpoint& checkpoint = tuple.checkpoint;
  ObjectBuilder result;
  result.set("checkpoint", labels_.checkpoint(checkpoint.id));
  result.set("parent",
             tuple.parent_id.empty() ? Value() : Value(labels_.checkpoint(tuple.parent_id)));
  add_metadata(result, tuple.metadata);
  result.set("channel_versions", version_numbers(checkpoint.channel_versions));
  ObjectBuilder seen;
  for (const auto& [node, versions] : checkpoint.versions_seen.items()) {
    seen.set(node, version_numbers(versions));
  }
  result.set("versions_seen", std::move(seen).build());
  result.set("updated_channels", sorted_names(checkpoint.updated_channels));
  result.set("channel_values", value(checkpoint.channel_values));
  result.set("writes", writes(tuple.pending_writes));
  return std::move(result).build();
}

// Groups by path, then task, then content.
Value Normalizer::writes(const std::vector<PendingWrite>& pending) const {
  std::map<std::string, std::vector<const PendingWrite*>> by_task;
  for (const PendingWrite& write : pending) by_task[write.task_id].push_back(&write);

  std::vector<Value> groups;
  for (const auto& [task_id, writes] : by_task) groups.push_back(write_group(task_id, writes));
  std::sort(groups.begin(), groups.end(), [](const Value& a, const Value& b) {
    const auto key = [](const Value& group) {
      return std::tuple(group["path"].as_string(), group["task"].as_string(),
                        canonical_text(group["writes"]));
    };
    return key(a) < key(b);
  });
  return groups;
}

Value Normalizer::write_group(const std::string& task_id,
                              const std::vector<const PendingWrite*>& writes) const {
  // Updates of a state follow what the task itself wrote, wherever their paths sort.
  std::vector<const PendingWrite*> by_index = writes;
  std::stable_partition(by_index.begin(), by_index.end(), [](const PendingWrite* write) {
    return !write->task_path.starts_with(kUpdatePath);
  });
  std::vector<const PendingWrite*> by_channel = by_index;
  std::stable_sort(
      by_channel.begin(), by_channel.end(),
      [](const PendingWrite* a, const PendingWrite* b) { return a->channel < b->channel; });
  ListBuilder pairs;
  for (const PendingWrite* write : by_channel) {
    Value content;
    if (write->channel == "__error__") {
      content = error(write->value);
    } else if (write->channel == "__interrupt__") {
      content = interrupts(write->value);
    } else {
      content = value(write->value);
    }
    ListBuilder pair;
    pair.push_back(write->channel);
    pair.push_back(std::move(content));
    pairs.push_back(std::move(pair).build());
  }
  return object({{"task", labels_.task(task_id)},
                 {"path", labels_.path(by_index.front()->task_path)},
                 {"writes", std::move(pairs).build()}});
}

}  // namespace clew::conformance

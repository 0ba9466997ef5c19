#include "checkpointer_pieces.hpp"

#include <cstdio>

#include <gtest/gtest.h>

#include <clew/extension.hpp>
#include <clew/json.hpp>

namespace clew {

namespace {

Value versions_of(const Value& values, int n) {
  Value versions = object();
  for (auto [channel, value] : values.items()) {
    versions = versions.set(channel, next_version(std::to_string(n - 1), 0.5));
  }
  return versions;
}

}  // namespace

std::string test_id(int n) {
  if (n == 0) return "";
  char id[40];
  std::snprintf(id, sizeof id, "1f000000-0000-6000-8000-%012d", n);
  return id;
}

int number_of(std::string_view id) {
  return id.empty() ? 0 : std::stoi(std::string(id.substr(id.rfind('-') + 1)));
}

void put(Checkpointer& saver, const CheckpointPut& one) { saver.put({&one, 1}); }

void put_writes(Checkpointer& saver, std::string_view thread_id, int n,
                const std::vector<ChannelWrite>& writes, std::string_view task_id,
                std::string_view task_path, std::string_view ns) {
  const WritesPut put{.key = {std::string(thread_id), std::string(ns), test_id(n)},
                      .task_id = std::string(task_id),
                      .task_path = std::string(task_path),
                      .writes = writes};
  saver.put_writes({&put, 1});
}

std::string history(Checkpointer& saver, std::string_view thread_id,
                    std::optional<std::string_view> ns, const ListOptions& options) {
  return render(saver.list(thread_id, ns, options));
}

std::string newest(Checkpointer& saver, std::string_view thread_id, std::string_view ns) {
  const auto tuple = saver.get_tuple({std::string(thread_id), std::string(ns)});
  return tuple ? render(*tuple) : "none";
}

void put_chain(Checkpointer& saver, std::string_view thread_id, int count) {
  for (int n = 1; n <= count; ++n) put(saver, make_put(thread_id, n, n - 1, {{"n", n}}));
}

Value snapshot(Value value) {
  return make_extension(ExtensionCode::delta_snapshot, std::move(value));
}

CheckpointPut delta_put(int n, int parent, const Value& value, int updates) {
  CheckpointPut made = make_put("t", n, parent, {{"d", value}});
  if (value.is_null()) made.checkpoint.channel_values = object();
  if (updates > 0) {
    made.metadata = made.metadata.set("counters_since_delta_snapshot",
                                      object({{"d", list({updates, updates})}}));
  }
  return made;
}

std::string render(const DeltaHistory& history) {
  std::string text = history.seed ? "seed=" + to_json(*history.seed) : "no seed";
  text += " writes=";
  for (const PendingWrite& write : history.writes) text += to_json(write.value);
  return text;
}

std::string delta_history(Checkpointer& saver, int n) {
  const std::string channel = "d";
  return render(saver.get_delta_channel_history({"t", "", test_id(n)}, {&channel, 1}).front());
}

CheckpointPut make_put(std::string_view thread_id, int n, int parent, Value values) {
  const Value versions = versions_of(values, n);
  return {
      .key = {std::string(thread_id), "", test_id(parent)},
      .checkpoint = {.v = 4,
                     .id = test_id(n),
                     .ts = "2024-01-01T00:00:00+00:00",
                     .channel_values = std::move(values),
                     .channel_versions = versions,
                     .versions_seen = object(),
                     .updated_channels = nullptr},
      .metadata = {{"source", "loop"}, {"step", n}, {"parents", object()}},
      .new_versions = versions,
  };
}

std::string render(const CheckpointTuple& tuple) {
  std::string text = std::to_string(number_of(tuple.checkpoint.id));
  EXPECT_EQ(tuple.key.checkpoint_id, tuple.checkpoint.id);
  if (!tuple.parent_id.empty()) text += " <" + std::to_string(number_of(tuple.parent_id));
  text += " " + to_json(tuple.checkpoint.channel_values, {.sort_keys = true});
  if (tuple.pending_writes.empty()) return text;
  std::string writes;
  for (const PendingWrite& write : tuple.pending_writes) {
    writes += (writes.empty() ? "" : " ") + write.task_id + "." + write.channel + "=" +
              to_json(write.value);
  }
  return text + " [" + writes + "]";
}

std::string render(const std::vector<CheckpointTuple>& tuples) {
  std::string text;
  for (const CheckpointTuple& tuple : tuples) {
    if (!tuple.key.checkpoint_ns.empty()) text += tuple.key.checkpoint_ns + ": ";
    text += render(tuple) + "\n";
  }
  return text;
}

}  // namespace clew

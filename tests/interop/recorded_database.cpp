#include "recorded_database.hpp"

#include <algorithm>

#include <clew/canonical.hpp>
#include <clew/compiled_graph.hpp>
#include <clew/encrypted.hpp>
#include <clew/json.hpp>

#include "state_shape.hpp"

namespace clew::interop {
namespace {

Value text_or_null(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value sorted_sets(const Value& described);

Value sorted_members(const Value& members) {
  std::vector<Value> sorted;
  for (const Value& member : members) sorted.push_back(sorted_sets(member));
  std::ranges::sort(sorted, {}, [](const Value& member) {
    return to_json(member, {.spaced = true, .ascii_only = true, .sort_keys = true});
  });
  return sorted;
}

bool is_set(const Value& described) {
  return described["$ext"] == Value(0) && described["module"] == Value("builtins") &&
         (described["name"] == Value("set") || described["name"] == Value("frozenset")) &&
         described["arg"].is_list();
}

Value sorted_sets(const Value& described) {
  if (described.is_list()) {
    ListBuilder elements;
    for (const Value& element : described) elements.push_back(sorted_sets(element));
    return std::move(elements).build();
  }
  if (!described.is_object()) return described;
  ObjectBuilder entries;
  for (const auto& [key, value] : described.items()) entries.set(key, sorted_sets(value));
  const Value sorted = std::move(entries).build();
  return is_set(sorted) ? sorted.set("arg", sorted_members(sorted["arg"])) : sorted;
}

// A checkpoint as it is recorded.
Value describe(const CheckpointTuple& tuple) {
  const Checkpoint& checkpoint = tuple.checkpoint;
  ObjectBuilder values;
  for (const auto& [channel, value] : checkpoint.channel_values.items()) {
    values.set(channel, recorded_form(value));
  }
  ListBuilder writes;
  for (const PendingWrite& write : tuple.pending_writes) {
    writes.push_back(list({write.task_id, write.channel, recorded_form(write.value)}));
  }
  return object({{"checkpoint_ns", tuple.key.checkpoint_ns},
                 {"checkpoint_id", tuple.key.checkpoint_id},
                 {"parent_checkpoint_id", text_or_null(tuple.parent_id)},
                 {"v", checkpoint.v},
                 {"ts", checkpoint.ts},
                 {"id", checkpoint.id},
                 {"channel_versions", checkpoint.channel_versions},
                 {"versions_seen", checkpoint.versions_seen},
                 {"updated_channels", checkpoint.updated_channels},
                 {"channel_values", std::move(values).build()},
                 {"metadata", tuple.metadata},
                 {"pending_writes", std::move(writes).build()}});
}

void expect_same_entries(const std::string& what, const Value& expected, const Value& got) {
  for (const auto& [field, value] : expected.items()) {
    expect_same_json(what + " " + std::string(field), value, got[field]);
  }
}

// Both as listed and as asked for one by one.
void check_checkpoints(SqliteSaver& saver, const std::string& thread_id, const Value& expected) {
  std::vector<CheckpointTuple> tuples = saver.list(thread_id, std::nullopt, {});
  std::ranges::sort(tuples, {}, [](const CheckpointTuple& tuple) {
    return std::pair(tuple.key.checkpoint_ns, tuple.key.checkpoint_id);
  });
  expect_equal("checkpoints", std::to_string(expected.size()), std::to_string(tuples.size()));
  for (std::size_t i = 0; i < tuples.size(); ++i) {
    const CheckpointKey& key = tuples[i].key;
    const std::string what = "checkpoint " + key.checkpoint_ns + " " + key.checkpoint_id;
    expect_same_entries(what, expected[i], describe(tuples[i]));
    const auto found = saver.get_tuple(key);
    expect_true(what + " is found", found.has_value());
    expect_same_entries(what + " found", expected[i], describe(*found));
  }
}

Value checkpoint_id_of(const std::optional<Config>& config) {
  return config ? text_or_null(config->checkpoint_id) : Value();
}

// Entries in any order: it is that of a declaration, which the database does not have.
void expect_same_values(const std::string& what, const Value& expected, const Value& got) {
  const JsonWriteOptions sorted{.sort_keys = true, .non_finite = NonFinite::literal};
  expect_equal(what, to_json(expected, sorted), to_json(got, sorted));
}

void check_history(const CompiledGraph& graph, const std::string& thread_id,
                   const Value& expected) {
  std::size_t count = 0;
  for (const StateSnapshot& state : graph.get_state_history({.thread_id = thread_id})) {
    const Value& recorded = expected[count];
    expect_true("a recorded state", count++ < expected.size());
    const std::string what = "state at " + state.config.checkpoint_id;
    expect_same_json(what, recorded["config"]["checkpoint_id"], checkpoint_id_of(state.config));
    expect_same_json(what + " parent", recorded["parent_config"]["checkpoint_id"],
                     checkpoint_id_of(state.parent_config));
    expect_same_json(what + " created_at", recorded["created_at"],
                     text_or_null(state.created_at.value_or("")));
    expect_same_json(what + " metadata", recorded["metadata"], state.metadata);
    expect_same_values(what + " values", recorded["values"], recorded_form(state.values));
  }
  expect_equal("states", std::to_string(expected.size()), std::to_string(count));
}

}  // namespace

DatabaseCopy::DatabaseCopy(const std::filesystem::path& file)
    : file_(folder_.path / file.filename()) {
  std::filesystem::copy_file(file, file_);
  // What is not yet moved into the file itself.
  const std::string log = file.string() + "-wal";
  if (std::filesystem::exists(log)) std::filesystem::copy_file(log, file_.string() + "-wal");
}

std::shared_ptr<SqliteSaver> DatabaseCopy::open(const std::string& key) const {
  SqliteOptions options;
  options.layout = SqliteLayout::langgraph;
  options.synchronous = SqliteSynchronous::off;
  if (!key.empty()) {
    options.serializer = std::make_shared<EncryptedSerializer>(std::make_shared<AesEaxCipher>(key));
  }
  return SqliteSaver::open(file_.string(), options);
}

std::string key_of(const Value& expected, const Value& thread) {
  return thread["encrypted"] == Value(true) ? expected.get<std::string>("aes_key") : "";
}

Value recorded_form(const Value& value) { return sorted_sets(canonical(value)); }

void run_database(const std::filesystem::path& file, const Value& expected, Report& report) {
  const DatabaseCopy copy(file);
  for (const Value& thread : expected.at("threads")) {
    const std::string id = thread.get<std::string>("thread_id");
    report.run(id, [&] {
      const auto saver = copy.open(key_of(expected, thread));
      check_checkpoints(*saver, id, thread.at("checkpoints"));
      const Value& history = thread.at("state_history");
      check_history(graph_like(saver, id, history), id, history);
    });
  }
}

}  // namespace clew::interop

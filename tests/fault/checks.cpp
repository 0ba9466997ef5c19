#include "checks.hpp"

#include <sqlite3.h>

#include <map>
#include <memory>

namespace clew::fault {
namespace {

void expect(bool holds, const std::string& what) {
  if (!holds) throw Error(what);
}

// Questions, failures and answers are no results.
bool is_result(const PendingWrite& write) { return write_index(write.channel, 0) >= 0; }

void add_tokens(const Value& log, std::set<std::string>& tokens) {
  if (!log.is_list()) return;
  for (const Value& token : log) tokens.emplace(token.as_string());
}

bool begins_with(const Value& list, const Value& prefix) {
  return list.size() >= prefix.size() && list.slice(0, prefix.size()) == prefix;
}

}  // namespace

Stored look(Checkpointer& saver, const std::string& thread_id) {
  Stored stored;
  for (const CheckpointTuple& tuple : saver.list(thread_id, std::nullopt, {})) {
    stored.checkpoints.insert(tuple.checkpoint.id);
    for (const PendingWrite& write : tuple.pending_writes) {
      if (is_result(write)) stored.tasks.insert(write.task_id);
      if (write.channel == "log") add_tokens(write.value, stored.tokens);
    }
  }
  if (const auto newest = saver.get_tuple({.thread_id = thread_id})) {
    add_tokens(newest->checkpoint.channel_values["log"], stored.tokens);
  }
  return stored;
}

void check_file(const std::string& path) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open(path.c_str(), &database);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> owner(database, sqlite3_close);
  expect(code == SQLITE_OK, "the file does not open");
  std::string findings;
  const auto add = [](void* text, int, char** columns, char**) {
    static_cast<std::string*>(text)->append(columns[0]);
    return 0;
  };
  const int checked = sqlite3_exec(database, "PRAGMA integrity_check", add, &findings, nullptr);
  expect(checked == SQLITE_OK && findings == "ok", "the file is damaged: " + findings);
}

void check_lineage(const CompiledGraph& graph, Checkpointer& saver, const Config& thread) {
  std::map<std::string, std::string> expected;  // by namespace: the next one's id
  for (const CheckpointTuple& tuple : saver.list(thread.thread_id, std::nullopt, {})) {
    const auto [parent, is_newest] = expected.try_emplace(tuple.key.checkpoint_ns);
    expect(is_newest || parent->second == tuple.checkpoint.id,
           "checkpoint " + tuple.checkpoint.id + " of namespace '" + tuple.key.checkpoint_ns +
               "' is not the parent of its successor");
    parent->second = tuple.parent_id;
  }
  for (const auto& [ns, id] : expected) {
    expect(id.empty(), "checkpoint " + id + " of namespace '" + ns + "' is not there");
  }
  Value log;
  for (const StateSnapshot& snapshot : graph.get_state_history(thread)) {
    const Value& older = snapshot.values["log"];
    expect(older.is_null() || log.is_null() || begins_with(log, older),
           "a state does not extend that before it");
    expect(older == snapshot.values["deltas"], "the delta channel differs");
    log = older;
  }
}

void check_acknowledged(const Aftermath& after) {
  std::vector<std::string> effects;
  for (const Sink::Line& line : after.lines) {
    if (line[0] == "effect") effects.push_back(line[1]);
    if (line[0] != "returned") continue;
    for (const std::string& token : effects) {
      expect(after.stored.tokens.contains(token),
             "a call returned, and what '" + token + "' did in it is lost");
    }
  }
}

void check_steps_are_stored(const Aftermath& after) {
  for (const Sink::Line& line : after.lines) {
    if (line[0] != "begin") continue;
    expect(after.stored.checkpoints.contains(line[3]),
           "'" + line[1] + "' began on a checkpoint that was not stored");
  }
}

void check_nothing_repeated(const Stored& stored, const std::vector<Sink::Line>& later,
                            bool by_token) {
  for (const Sink::Line& line : later) {
    if (line[0] != "begin") continue;
    expect(!stored.tasks.contains(line[2]),
           "task " + line[2] + " ('" + line[1] + "') had a result and ran again");
    expect(!by_token || !stored.tokens.contains(line[1]),
           "what '" + line[1] + "' did was stored, and it ran again");
  }
}

}  // namespace clew::fault

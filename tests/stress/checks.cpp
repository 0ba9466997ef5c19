// What must be true of the stored threads once all runs have ended.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ledger.hpp"

namespace clew::stress {
namespace {

std::string describe(const RunRecord& run) {
  return "run " + std::to_string(run.number) + " on thread " + run.thread_id + " (" +
         std::string(Value(run.durability).as_string()) + (run.is_addressed ? ", addressed" : "") +
         ", " + std::string(Value(run.ending).as_string()) + ")";
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw Error(what);
}

bool begins_with(const Value& list, const Value& prefix) {
  return list.size() >= prefix.size() && list.slice(0, prefix.size()) == prefix;
}

class ThreadCheck {
 public:
  ThreadCheck(const std::string& thread_id, const CompiledGraph& graph, Checkpointer& saver)
      : thread_id_(thread_id) {
    Config config;
    config.thread_id = thread_id;
    for (const StateSnapshot& snapshot : graph.get_state_history(config)) {
      history_.push_back(snapshot);
    }
    std::reverse(history_.begin(), history_.end());
    for (std::size_t i = 0; i < history_.size(); ++i) {
      position_[history_[i].config.checkpoint_id] = i;
    }
    for (const CheckpointTuple& tuple : saver.list(thread_id, std::nullopt, {})) {
      for (const PendingWrite& write : tuple.pending_writes) stored_tasks_.insert(write.task_id);
    }
    for (const StateSnapshot& snapshot : history_) {
      for (const Value& token : snapshot.values["log"]) {
        stored_tasks_.insert(std::string(token.as_string()));
      }
    }
  }

  // A state extends that of its parent, holds nothing twice, and its delta
  // channel, which is rebuilt, agrees with the other one.
  void check_states() const {
    for (const StateSnapshot& snapshot : history_) {
      const std::string name =
          "checkpoint " + snapshot.config.checkpoint_id + " of thread " + thread_id_;
      const Value& log = snapshot.values["log"];
      expect(log == snapshot.values["deltas"], name + ": the delta channel differs");
      const std::set<Value> tokens(log.begin(), log.end());
      expect(tokens.size() == log.size(), name + ": holds the result of a task twice");
      if (!snapshot.parent_config) continue;
      const auto parent = position_.find(snapshot.parent_config->checkpoint_id);
      expect(parent != position_.end(), name + ": its parent is not there");
      expect(begins_with(log, history_[parent->second].values["log"]),
             name + ": does not extend its parent");
    }
  }

  // Who writes a checkpoint must know the newest one, so nobody gets between
  // the checkpoints of a run.
  void check_writers() const {
    std::unordered_map<std::int64_t, std::size_t> last;
    for (std::size_t i = 0; i < history_.size(); ++i) {
      const Value& run = history_[i].metadata["run"];
      if (!run.is_int()) continue;
      const auto [entry, is_first] = last.try_emplace(run.as_int(), i);
      expect(is_first || entry->second + 1 == i, "thread " + thread_id_ +
                                                     ": a checkpoint lies between two of run " +
                                                     std::to_string(run.as_int()));
      entry->second = i;
    }
  }

  void check_run(const RunRecord& run) const {
    const std::size_t* last = last_of(run);
    if (run.ending == Ending::finished && last) {
      expect(history_[*last].values["log"] == run.log,
             describe(run) + " returned something else than was saved");
    }
    if (run.ending != Ending::conflict) return;
    expect(run.is_shared, describe(run) + ": nobody else used the thread");
    // What it had saved was overtaken by someone else.
    expect(!last || *last + 1 < history_.size(), describe(run) + ": nobody came after it");
  }

  void check_update(const Update& update) const {
    const auto position = position_.find(update.checkpoint_id);
    expect(position != position_.end(), "an update of thread " + thread_id_ + " is gone");
    const Value& log = history_[position->second].values["log"];
    expect(std::find(log.begin(), log.end(), Value(update.token)) != log.end(),
           "the update " + update.token + " of thread " + thread_id_ + " is lost");
  }

  bool holds_task(const std::string& task_id) const { return stored_tasks_.contains(task_id); }

 private:
  const std::size_t* last_of(const RunRecord& run) const {
    const auto found = std::find_if(history_.rbegin(), history_.rend(), [&](const auto& snapshot) {
      return snapshot.metadata["run"] == Value(run.number);
    });
    if (found == history_.rend()) return nullptr;
    return &position_.find(found->config.checkpoint_id)->second;
  }

  std::string thread_id_;
  std::vector<StateSnapshot> history_;  // oldest first
  std::unordered_map<std::string, std::size_t> position_;
  std::unordered_set<std::string> stored_tasks_;
};

// A run under durability `exit` that lost the thread has saved nothing.
bool has_saved(const RunRecord& run) {
  return run.durability != Durability::exit || run.ending != Ending::conflict;
}

// A task that finished runs again only if it is replayed, or if another run did
// not know yet.
void check_repetitions(const std::vector<const RunRecord*>& executions,
                       const std::string& task_id) {
  for (std::size_t i = 0; i < executions.size(); ++i) {
    for (std::size_t k = i + 1; k < executions.size(); ++k) {
      const RunRecord* first = executions[i];
      const RunRecord* second = executions[k];
      if (second->began < first->began) std::swap(first, second);
      const bool overlap = second->began < first->ended;
      expect(overlap || second->is_addressed || !has_saved(*first),
             "task " + task_id + " finished in " + describe(*first) + " and again in " +
                 describe(*second));
    }
  }
}

}  // namespace

void check_ledger(const Ledger& ledger, const CompiledGraph& graph, Checkpointer& saver) {
  std::map<std::string, ThreadCheck> threads;
  const auto thread = [&](const std::string& id) -> const ThreadCheck& {
    return threads.try_emplace(id, id, graph, saver).first->second;
  };
  std::unordered_map<std::size_t, const RunRecord*> runs;
  for (const RunRecord& run : ledger.runs()) {
    runs[run.number] = &run;
    thread(run.thread_id).check_run(run);
  }
  for (const Update& update : ledger.updates()) thread(update.thread_id).check_update(update);
  for (const auto& [id, check] : threads) {
    check.check_states();
    check.check_writers();
  }

  std::unordered_map<std::string, std::vector<const RunRecord*>> executions;
  for (const Completion& completion : ledger.completions()) {
    const RunRecord& run = *runs.at(completion.run);
    executions[completion.task_id].push_back(&run);
    if (completion.is_in_subgraph || !has_saved(run)) continue;
    expect(thread(run.thread_id).holds_task(completion.task_id),
           "task " + completion.task_id + " finished in " + describe(run) + " and is lost");
  }
  for (const auto& [task_id, of_task] : executions) check_repetitions(of_task, task_id);
}

}  // namespace clew::stress

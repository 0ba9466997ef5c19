// What must hold after every call.
#include <algorithm>
#include <sstream>

#include "sequence.hpp"

namespace clew::property {
namespace {

// What the tasks of a step left; it grows while the step is open.
Value without_tasks(const Value& snapshot) { return snapshot.erase("tasks").erase("interrupts"); }

Value stored_form(const CheckpointTuple& tuple) {
  const Checkpoint& checkpoint = tuple.checkpoint;
  return object({{"ts", checkpoint.ts},
                 {"channel_values", checkpoint.channel_values},
                 {"channel_versions", checkpoint.channel_versions},
                 {"versions_seen", checkpoint.versions_seen},
                 {"updated_channels", checkpoint.updated_channels},
                 {"metadata", tuple.metadata},
                 {"parent", tuple.parent_id}});
}

std::string name_of(std::size_t index, const StateSnapshot& snapshot) {
  return "checkpoint " + std::to_string(index) + " (" + snapshot.config.checkpoint_id + ")";
}

}  // namespace

void Sequence::expect(bool holds, const std::string& what) const {
  if (!holds) throw Mismatch(what);
}

void Sequence::expect_equal(const Value& found, const Value& expected,
                            const std::string& what) const {
  if (found == expected) return;
  std::ostringstream out;
  out << what << "\n  found    " << found << "\n  expected " << expected;
  throw Mismatch(out.str());
}

void Sequence::check() {
  std::vector<StateSnapshot> history;
  for (const StateSnapshot& snapshot : graph_.get_state_history(config_of(std::nullopt))) {
    history.push_back(snapshot);
  }
  std::reverse(history.begin(), history.end());
  for (std::size_t i = 0; i < history.size(); ++i) {
    if (i < seen_.size()) {
      check_known(i, history[i]);
    } else {
      check_new(i, history[i]);
    }
  }
  expect_equal(history.size(), model_.checkpoints.size(), "number of checkpoints");
  if (history.empty()) return;
  check_newest();
  check_stored();
  check_parts_of_history();
  const std::size_t any = *any_checkpoint();
  expect_equal(graph_.get_state(config_of(any)), seen_[any], "get_state at a checkpoint");
}

void Sequence::check_known(std::size_t index, const StateSnapshot& snapshot) {
  const Value now = snapshot;
  if (touched_ != index) {
    return expect_equal(now, seen_[index], name_of(index, snapshot) + " changed");
  }
  // Commands for a step are part of what its checkpoint shows.
  const Value expected = without_tasks(seen_[index])
                             .set("values", model_.shown_values(model_.checkpoints[index], false));
  expect_equal(without_tasks(now), expected, name_of(index, snapshot) + " changed");
  seen_[index] = now;
}

void Sequence::check_new(std::size_t index, const StateSnapshot& snapshot) {
  const std::string name = name_of(index, snapshot);
  // A first run under durability `exit` needs a place for its delta writes.
  if (index == 0 && snapshot.metadata["step"] == Value(-2)) {
    for (ModelCheckpoint& checkpoint : model_.checkpoints) checkpoint.parent = 0;
    model_.checkpoints.insert(model_.checkpoints.begin(), ModelCheckpoint());
  }
  expect(index < model_.checkpoints.size(), "there is more than the model has: " + name);
  ModelCheckpoint& expected = model_.checkpoints[index];
  expected.id = snapshot.config.checkpoint_id;
  const Value source = expected.source.empty() ? Value() : Value(expected.source);
  expect_equal(snapshot.metadata["source"], source, name + ": source");
  expect_equal(snapshot.metadata["step"], expected.step, name + ": step");
  const Value parent = expected.parent ? Value(model_.checkpoints[*expected.parent].id) : Value();
  const Value found_parent =
      snapshot.parent_config ? Value(snapshot.parent_config->checkpoint_id) : Value();
  expect_equal(found_parent, parent, name + ": parent");
  expect_equal(snapshot.values, model_.shown_values(expected, false), name + ": values");
  expect_equal(snapshot.next, model_.shown_next(expected, false), name + ": next");
  seen_.push_back(snapshot);
}

void Sequence::check_newest() {
  const ModelCheckpoint& newest = model_.checkpoints.back();
  Value values;
  try {
    values = model_.shown_values(newest, true);
  } catch (const Refused&) {
    return;  // finished tasks that contradict each other cannot be shown
  }
  const StateSnapshot snapshot = graph_.get_state(config_of(std::nullopt));
  expect_equal(snapshot.config.checkpoint_id, newest.id, "the newest checkpoint");
  expect_equal(snapshot.values, values, "the newest state: values");
  expect_equal(snapshot.next, model_.shown_next(newest, true), "the newest state: next");
  expect_equal(snapshot.interrupts.size(), model_.shown_questions(newest).size(),
               "the newest state: questions");
}

// The checkpoints themselves, those of subgraphs too, are never changed.
void Sequence::check_stored() {
  for (const CheckpointTuple& tuple : saver_->list("t", std::nullopt, {})) {
    const std::pair key(tuple.key.checkpoint_ns, tuple.key.checkpoint_id);
    const Value form = stored_form(tuple);
    const auto [known, is_new] = stored_.try_emplace(key, form);
    if (!is_new) {
      expect_equal(form, known->second,
                   "stored checkpoint " + key.second + " of '" + key.first + "' changed");
    }
  }
}

void Sequence::check_parts_of_history() {
  HistoryOptions options;
  options.limit = 1 + random_.below(3);
  const std::size_t before = *any_checkpoint();
  options.before = model_.checkpoints[before].id;
  std::size_t next = before;
  for (const StateSnapshot& snapshot : graph_.get_state_history(config_of(std::nullopt), options)) {
    expect(next > 0, "history before a checkpoint goes on past the first");
    expect_equal(snapshot, seen_[--next], "history before a checkpoint");
  }
  expect_equal(before - next, std::min(*options.limit, before), "length of limited history");
}

// Removing old checkpoints of a copy changes nothing that is left.
void Sequence::check_copy_and_prune() {
  if (seen_.empty()) return;
  saver_->copy_thread("t", "copy");
  PruneOptions options;
  options.keep = 1 + random_.below(3);
  options.keep_branches = random_.chance(50);
  trace_ += "prune a copy to " + std::to_string(options.keep) + '\n';
  saver_->prune("copy", options);
  Config copy;
  copy.thread_id = "copy";
  std::size_t left = 0;
  for (const StateSnapshot& snapshot : graph_.get_state_history(copy)) {
    const auto found =
        std::find_if(model_.checkpoints.begin(), model_.checkpoints.end(),
                     [&](const auto& known) { return known.id == snapshot.config.checkpoint_id; });
    expect(found != model_.checkpoints.end(), "the copy has a checkpoint of its own");
    const Value& before = seen_[static_cast<std::size_t>(found - model_.checkpoints.begin())];
    for (const char* part : {"values", "next", "metadata", "created_at"}) {
      expect_equal(Value(snapshot)[part], before[part],
                   "after pruning, " + std::string(part) + " of " + found->id);
    }
    ++left;
  }
  expect(left >= std::min(options.keep, seen_.size()), "pruning took more than it should");
  saver_->delete_thread("copy");
}

}  // namespace clew::property

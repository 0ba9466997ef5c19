// Updates of the model, and what its snapshots show.
#include "model.hpp"

#include <algorithm>

namespace clew::property {

std::optional<std::size_t> Model::base_of(std::optional<std::size_t> at) const {
  if (at || checkpoints.empty()) return at;
  return checkpoints.size() - 1;
}

// A thread that has none begins as if after step -1.
ModelCheckpoint Model::base_checkpoint(std::optional<std::size_t> at) const {
  const std::optional<std::size_t> base = base_of(at);
  if (base) return checkpoints[*base];
  ModelCheckpoint none;
  none.step = -1;
  return none;
}

Ending Model::update(std::optional<std::size_t> at, const std::vector<NodeUpdate>& updates) {
  const std::optional<std::size_t> base = base_of(at);
  const ModelCheckpoint from = base_checkpoint(at);
  std::vector<Effect> effects;
  for (const NodeUpdate& update : updates) {
    effects.push_back({result_writes(plan_, from.state, update.node, update.values), "", true});
  }
  ModelCheckpoint next;
  try {
    next.state = apply(plan_, from.state, effects);
  } catch (const Refused&) {
    return Ending::refused;
  }
  next.parent = base;
  next.source = "update";
  next.step = from.step + 1;
  if (base && !is_superseded(at)) {
    // On the newest checkpoint it is also on record as what its tasks wrote.
    std::vector<StepTask> tasks = step_tasks(plan_, from.state);
    for (std::size_t i = 0; i < updates.size(); ++i) {
      const auto task = std::find_if(tasks.begin(), tasks.end(), [&](const StepTask& candidate) {
        return candidate.name == updates[i].node;
      });
      if (task == tasks.end()) continue;
      TaskRecord& record = checkpoints[*base].tasks[task->key()];
      for (std::size_t k = 0; k < effects[i].writes.size(); ++k) {
        const bool is_new = record.writes.emplace(k, effects[i].writes[k]).second;
        if (is_new) record.from_updates.insert(k);
      }
      tasks.erase(task);
    }
  }
  checkpoints.push_back(std::move(next));
  return Ending::normal;
}

void Model::update_as_input(std::optional<std::size_t> at, const Value& input) {
  const std::optional<std::size_t> base = base_of(at);
  const ModelCheckpoint from = base_checkpoint(at);
  Write write = goto_write(START);
  write.value = input;
  ModelCheckpoint next;
  next.state = apply(plan_, from.state, {{{write}, "", false}});
  next.parent = base;
  next.source = "input";
  next.step = base ? from.step + 1 : -1;
  checkpoints.push_back(std::move(next));
}

Ending Model::clear_tasks(std::optional<std::size_t> at) {
  const std::optional<std::size_t> base = base_of(at);
  const ModelCheckpoint from = base_checkpoint(at);
  ModelCheckpoint next;
  try {
    State state = from.state;
    if (!from.command_writes.empty()) {
      state = apply(plan_, state, {{from.command_writes, "", false}});
    }
    std::vector<Effect> effects = finished_effects(from);
    for (const StepTask& task : step_tasks(plan_, from.state)) {
      effects.push_back({{}, task.send ? "" : task.name, true});
    }
    next.state = apply(plan_, state, effects);
  } catch (const Refused&) {
    return Ending::refused;
  }
  next.parent = base;
  next.source = "update";
  next.step = from.step + 1;
  checkpoints.push_back(std::move(next));
  return Ending::normal;
}

void Model::copy(std::optional<std::size_t> at) {
  const ModelCheckpoint from = base_checkpoint(at);
  ModelCheckpoint next;
  next.state = from.state;
  next.parent = from.parent;
  next.source = "fork";
  next.step = from.step + 1;
  checkpoints.push_back(std::move(next));
}

// Woken nodes by name, then Sends.
std::vector<Effect> Model::finished_effects(const ModelCheckpoint& checkpoint) const {
  std::vector<Effect> woken;
  std::vector<Effect> sent;
  for (const StepTask& task : step_tasks(plan_, checkpoint.state)) {
    const auto record = checkpoint.tasks.find(task.key());
    if (record == checkpoint.tasks.end() || !record->second.has_finished()) continue;
    (task.send ? sent : woken)
        .push_back({record->second.write_list(), task.send ? "" : task.name, true});
  }
  woken.insert(woken.end(), sent.begin(), sent.end());
  return woken;
}

Value Model::shown_values(const ModelCheckpoint& checkpoint, bool live) const {
  State state = checkpoint.state;
  if (!checkpoint.command_writes.empty()) {
    state = apply(plan_, state, {{checkpoint.command_writes, "", false}});
  }
  if (live) {
    const std::vector<Effect> effects = finished_effects(checkpoint);
    if (!effects.empty()) state = apply(plan_, state, effects);
    // LangGraph shows no topic before the step that writes it has ended.
    if (!effects.empty()) state.values.erase("topic");
  }
  return read_values(state);
}

std::vector<std::string> Model::shown_next(const ModelCheckpoint& checkpoint, bool live) const {
  std::vector<std::string> next;
  for (const StepTask& task : step_tasks(plan_, checkpoint.state)) {
    const auto record = checkpoint.tasks.find(task.key());
    const bool is_done = record != checkpoint.tasks.end() && record->second.has_finished();
    if (!live || !is_done) next.push_back(task.name);
  }
  return next;
}

std::vector<std::string> Model::open_questions(const ModelCheckpoint& checkpoint) const {
  std::vector<std::string> keys;
  for (const auto& [key, record] : checkpoint.tasks) {
    if (record.has_asked && !record.has_finished()) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> Model::shown_questions(const ModelCheckpoint& checkpoint) const {
  const std::vector<std::string> open = open_questions(checkpoint);
  std::vector<std::string> keys;
  for (const StepTask& task : step_tasks(plan_, checkpoint.state)) {
    if (std::find(open.begin(), open.end(), task.key()) != open.end()) keys.push_back(task.key());
  }
  return keys;
}

}  // namespace clew::property

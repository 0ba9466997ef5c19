// Channels, triggers and tasks of the model.
#include <algorithm>

#include "model.hpp"

namespace clew::property {
namespace {

const std::string kWake = "wake ";
const std::string kJoin = "join ";
const std::string kSend = "send";

std::vector<Value> elements(const Value& list) { return {list.begin(), list.end()}; }

std::vector<Value> as_messages(const Value& write) {
  return write.is_list() ? elements(write) : std::vector{write};
}

// `strict`: what add_messages does; else what a delta channel does.
Value merge_messages(const Value& current, const Value& write, bool strict) {
  std::vector<Value> messages = elements(current);
  for (const Value& message : as_messages(write)) {
    const auto known = std::find_if(messages.begin(), messages.end(), [&](const Value& other) {
      return message_id(other) == message_id(message);
    });
    if (message_type(message) == "remove") {
      if (known != messages.end()) {
        messages.erase(known);
      } else if (strict) {
        throw Refused{};
      }
    } else if (known != messages.end()) {
      *known = message;
    } else {
      messages.push_back(message);
    }
  }
  return messages;
}

Value combine(ChannelKind kind, const Value& current, const Value& write) {
  switch (kind) {
    case ChannelKind::add: return current.as_int() + write.as_int();
    case ChannelKind::merge: {
      std::map<std::string, Value> entries;
      for (auto [key, value] : current.items()) entries[std::string(key)] = value;
      for (auto [key, value] : write.items()) entries[std::string(key)] = value;
      return entries;
    }
    case ChannelKind::messages: return merge_messages(current, write, true);
    case ChannelKind::delta_messages: return merge_messages(current, write, false);
    default: break;
  }
  std::vector<Value> all = elements(current);
  for (const Value& element : elements(write)) all.push_back(element);
  return all;
}

Value initial_value(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::add: return 0;
    case ChannelKind::merge: return object();
    default: return list();
  }
}

using Cell = std::optional<Value>;

bool update_topic(Cell& cell, const std::vector<Value>& writes, bool accumulates) {
  std::vector<Value> collected;
  bool is_changed = !accumulates && cell;
  if (accumulates && cell) collected = elements(*cell);
  for (const Value& write : writes) {
    const std::vector<Value> parts = write.is_list() ? elements(write) : std::vector{write};
    is_changed = is_changed || !parts.empty();
    collected.insert(collected.end(), parts.begin(), parts.end());
  }
  cell = collected.empty() ? Cell() : Cell(Value(collected));
  return is_changed;
}

bool update_cell(ChannelKind kind, Cell& cell, const std::vector<Value>& writes) {
  if (kind == ChannelKind::topic || kind == ChannelKind::all) {
    return update_topic(cell, writes, kind == ChannelKind::all);
  }
  if (kind == ChannelKind::last) {
    if (writes.size() > 1) throw Refused{};
    cell = writes.front();
    return true;
  }
  // Others always hold something. An Overwrite wins over all of its step.
  const Value* replacement = nullptr;
  for (const Value& write : writes) {
    const Value* value = overwritten(write);
    if (value && replacement) throw Refused{};
    if (value) replacement = value;
  }
  Value value = *cell;
  for (const Value& write : writes) {
    if (overwritten(write)) break;
    value = combine(kind, value, write);
  }
  cell = replacement ? *replacement : value;
  return true;
}

bool update_channel(State& state, const ChannelPlan& channel, const std::vector<Value>& writes) {
  const auto held = state.values.find(channel.name);
  Cell cell = held == state.values.end() ? Cell() : Cell(held->second);
  const bool can_be_empty = channel.kind == ChannelKind::last ||
                            channel.kind == ChannelKind::topic || channel.kind == ChannelKind::all;
  if (!cell && !can_be_empty) cell = initial_value(channel.kind);
  const bool is_changed = update_cell(channel.kind, cell, writes);
  if (cell) {
    state.values[channel.name] = *cell;
  } else {
    state.values.erase(channel.name);
  }
  return is_changed;
}

std::vector<Value> writes_to(const std::vector<Effect>& effects, const std::string& channel) {
  std::vector<Value> values;
  for (const Effect& effect : effects) {
    for (const Write& write : effect.writes) {
      if (write.channel == channel) values.push_back(write.value);
    }
  }
  return values;
}

bool update_values(State& state, const std::vector<Effect>& effects, bool ends_step) {
  bool is_changed = false;
  for (const ChannelPlan& channel : channel_plans()) {
    const std::vector<Value> writes = writes_to(effects, channel.name);
    const bool is_emptied =
        ends_step && channel.kind == ChannelKind::topic && state.values.contains(channel.name);
    if (writes.empty() && !is_emptied) continue;
    is_changed = update_channel(state, channel, writes) || is_changed;
  }
  return is_changed;
}

// A step that ends forgets whom it woke; then come those that it wakes.
bool update_woken(State& state, const std::vector<Effect>& effects, bool ends_step) {
  bool is_changed = false;
  if (ends_step) {
    is_changed = !state.woken.empty();
    state.woken.clear();
  }
  for (const Effect& effect : effects) {
    for (const Write& write : effect.writes) {
      if (!write.channel.starts_with(kWake)) continue;
      is_changed = true;
      const std::string node = write.channel.substr(kWake.size());
      state.woken.insert(node);
      if (node == START) state.input = write.value;
    }
  }
  return is_changed;
}

bool is_full(const Plan& plan, const State& state, std::size_t join) {
  return join < state.joined.size() && state.joined[join].size() == plan.joins[join].from.size();
}

bool update_joins(const Plan& plan, State& state, const std::vector<Effect>& effects) {
  state.joined.resize(plan.joins.size());
  bool is_changed = false;
  for (const Effect& effect : effects) {
    for (std::size_t i = 0; i < plan.joins.size(); ++i) {
      if (plan.joins[i].to != effect.woken_node || !is_full(plan, state, i)) continue;
      state.joined[i].clear();
      is_changed = true;
    }
  }
  for (std::size_t i = 0; i < plan.joins.size(); ++i) {
    for (const Value& name : writes_to(effects, kJoin + std::to_string(i))) {
      is_changed = state.joined[i].insert(std::string(name.as_string())).second || is_changed;
    }
  }
  return is_changed;
}

bool update_sends(State& state, const std::vector<Effect>& effects, bool ends_step) {
  const std::vector<Value> sends = writes_to(effects, kSend);
  if (sends.empty() && (!ends_step || state.sends.empty())) return false;
  state.sends = sends;
  return true;
}

Write route_write(const Value& target) {
  if (is_send(target)) return {kSend, target};
  return goto_write(std::string(target.as_string()));
}

}  // namespace

std::string StepTask::key() const { return send ? "send " + std::to_string(*send) : name; }

std::vector<Write> TaskRecord::write_list() const {
  std::vector<Write> list;
  for (const bool from_update : {true, false}) {
    for (const auto& [position, write] : writes) {
      if (from_updates.contains(position) == from_update) list.push_back(write);
    }
  }
  return list;
}

bool is_delta(std::string_view channel) { return channel == "deltas" || channel == "chat"; }

Write goto_write(const std::string& node) { return {kWake + node, {}}; }

Value read_values(const State& state) {
  ObjectBuilder values;
  for (const ChannelPlan& channel : channel_plans()) {
    const auto held = state.values.find(channel.name);
    if (held != state.values.end()) {
      values.set(channel.name, held->second);
    } else if (channel.kind != ChannelKind::last && channel.kind != ChannelKind::topic &&
               channel.kind != ChannelKind::all) {
      values.set(channel.name, initial_value(channel.kind));
    }
  }
  return std::move(values).build();
}

std::vector<StepTask> step_tasks(const Plan& plan, const State& state) {
  std::vector<StepTask> tasks;
  for (std::size_t i = 0; i < state.sends.size(); ++i) {
    const Send send = state.sends[i].get<Send>();
    tasks.push_back({send.node, i, send.arg});
  }
  std::set<std::string> woken = state.woken;
  for (std::size_t i = 0; i < plan.joins.size(); ++i) {
    if (is_full(plan, state, i)) woken.insert(plan.joins[i].to);
  }
  for (const std::string& name : woken) {
    tasks.push_back({name, std::nullopt, name == START ? state.input : read_values(state)});
  }
  return tasks;
}

std::vector<Write> result_writes(const Plan& plan, const State& state, std::string_view node,
                                 const Value& update, const std::vector<std::string>& gotos) {
  std::vector<Write> writes;
  if (update.is_object()) {
    for (auto [key, value] : update.items()) writes.push_back({std::string(key), value});
  }
  for (const std::string& target : gotos) writes.push_back(goto_write(target));
  if (node == START) {
    for (const std::string& entry : plan.entries) writes.push_back(goto_write(entry));
    return writes;
  }
  const NodePlan& from = plan.node(node);
  for (const std::string& target : from.edges) writes.push_back(goto_write(target));
  for (std::size_t i = 0; i < plan.joins.size(); ++i) {
    const auto& sources = plan.joins[i].from;
    if (std::find(sources.begin(), sources.end(), from.name) == sources.end()) continue;
    writes.push_back({kJoin + std::to_string(i), from.name});
  }
  if (from.choices.empty()) return writes;
  // A router sees what its node wrote, but not what others did.
  State seen = state;
  update_values(seen, {{writes, "", true}}, true);
  for (const Value& target : destinations(from, read_values(seen))) {
    if (target != Value(END)) writes.push_back(route_write(target));
  }
  return writes;
}

State apply(const Plan& plan, State state, const std::vector<Effect>& effects) {
  const bool ends_step = std::any_of(effects.begin(), effects.end(),
                                     [](const Effect& effect) { return effect.ends_step; });
  std::set<std::string> ran;
  for (const Effect& effect : effects) {
    if (!effect.woken_node.empty()) ran.insert(effect.woken_node);
  }
  if (!ran.empty()) state.last_ran = ran;
  bool is_changed = update_joins(plan, state, effects);
  is_changed = update_values(state, effects, ends_step) || is_changed;
  is_changed = update_woken(state, effects, ends_step) || is_changed;
  is_changed = update_sends(state, effects, ends_step) || is_changed;
  state.is_written = state.is_written || is_changed;
  state.has_news = state.has_news || is_changed;
  return state;
}

namespace {

bool refuses(const State& state, const std::vector<Effect>& effects, const std::string& name) {
  for (const ChannelPlan& channel : channel_plans()) {
    if (channel.name != name) continue;
    try {
      State trial = state;
      update_channel(trial, channel, writes_to(effects, name));
    } catch (const Refused&) {
      return true;
    }
  }
  return false;
}

}  // namespace

State apply_part(const Plan& plan, State state, const std::vector<Effect>& effects) {
  std::set<std::string> taken;
  bool is_refused = false;
  for (const Effect& effect : effects) {
    for (const Write& write : effect.writes) {
      is_refused = is_refused || refuses(state, effects, write.channel);
      if (!is_refused && !is_delta(write.channel)) taken.insert(write.channel);
    }
  }
  std::vector<Effect> part = effects;
  for (Effect& effect : part) {
    std::erase_if(effect.writes,
                  [&](const Write& write) { return !taken.contains(write.channel); });
    if (!effect.woken_node.empty()) state.last_ran = {};
  }
  for (const Effect& effect : part) {
    if (!effect.woken_node.empty()) state.last_ran.insert(effect.woken_node);
  }
  update_joins(plan, state, part);
  update_values(state, part, false);
  update_woken(state, part, true);
  update_sends(state, part, false);
  state.is_written = state.has_news = true;
  return state;
}

}  // namespace clew::property

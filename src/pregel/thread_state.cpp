#include "pregel/thread_state.hpp"

#include <algorithm>

#include "value/object.hpp"

namespace clew::pregel {

bool is_newer(const Value& version, const Value& than) {
  if (version.is_int() && than.is_int()) return version.as_int() > than.as_int();
  if (ValueAccess::same_words(version, than) || version.is_null()) return false;
  if (version.is_string() && than.is_string()) return version.as_string() > than.as_string();
  return than.is_null() || version > than;
}

ThreadState::ThreadState(std::shared_ptr<const Graph> graph, Checkpointer* saver)
    : graph_(std::move(graph)),
      saver_(saver),
      seen_(graph_->trigger_count),
      views_(graph_->selections.size()) {
  fill_cells();
}

void ThreadState::fill_cells() {
  cells_.clear();
  cells_.reserve(graph_->channels.size());
  for (const ChannelInfo& channel : graph_->channels) {
    cells_.push_back({.state = channel.initial, .is_available = channel.is_initially_available});
  }
}

void ThreadState::clear() {
  fill_cells();
  max_version_ = {};
  version_object_ = object();
  moved_.clear();
  for (View& view : views_) {
    view.object = {};
    view.is_built = false;
    view.stale.clear();
  }
  transients_.clear();
}

void ThreadState::load(const CheckpointTuple& saved) {
  if (!std::exchange(is_new_, false)) clear();
  const Checkpoint& checkpoint = saved.checkpoint;
  version_object_ = checkpoint.channel_versions.is_null() ? object() : checkpoint.channel_versions;
  set_versions_seen(checkpoint.versions_seen.is_null() ? object() : checkpoint.versions_seen);
  std::vector<Index> rebuilt;
  std::vector<std::string> rebuilt_names;
  std::size_t loaded = 0;
  const std::size_t count = version_object_.items().size();  // throws if it is no object
  const detail::Node* versions = ValueAccess::node(version_object_);
  detail::KeyFinder values(checkpoint.channel_values);
  Index next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Value& key = detail::object_key(versions, i);
    const Value& version = detail::object_value(versions, i);
    if (is_newer(version, max_version_)) max_version_ = version;
    const Index index = graph_->find_channel(key, next);
    if (index == kUnknown) continue;
    next = index + 1;
    cells_[index].version = version;
    if (const Value* stored = values.find(key)) {
      set_state(index, info(index).channel->load(*stored));
      ++loaded;
    } else if (info(index).history) {
      rebuilt.push_back(index);
      rebuilt_names.emplace_back(info(index).name);
    }
  }
  // A value may be stored without a version: by a graph that only copied it.
  if (loaded < checkpoint.channel_values.size()) load_unversioned(checkpoint.channel_values);
  for (Index index : graph_->transient_channels) {
    if (is_available(index)) transients_.push_back(index);
  }
  if (rebuilt.empty() || !saver_) return;
  const auto histories = saver_->get_delta_channel_history(saved.key, rebuilt_names);
  for (std::size_t i = 0; i < rebuilt.size(); ++i) {
    set_state(rebuilt[i], info(rebuilt[i]).history->replay(histories[i], rebuilt_names[i]));
  }
}

void ThreadState::load_unversioned(const Value& channel_values) {
  for (auto [name, stored] : channel_values.items()) {
    const Index index = graph_->find_channel(name);
    if (index != kUnknown && version(index).is_null()) {
      set_state(index, info(index).channel->load(stored));
    }
  }
}

// Reading ---------------------------------------------------------------------

Value ThreadState::build_view(const Selection& selection) const {
  ObjectBuilder builder;
  for (Index index : selection.channels) {
    if (!info(index).managed && is_available(index)) builder.set_key(info(index).key, get(index));
  }
  return std::move(builder).build();
}

// Brings a view up to date, or returns false: a small object is better built
// anew than given other keys, which would change their order.
bool ThreadState::refresh(View& view) const {
  constexpr std::size_t kSmall = 32;
  const auto is_small = [&view] { return view.object.size() <= kSmall; };
  for (const auto [index, position] : view.stale) {
    const ChannelInfo& channel = info(index);
    if (!is_available(index)) {
      if (is_small() && view.object.contains(channel.name)) return false;
      view.object = view.object.erase(channel.name);
    } else if (!detail::object_replace(view.object, position, channel.key, get(index))) {
      if (is_small()) return false;
      view.object = std::move(view.object).set(channel.name, get(index));
    }
  }
  return true;
}

Value ThreadState::read(Index selection_index, std::int64_t step, std::int64_t stop) {
  const Selection& selection = graph_->selections[selection_index];
  if (selection.is_bare) {
    const Index index = selection.channels.front();
    return is_available(index) ? get(index) : Value();
  }
  View& view = views_[selection_index];
  if (!view.is_built || !refresh(view)) view.object = build_view(selection);
  view.is_built = true;
  view.stale.clear();
  if (!selection.has_managed) return view.object;
  Value with_managed = view.object;
  for (Index index : selection.channels) {
    if (const ManagedValue* managed = info(index).managed) {
      with_managed = with_managed.set(info(index).name, managed->compute(step, stop));
    }
  }
  return with_managed;
}

ChannelState ThreadState::state_with(Index index, std::span<const Write> writes) const {
  std::vector<Value> values;
  for (const Write& write : writes) {
    if (write.index == index) values.push_back(write.value);
  }
  ChannelState state = cells_[index].state;
  if (!values.empty() || info(index).is_transient) {
    info(index).channel->update(state, values, info(index).name);
  }
  return state;
}

// The view that the step's tasks were given, with these writes; nothing if the
// object is not that one with other values. Views do not change while tasks run.
std::optional<Value> ThreadState::changed_view(Index selection_index,
                                               std::span<const Write> writes) const {
  const Selection& selection = graph_->selections[selection_index];
  const View& view = views_[selection_index];
  const bool is_current = view.is_built && view.stale.empty();
  if (!is_current || selection.has_managed || selection.has_transient) return std::nullopt;
  Value object = view.object;
  for (const Write& write : writes) {
    if (!selection.contains(write.index)) continue;
    const ChannelInfo& channel = info(write.index);
    const ChannelState state = state_with(write.index, writes);
    if (!channel.channel->is_available(state) || !object.contains(channel.name)) {
      return std::nullopt;
    }
    object = std::move(object).set(channel.name, channel.channel->get(state));
  }
  return object;
}

Value ThreadState::read_with(Index selection_index, std::span<const Write> writes,
                             std::int64_t step, std::int64_t stop) const {
  const Selection& selection = graph_->selections[selection_index];
  if (std::optional<Value> object = changed_view(selection_index, writes)) return *object;
  ObjectBuilder builder;
  for (Index index : selection.channels) {
    const ChannelInfo& channel = info(index);
    if (channel.managed) {
      builder.set(channel.name, channel.managed->compute(step, stop));
      continue;
    }
    const ChannelState state = state_with(index, writes);
    const bool available = channel.channel->is_available(state);
    if (selection.is_bare) return available ? channel.channel->get(state) : Value();
    if (available) builder.set(channel.name, channel.channel->get(state));
  }
  return std::move(builder).build();
}

// Versions --------------------------------------------------------------------

Value ThreadState::next_version(const Value& current) const {
  if (saver_) return saver_->next_version(current);
  return Value(current.is_null() ? 1 : current.as_int() + 1);
}

bool ThreadState::is_triggered(const Node& node) const {
  for (std::size_t i = 0; i < node.triggers.size(); ++i) {
    const Index trigger = node.triggers[i];
    if (is_available(trigger) && is_newer(version(trigger), seen_[node.first_seen + i])) {
      return true;
    }
  }
  return false;
}

bool ThreadState::is_due(const Node& node) const {
  if (!is_triggered(node)) return false;
  const Selection& selection = graph_->selections[node.selection];
  return !selection.is_bare || is_available(selection.channels.front());
}

bool ThreadState::has_news_for(std::string_view name) const {
  const Value& seen = seen_object_[name];
  for (Index index = 0; index < cells_.size(); ++index) {
    if (is_newer(version(index), seen[info(index).name])) return true;
  }
  for (auto [channel, version] : version_object_.items()) {
    if (graph_->find_channel(channel) == kUnknown && is_newer(version, seen[channel])) return true;
  }
  return false;
}

void ThreadState::see_all(std::string_view name) {
  ObjectBuilder seen;
  for (auto [channel, version] : seen_object_[name].items()) seen.set(channel, version);
  for (Index index = 0; index < cells_.size(); ++index) {
    if (!version(index).is_null()) seen.set(info(index).name, version(index));
  }
  seen_object_ = seen_object_.set(name, std::move(seen).build());
}

void ThreadState::set_versions_seen(Value versions_seen) {
  seen_object_ = std::move(versions_seen);
  ran_.clear();
  const Value nothing;
  detail::KeyFinder nodes(seen_object_);
  for (const Node& node : graph_->nodes) {
    const Value* seen = nodes.find(node.key);
    detail::KeyFinder channels(seen ? *seen : nothing);
    for (std::size_t i = 0; i < node.triggers.size(); ++i) {
      const Value* version = channels.find(info(node.triggers[i]).key);
      seen_[node.first_seen + i] = version ? *version : nothing;
    }
  }
}

const Value& ThreadState::versions_seen() {
  for (const Node* node : ran_) {
    const Value& known = seen_object_[node->name];
    Value seen = known.is_null() ? object() : known;
    for (std::size_t i = 0; i < node->triggers.size(); ++i) {
      const Value& version = seen_[node->first_seen + i];
      if (!version.is_null()) seen = std::move(seen).set(info(node->triggers[i]).name, version);
    }
    seen_object_ = std::move(seen_object_).set(node->name, std::move(seen));
  }
  ran_.clear();
  return seen_object_;
}

bool ThreadState::has_moved(Index index) const {
  return std::find(moved_.begin(), moved_.end(), index) != moved_.end();
}

Value ThreadState::commit_versions() {
  ObjectBuilder changes;
  for (Index index : moved_) changes.set_key(info(index).key, version(index));
  committed_.swap(moved_);
  moved_.clear();
  Value new_versions = std::move(changes).build();
  version_object_ = version_object_.merge(new_versions);
  return new_versions;
}

Value ThreadState::new_channel_values() const {
  ObjectBuilder values;
  for (Index index : committed_) {
    Value stored;
    if (info(index).channel->store(cells_[index].state, stored)) {
      values.set_key(info(index).key, std::move(stored));
    }
  }
  return std::move(values).build();
}

Value ThreadState::all_channel_values() const {
  ObjectBuilder values;
  for (Index index = 0; index < cells_.size(); ++index) {
    Value stored;
    if (!version(index).is_null() && info(index).channel->store(cells_[index].state, stored)) {
      values.set_key(info(index).key, std::move(stored));
    }
  }
  return std::move(values).build();
}

Value ThreadState::updated_channels(const std::vector<Index>& updated) {
  const auto comes_first = [this](Index a, Index b) { return info(a).name < info(b).name; };
  sorted_ = updated;
  if (!std::is_sorted(sorted_.begin(), sorted_.end(), comes_first)) {
    std::sort(sorted_.begin(), sorted_.end(), comes_first);
  }
  detail::VectorEditor names(sorted_.size());
  for (Index index : sorted_) names.push_back(info(index).key);
  return detail::vector_value(Kind::list, std::move(names).finish());
}

}  // namespace clew::pregel

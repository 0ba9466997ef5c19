#include "pregel/graph.hpp"

#include <algorithm>
#include <numeric>

#include <clew/extension.hpp>

namespace clew::pregel {

void Selection::index_members() {
  for (Index channel : channels) {
    if (channel >= members.size()) members.resize(channel + 1);
    members[channel] = true;
  }
}

Executor& Graph::executor() const {
  return options.executor ? *options.executor : default_executor();
}

Index Graph::find_channel(std::string_view channel) const {
  const auto found = channel_index_.find(channel);
  return found == channel_index_.end() ? kUnknown : found->second;
}

Index Graph::find_node(std::string_view node) const {
  const auto found = node_index_.find(node);
  return found == node_index_.end() ? kUnknown : found->second;
}

const Node* Graph::node_of_send(const Value& packet) const {
  if (!is_send(packet)) return nullptr;
  const Index node = find_node(packet.as_extension().payload[0].as_string());
  return node == kUnknown || nodes[node].is_hidden ? nullptr : &nodes[node];
}

Write Graph::write_to(std::string_view channel, Value value) const {
  const Index index = find_channel(channel);
  if (index == kUnknown) return {Value(channel), std::move(value), kUnknown};
  return {{}, std::move(value), index};
}

Write Graph::branch_to(std::string_view node, Value value) const {
  return write_to(std::string(kBranchTo) + std::string(node), std::move(value));
}

bool Graph::is_quick(const Node& node) const {
  return patience_[static_cast<Index>(&node - nodes.data())].load(std::memory_order_relaxed) > 0;
}

void Graph::note_duration(const Node& node, std::chrono::nanoseconds duration) const {
  constexpr std::chrono::microseconds kQuick{20};
  constexpr std::uint8_t kMostPatience = 2;
  std::atomic<std::uint8_t>& patience = patience_[static_cast<Index>(&node - nodes.data())];
  const std::uint8_t before = patience.load(std::memory_order_relaxed);
  const std::uint8_t less = before > 0 ? before - 1 : 0;
  const std::uint8_t after = duration < kQuick ? kMostPatience : less;
  // Written only if it changes: runs on other processors read it.
  if (after != before) patience.store(after, std::memory_order_relaxed);
}

void Graph::finish() {
  if (options.checkpointer && options.checkpointer->waits_for_device()) {
    save_group = std::make_shared<SaveGroup>(options.checkpointer, executor());
  }
  is_bare = !channels.empty() && channels.front().name == kRoot;
  patience_ = std::vector<std::atomic<std::uint8_t>>(nodes.size());
  for (std::size_t i = 0; i < channels.size(); ++i) {
    ChannelInfo& info = channels[i];
    const Index index = i;
    info.key = Value(info.name);
    info.managed = dynamic_cast<const ManagedValue*>(info.channel.get());
    info.history = dynamic_cast<const StoredAsHistory*>(info.channel.get());
    info.snapshots = dynamic_cast<const SnapshotChannel*>(info.channel.get());
    info.is_transient = info.channel->is_transient();
    info.initial = info.channel->initial();
    info.is_initially_available = info.channel->is_available(info.initial);
    if (info.is_transient) transient_channels.push_back(index);
    if (info.channel->is_deferred()) deferred_channels.push_back(index);
    if (info.snapshots) snapshot_channels.push_back(index);
    has_untracked = has_untracked || info.channel->is_untracked();
    channel_index_.emplace(info.name, index);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    node.key = Value(node.name);
    node.path_text = "~" + std::string(kPull) + ", " + node.name;
    node.path = list({kPull, node.key});
    node.first_seen = trigger_count;
    trigger_count += node.triggers.size();
    ListBuilder trigger_list;
    for (Index trigger : node.triggers) {
      ChannelInfo& channel = channels[trigger];
      channel.triggers.push_back(i);
      node.trigger_names.push_back(channel.name);
    }
    std::sort(node.trigger_names.begin(), node.trigger_names.end());
    for (const std::string& trigger : node.trigger_names) trigger_list.push_back(trigger);
    node.trigger_list = std::move(trigger_list).build();
    node_index_.emplace(node.name, i);
  }
  std::vector<Index> order(nodes.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(),
            [this](Index a, Index b) { return nodes[a].name < nodes[b].name; });
  by_name.resize(nodes.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    by_name[order[rank]] = rank;
  }
  for (Selection& selection : selections) {
    const Index position = static_cast<Index>(&selection - selections.data());
    selection.index_members();
    Index next = 0;
    for (Index channel : selection.channels) {
      channels[channel].places.push_back({position, next});
      // What the engine computes is added behind the rest.
      if (channels[channel].managed) selection.has_managed = true;
      if (!channels[channel].managed) ++next;
      if (channels[channel].is_transient) selection.has_transient = true;
    }
  }
}

}  // namespace clew::pregel

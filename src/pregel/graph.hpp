// A compiled graph: names resolved to indexes, edges to channel writes.
// Shared by all runs, which change nothing in it but what they learn of its speed.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <clew/cache.hpp>
#include <clew/checkpointer.hpp>
#include <clew/graph.hpp>

#include "channels/managed.hpp"
#include "channels/stored_history.hpp"
#include "pregel/deadlines.hpp"
#include "pregel/names.hpp"
#include "pregel/save_group.hpp"
#include "pregel/watch.hpp"

namespace clew::pregel {

class Graph;

using Index = std::size_t;
// No channel, or no node, of this graph.
inline constexpr Index kUnknown = static_cast<Index>(-1);

// A write of a task: to a channel of the graph, or, by name, to one that it does not have,
// as those for what the engine notes about the task.
struct Write {
  Value name;  // only then
  Value value;
  Index index = kUnknown;

  bool is(std::string_view reserved) const {
    return index == kUnknown && name.as_string() == reserved;
  }
};

// Where an object of a selection has a channel, if it has all that come before it.
struct Place {
  Index selection;
  Index position;
};

// First what every step looks at: in a large graph that is read from memory each time.
struct ChannelInfo {
  ChannelPtr channel;
  const ManagedValue* managed = nullptr;
  std::vector<Index> triggers;  // nodes that it can trigger
  std::vector<Place> places;    // in the selections that contain it
  bool is_transient = false;
  bool is_initially_available = false;
  std::string name;
  Value key;  // the name as a Value

  ChannelState initial;  // as it is in a new thread
  const StoredAsHistory* history = nullptr;
  const SnapshotChannel* snapshots = nullptr;
  Value json_schema;  // of what it holds
};

// Channels that are read together: an object of them, or a bare value.
struct Selection {
  std::vector<Index> channels;
  bool is_bare = false;
  bool has_managed = false;
  bool has_transient = false;
  std::vector<bool> members;  // by channel; filled in by index_members()

  void index_members();
  bool contains(Index channel) const { return channel < members.size() && members[channel]; }
};

struct Branch {
  std::string name;
  RouterBody router;
  std::optional<std::map<std::string, std::string>> path_map;
  Index selection = 0;
  bool has_own_reads = false;
};

// In the same order.
struct Node {
  std::vector<Index> triggers;
  Index first_seen = 0;  // of its triggers among all nodes' triggers
  Index selection = 0;   // what it reads
  NodeBody body;         // empty for START, which passes its input on
  bool is_hidden = false;

  // What happens to its result.
  bool is_entrypoint = false;   // writes __end__ and __previous__
  std::vector<Index> writable;  // START: channels of the input schema; else empty for all
  std::vector<Write> edges;     // written after every run
  std::vector<Branch> branches;

  NodeOptions options;
  std::string name;
  Value key;
  std::vector<std::string> trigger_names;  // sorted
  Value trigger_list;
  Index error_handler = kUnknown;
  bool is_error_handler = false;
  std::vector<std::shared_ptr<const Graph>> subgraphs;
  std::string path_text;  // "~__pregel_pull, name"
  Value path;             // the same as a list
};

class Graph {
 public:
  std::string name;
  CompileOptions options;

  std::vector<ChannelInfo> channels;
  std::size_t state_channels = 0;  // the first so many are the state's, the rest the engine's
  std::vector<Node> nodes;         // START first
  std::vector<Selection> selections;

  Index start_channel = kUnknown;
  Index tasks_channel = kUnknown;
  Index output = 0;  // selections
  Index stream = 0;

  // The names of the types that input and output are; empty if they have none.
  std::string input_title;
  std::string output_title;
  Value context_schema;  // null if there is none

  // Found once so that a step need not look at every channel.
  std::vector<Index> transient_channels;
  std::vector<Index> deferred_channels;
  std::vector<Index> snapshot_channels;
  bool has_untracked = false;
  bool is_bare = false;           // the state is one value without a name
  std::vector<Index> by_name;     // node -> rank in the order of names
  std::size_t trigger_count = 0;  // of all nodes together

  Executor& executor() const;

  Index find_channel(std::string_view channel) const;
  // The same, at little cost if it is the channel at `guess`.
  Index find_channel(const Value& channel, Index guess) const {
    const bool is_guessed = guess < channels.size() && same(channels[guess].key, channel);
    return is_guessed ? guess : find_channel(channel.as_string());
  }
  Index find_node(std::string_view node) const;

  // The node that a Send runs; null if it is none, or to none of this graph.
  const Node* node_of_send(const Value& packet) const;

  // A write to a channel given by name.
  Write write_to(std::string_view channel, Value value) const;
  Write branch_to(std::string_view node, Value value) const;
  std::string_view name_of(const Write& write) const {
    return write.index == kUnknown ? write.name.as_string() : channels[write.index].name;
  }
  // Whether it goes to a channel that is rebuilt from what was written to it.
  bool is_delta(const Write& write) const {
    return write.index != kUnknown && channels[write.index].snapshots;
  }

  // Whether a node was done, when it was timed lately, sooner than another thread would
  // have been there to help. Late once may be the system's doing; twice in a row is not.
  bool is_quick(const Node& node) const;
  void note_duration(const Node& node, std::chrono::nanoseconds duration) const;

  // Fills in what follows from nodes and channels.
  void finish();

  // Of all runs of the graph.
  const std::shared_ptr<Watch> watch = std::make_shared<Watch>();
  const std::shared_ptr<Deadlines> deadlines = std::make_shared<Deadlines>();
  std::shared_ptr<SaveGroup> save_group;  // none without a checkpointer that waits for a device

 private:
  std::unordered_map<std::string_view, Index> channel_index_;
  std::unordered_map<std::string_view, Index> node_index_;
  // By node: how often it may be late before it no longer counts as quick.
  mutable std::vector<std::atomic<std::uint8_t>> patience_;
};

}  // namespace clew::pregel

// The channels of a graph in a run, and the checkpoint they came from: what a
// super-step reads and changes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pregel/graph.hpp"

namespace clew::pregel {

// What applying writes needs to know of a task.
struct TaskWrites {
  static TaskWrites of_input(std::span<const Write> writes) {
    return {nullptr, Value(kInput), writes, false, false};
  }

  const Node* node = nullptr;
  Value name;  // of input and calls, which have no node
  std::span<const Write> writes;
  bool is_woken = false;   // by the node's triggers
  bool ends_step = false;  // input does not
};

// Versions compare as text or as numbers; null is older than all.
bool is_newer(const Value& version, const Value& than);

class ThreadState {
 public:
  // Without a saver nothing is kept that only a checkpoint needs.
  ThreadState(std::shared_ptr<const Graph> graph, Checkpointer* saver);

  // Takes over a stored checkpoint, in place of what was here. Channels that are stored as writes are
  // rebuilt with the help of the saver.
  void load(const CheckpointTuple& saved);

  bool is_available(Index index) const { return cells_[index].is_available; }
  Value get(Index index) const { return info(index).channel->get(cells_[index].state); }

  // The available channels of a selection as an object, or a bare value; what
  // the engine computes included. Cheap if little changed since the last call.
  Value read(Index selection, std::int64_t step, std::int64_t stop);
  // The same, as a task sees it that made these writes.
  Value read_with(Index selection, std::span<const Write> writes, std::int64_t step,
                  std::int64_t stop) const;

  // Whether any channel ever had a version, that is, whether anything was saved.
  bool has_versions() const { return !max_version_.is_null(); }
  const Value& version(Index index) const { return cells_[index].version; }

  // Whether a trigger of the node changed since it last ran.
  bool is_triggered(const Node& node) const;
  // And whether there is what it reads.
  bool is_due(const Node& node) const;
  // Whether any channel changed since `name` (a node, or kInterrupt) saw them all.
  bool has_news_for(std::string_view name) const;
  // Notes that `name` has seen all channels as they are.
  void see_all(std::string_view name);

  // Ends a super-step: applies the writes of its tasks, which are in order.
  // Returns the channels that have a new value to read; good until the next call.
  const std::vector<Index>& apply(std::span<const TaskWrites> tasks);
  // From now on, if a channel refuses its writes: what was applied before stays, as in
  // LangGraph. Otherwise nothing does.
  void keep_part_of_refused() { keeps_part_ = true; }
  // The same for a look at the values only: versions stay as they are.
  void preview(std::span<const TaskWrites> tasks);

  // The version after `current`, as the saver counts.
  Value next_version(const Value& current) const;

  // The channels whose version moved since the last commit_versions().
  bool has_moved(Index index) const;
  // Those channels with their versions, the new_versions of a put; from now on
  // they count as saved.
  Value commit_versions();

  // The parts of a checkpoint, as of the last commit_versions().
  const Value& channel_versions() const { return version_object_; }
  Value new_channel_values() const;  // of those that commit_versions() gave
  Value all_channel_values() const;
  const Value& versions_seen();
  Value updated_channels(const std::vector<Index>& updated);

  // A version that only stores a snapshot; see Loop::bump_unwritten().
  void bump(Index index, Value version);
  void set_versions_seen(Value versions_seen);

 private:
  // A channel in this run; all that a step touches of it, side by side.
  struct Cell {
    ChannelState state;
    Value version = {};         // null: none
    bool is_available = false;  // what the channel says of the state
    std::uint32_t change = 0;   // its place in changes_, from 1
  };
  // What a step does to a channel: on a copy, so that nothing has happened yet if
  // another channel refuses its writes.
  struct Change {
    Change(Index of_channel, const ChannelState& before) : channel(of_channel), state(before) {}

    Index channel;
    ChannelState state;
    bool is_consumed = false;
    bool has_new_value = false;
    const Value* first_write = nullptr;
    std::size_t group = 0;  // if there are several writes: their place in groups_, from 1
  };
  // Empties the scratch of apply(), also when a channel refuses its writes.
  class ScratchGuard {
   public:
    explicit ScratchGuard(ThreadState& state) : state_(state) {}
    ~ScratchGuard();

   private:
    ThreadState& state_;
  };
  // An object of the channels of a selection, with what changed since it was built.
  struct View {
    struct Stale {
      Index channel;
      Index position;  // where the object has it if it has all channels
    };

    Value object;
    bool is_built = false;
    std::vector<Stale> stale;
  };

  const ChannelInfo& info(Index index) const { return graph_->channels[index]; }
  void clear();
  void fill_cells();
  void load_unversioned(const Value& channel_values);
  void set_state(Index index, ChannelState state) {
    Cell& cell = cells_[index];
    cell.state = std::move(state);
    cell.is_available = info(index).channel->is_available(cell.state);
  }
  void set_version(Index index, const Value& version) {
    cells_[index].version = version;
    if (saver_) moved_.push_back(index);
    mark_stale(index);
  }
  void mark_stale(Index index) {
    for (const auto [selection, position] : info(index).places) {
      View& view = views_[selection];
      if (!view.is_built) continue;
      view.stale.push_back({index, position});
      // One that nobody reads any more is rather built anew if ever.
      if (view.stale.size() > graph_->selections[selection].channels.size()) view = {};
    }
  }

  // merge.cpp
  const std::vector<Index>& apply(std::span<const TaskWrites> tasks, const Value& version);
  void reserve_scratch();
  Change& change_of(Index index);
  void add_to_group(Change& change, const Value& write);
  std::span<const Value> writes_of(const Change& change) const;
  void consume_triggers(const Node& node);
  void group_writes(std::span<const Write> writes);
  void make_changes(std::span<const TaskWrites> tasks, const Value& version);
  void keep_part(Index refusing, std::span<const TaskWrites> tasks, const Value& version);
  void keep_changes(std::span<const TaskWrites> tasks, const Value& version);
  void note_seen(const TaskWrites& task);
  void note_change(Index index, const Value& version, bool has_new_value);
  void pass_step(const Value& version);
  void pass_step(Index index, const Value& version);

  Value build_view(const Selection& selection) const;
  bool refresh(View& view) const;
  std::optional<Value> changed_view(Index selection, std::span<const Write> writes) const;
  ChannelState state_with(Index index, std::span<const Write> writes) const;

  std::shared_ptr<const Graph> graph_;
  Checkpointer* saver_;
  bool is_new_ = true;       // nothing was loaded or applied yet
  bool keeps_part_ = false;  // of a step that a channel refuses
  std::vector<Cell> cells_;  // by channel
  Value max_version_;

  // The versions that each node last ran on, trigger by trigger; and the same as
  // saved, with what names other than nodes have seen, and the nodes that ran since.
  std::vector<Value> seen_;
  Value seen_object_ = object();
  std::vector<const Node*> ran_;

  // channel_versions as last saved, with those of channels that this graph does
  // not have, and the channels that moved since.
  Value version_object_ = object();
  std::vector<Index> moved_;
  std::vector<Index> committed_;  // those of the last commit_versions()

  std::vector<View> views_;

  std::vector<Index> transients_;  // those of the channels that hold something

  // Scratch of apply(), kept to avoid allocating in every step.
  std::vector<Change> changes_;
  std::vector<std::vector<Value>> groups_;
  std::vector<Index> updated_;
  bool has_changed_ = false;  // any channel

  std::vector<Index> sorted_;  // scratch of updated_channels()
};

}  // namespace clew::pregel

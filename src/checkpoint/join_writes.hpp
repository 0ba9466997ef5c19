// How writes to a channel add up, for whoever does not have the graph. Channels themselves
// (src/channels) build on checkpoints and cannot be asked here.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <clew/reducers.hpp>
#include <clew/value.hpp>

namespace clew::internal {

// What a channel holds after `update` is written to it, as the reducers that most
// graphs use would put them together: lists are joined (messages by their ids), objects
// merged, and of anything else the update counts, as it does in an Overwrite.
Value join_writes(const Value& current, const Value& update);

// Whether both are nothing, or the same down to the order of keys.
bool is_same(const std::optional<Value>& a, const std::optional<Value>& b);

// What a step wrote to a channel, in order.
struct ChannelWrites {
  std::vector<Value> by_command;  // a Command that was given as input: before the tasks
  std::vector<Value> by_tasks;
  bool is_consumed = false;  // a node has run that waited for it

  bool empty() const { return by_command.empty() && by_tasks.empty(); }
};

// A kind of channel: what it makes of writes to it. Values are those that are stored; none is
// that of a channel that holds nothing.
class ChannelKind {
 public:
  enum class Way {
    last_value,
    one_step,  // the last value, for one step
    topic,     // all values, for one step
    collects,  // all values
    appends,   // a reducer that joins lists
    merges_messages,
    reduces,      // any other reducer
    joins,        // the names of nodes that have run, until all have
    joins_at_end  // the same, in front of a deferred node
  };

  explicit ChannelKind(Way way) : way_(way) {}
  // The first write is taken as it is, unless there is something to reduce it with.
  ChannelKind(Way way, Reducer reducer) : way_(way), reducer_(std::move(reducer)) {}
  ChannelKind(Way way, Reducer reducer, Value initial)
      : way_(way), reducer_(std::move(reducer)), initial_(std::move(initial)) {}
  // Of a join: the names that it waits for.
  ChannelKind(Way way, std::set<std::string> names) : way_(way), names_(std::move(names)) {}

  Way way() const { return way_; }
  bool is_join() const { return way_ == Way::joins || way_ == Way::joins_at_end; }
  bool has_reducer() const { return static_cast<bool>(reducer_); }
  // Whether nothing of what it held is left after a write.
  bool forgets() const {
    return way_ == Way::last_value || way_ == Way::one_step || way_ == Way::topic;
  }

  // Whether a step with these writes makes a new version of it.
  bool changes(const std::optional<Value>& held, const ChannelWrites& writes) const;

  // What it holds after the step. Both throw if it refuses the writes.
  std::optional<Value> after(std::optional<Value> held, const ChannelWrites& writes) const;

 private:
  std::optional<Value> take(std::optional<Value> held, std::span<const Value> writes) const;
  Value reduce(std::optional<Value> held, std::span<const Value> writes) const;
  Value join(const std::optional<Value>& held, const ChannelWrites& writes) const;

  Way way_;
  Reducer reducer_;
  std::optional<Value> initial_;
  std::set<std::string> names_;
};

}  // namespace clew::internal

// A channel is one key of a graph's state: it takes the writes of a super-step
// and turns them into the value that the next one reads.
//
//   StateGraph<Value> graph({{"foo", last_value()}, {"bar", reduced(append, list())}});
//
// Channels describe behaviour and hold no data; the same one may serve many
// graphs and threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <clew/reducers.hpp>
#include <clew/types.hpp>
#include <clew/value.hpp>

namespace clew {

// The data of a channel in a run.
struct ChannelState {
  Value value;
  bool present = false;   // there is a value
  bool finished = false;  // deferred channels: the value may be read
};

class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  // A channel that nothing was written to yet.
  virtual ChannelState initial() const { return {}; }
  // A channel as a checkpoint stored it.
  virtual ChannelState load(const Value& stored) const { return {stored, true, false}; }
  // What a checkpoint stores; `stored` is left alone and the result false if nothing.
  virtual bool store(const ChannelState& state, Value& stored) const;

  // Takes the writes of a step, in order; true if the channel changed. No
  // writes means that a step passed without any. Throws InvalidUpdateError.
  virtual bool update(ChannelState& state, std::span<const Value> writes,
                      std::string_view key) const = 0;
  // A node that this channel triggered has run; true if the channel changed.
  virtual bool consume(ChannelState&) const { return false; }
  // The run is about to end; true if the channel changed.
  virtual bool finish(ChannelState&) const { return false; }

  // Whether there is a value to read, and the value.
  virtual bool is_available(const ChannelState& state) const { return state.present; }
  virtual Value get(const ChannelState& state) const { return state.value; }

  // Whether a step without writes can change it.
  virtual bool is_transient() const { return false; }
  virtual bool is_deferred() const { return false; }
  // Never stored, nor the writes to it.
  virtual bool is_untracked() const { return false; }
};

using ChannelPtr = std::shared_ptr<const Channel>;

// Keeps the last value; at most one write per step.
ChannelPtr last_value();
// Combines each write with the current value. Without `initial` the first write
// is taken as it is.
ChannelPtr reduced(Reducer reducer);
ChannelPtr reduced(Reducer reducer, Value initial);
// The last write of a step; gone in a step without one.
ChannelPtr any_value();
// The value for one step. With guard, two writes in a step are an error.
ChannelPtr ephemeral(bool guard = true);
// Like last_value, but never stored.
ChannelPtr untracked(bool guard = true);
// Collects writes; a list counts as its elements. Emptied every step unless it accumulates.
ChannelPtr topic(bool accumulate = false);
// Available once every name was written; then starts anew.
ChannelPtr named_barrier(std::vector<std::string> names);
// The forms used in front of a deferred node: available when the run would end.
ChannelPtr last_value_after_finish();
ChannelPtr named_barrier_after_finish(std::vector<std::string> names);

// Folds the writes of a step, or of many steps at once, into the current value.
using DeltaReducer = std::function<Value(const Value& current, std::span<const Value> writes)>;
// Stored as its writes, with the whole value every `snapshot_frequency` updates.
// The reducer must not care how writes are grouped.
ChannelPtr delta(DeltaReducer reducer, Value initial = list(), int snapshot_frequency = 100);

// Values that the engine computes: whether this is the last step the recursion
// limit allows, and how many are left. Read like any channel, never written.
ChannelPtr is_last_step();
ChannelPtr remaining_steps();

}  // namespace clew

// A channel with its data, handled as a run does it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <clew/channels.hpp>
#include <clew/json.hpp>

namespace clew {

class Probe {
 public:
  explicit Probe(ChannelPtr channel) : channel_(std::move(channel)), state_(channel_->initial()) {}

  // Ends a step with these writes to the channel, which is named "c".
  bool update(const std::vector<Value>& writes) { return channel_->update(state_, writes, "c"); }
  bool consume() { return channel_->consume(state_); }
  bool finish() { return channel_->finish(state_); }

  // The value as JSON, or "-" if there is none to read.
  std::string show() const {
    return channel_->is_available(state_) ? to_json(channel_->get(state_)) : "-";
  }

  // What a checkpoint would hold, if anything.
  std::optional<Value> stored() const {
    Value value;
    return channel_->store(state_, value) ? std::optional(value) : std::nullopt;
  }
  // The channel in a run that continues from a checkpoint.
  Probe reloaded() const {
    Probe copy(channel_);
    if (const std::optional<Value> value = stored()) copy.state_ = channel_->load(*value);
    return copy;
  }

 private:
  ChannelPtr channel_;
  ChannelState state_;
};

}  // namespace clew

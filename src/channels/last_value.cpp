#include <clew/channels.hpp>
#include <clew/errors.hpp>

namespace clew {
namespace {

class LastValue final : public Channel {
 public:
  bool update(ChannelState& state, std::span<const Value> writes,
              std::string_view key) const override {
    if (writes.empty()) return false;
    if (writes.size() > 1) {
      throw InvalidUpdateError("channel '" + std::string(key) +
                               "' was written more than once in a step; give it a reducer to "
                               "combine several values");
    }
    state = {writes.back(), true, false};
    return true;
  }
};

// In front of a deferred node: readable only once the run would end.
class LastValueAfterFinish final : public Channel {
 public:
  ChannelState load(const Value& stored) const override {
    return {stored[0], true, stored[1] == Value(true)};
  }
  bool store(const ChannelState& state, Value& stored) const override {
    if (!state.present) return false;
    stored = list({state.value, state.finished});
    return true;
  }
  bool update(ChannelState& state, std::span<const Value> writes, std::string_view) const override {
    if (writes.empty()) return false;
    state = {writes.back(), true, false};
    return true;
  }
  bool consume(ChannelState& state) const override {
    if (!state.finished) return false;
    state = {};
    return true;
  }
  bool finish(ChannelState& state) const override {
    if (state.finished || !state.present) return false;
    state.finished = true;
    return true;
  }
  bool is_available(const ChannelState& state) const override {
    return state.present && state.finished;
  }
  bool is_deferred() const override { return true; }
};

}  // namespace

bool Channel::store(const ChannelState& state, Value& stored) const {
  if (state.present) stored = state.value;
  return state.present;
}

ChannelPtr last_value() {
  static const auto channel = std::make_shared<const LastValue>();
  return channel;
}

ChannelPtr last_value_after_finish() {
  static const auto channel = std::make_shared<const LastValueAfterFinish>();
  return channel;
}

}  // namespace clew

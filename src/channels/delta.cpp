#include <clew/add_messages.hpp>
#include <clew/channels.hpp>
#include <clew/errors.hpp>

#include "channels/stored_history.hpp"

namespace clew {
namespace {

class Delta final : public Channel, public SnapshotChannel {
 public:
  Delta(DeltaReducer reducer, Value initial, int snapshot_frequency)
      : reducer_(std::move(reducer)), initial_(std::move(initial)), frequency_(snapshot_frequency) {
    if (frequency_ <= 0) throw GraphError("snapshot_frequency must be at least 1");
    using Function = Value (*)(const Value&, std::span<const Value>);
    const Function* function = reducer_.target<Function>();
    holds_messages_ = function && *function == &messages_delta_reducer;
  }

  ChannelState initial() const override { return {initial_, true, false}; }

  ChannelState load(const Value& stored) const override {
    const Value* snapshot = snapshot_value(stored);
    return {snapshot ? *snapshot : stored, true, false};
  }

  // Rebuilt from writes; the engine adds snapshots itself.
  bool store(const ChannelState&, Value&) const override { return false; }

  bool update(ChannelState& state, std::span<const Value> writes,
              std::string_view key) const override {
    if (writes.empty()) return false;
    const Value* replacement = nullptr;
    for (const Value& write : writes) {
      const Value* value = overwritten(write);
      if (value && replacement) throw_two_overwrites(key);
      if (value) replacement = value;
    }
    if (replacement) {
      state = {replacement->is_null() ? initial_ : *replacement, true, false};
    } else {
      state = {fold(state.present ? state.value : initial_, writes, key), true, false};
    }
    return true;
  }

  ChannelState replay(const DeltaHistory& history, std::string_view key) const override {
    ChannelState state = history.seed ? load(*history.seed) : initial();
    std::vector<Value> writes;
    for (const PendingWrite& write : history.writes) {
      if (const Value* replacement = overwritten(write.value)) {
        state.value = replacement->is_null() ? initial_ : *replacement;
        writes.clear();
      } else {
        writes.push_back(write.value);
      }
    }
    if (!writes.empty()) state.value = fold(state.value, writes, key);
    return state;
  }

  int snapshot_frequency() const override { return frequency_; }
  Value with_message_ids(const Value& write) const override {
    return holds_messages_ ? ensure_message_ids(write) : ensure_message_object_ids(write);
  }

 private:
  Value fold(const Value& current, std::span<const Value> writes, std::string_view key) const {
    try {
      return reducer_(current, writes);
    } catch (const ValueError& error) {
      throw ReducerTypeError("channel '" + std::string(key) + "': " + error.what());
    }
  }

  DeltaReducer reducer_;
  Value initial_;
  int frequency_;
  bool holds_messages_ = false;  // and nothing else
};

}  // namespace

ChannelPtr delta(DeltaReducer reducer, Value initial, int snapshot_frequency) {
  return std::make_shared<const Delta>(std::move(reducer), std::move(initial), snapshot_frequency);
}

}  // namespace clew

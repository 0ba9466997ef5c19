#include <clew/channels.hpp>
#include <clew/errors.hpp>
#include <clew/extension.hpp>

#include "channels/stored_history.hpp"

namespace clew {
namespace {

// A reducer that is given something it cannot combine.
Value reduce(const Reducer& reducer, const Value& current, const Value& update,
             std::string_view key) {
  try {
    return reducer(current, update);
  } catch (const ValueError& error) {
    throw ReducerTypeError("channel '" + std::string(key) + "': " + error.what());
  }
}

class Reduced final : public Channel, public StoredAsHistory {
 public:
  explicit Reduced(Reducer reducer) : reducer_(std::move(reducer)) {}
  Reduced(Reducer reducer, Value initial)
      : reducer_(std::move(reducer)), initial_{std::move(initial), true, false} {}

  ChannelState initial() const override { return initial_; }

  ChannelState load(const Value& stored) const override {
    // A thread written while this was a delta channel holds snapshots.
    const Value* snapshot = snapshot_value(stored);
    return {snapshot ? *snapshot : stored, true, false};
  }

  bool update(ChannelState& state, std::span<const Value> writes,
              std::string_view key) const override {
    if (writes.empty()) return false;
    if (!state.present) {
      state = {writes.front(), true, false};
      writes = writes.subspan(1);
    }
    bool overwrote = false;
    for (const Value& write : writes) {
      if (const Value* replacement = overwritten(write)) {
        if (overwrote) throw_two_overwrites(key);
        overwrote = true;
        state.value = *replacement;
      } else if (!overwrote) {
        state.value = reduce(reducer_, state.value, write, key);
      }
    }
    return true;
  }

  // The writes span many steps, so each is an update of its own.
  ChannelState replay(const DeltaHistory& history, std::string_view key) const override {
    ChannelState state = history.seed ? load(*history.seed) : initial();
    for (const PendingWrite& write : history.writes) update(state, {&write.value, 1}, key);
    return state;
  }

 private:
  Reducer reducer_;
  ChannelState initial_;
};

}  // namespace

void throw_two_overwrites(std::string_view key) {
  throw InvalidUpdateError("channel '" + std::string(key) +
                           "' received two Overwrites in one step; only one can win");
}

const Value* snapshot_value(const Value& stored) {
  if (!stored.is_extension()) return nullptr;
  const Extension extension = stored.as_extension();
  if (extension.is_raw || extension.code != ExtensionCode::delta_snapshot) return nullptr;
  return &extension.payload;
}

ChannelPtr reduced(Reducer reducer) { return std::make_shared<const Reduced>(std::move(reducer)); }

ChannelPtr reduced(Reducer reducer, Value initial) {
  return std::make_shared<const Reduced>(std::move(reducer), std::move(initial));
}

}  // namespace clew

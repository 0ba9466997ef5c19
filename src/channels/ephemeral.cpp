#include <clew/channels.hpp>
#include <clew/errors.hpp>

namespace clew {
namespace {

void check_guard(bool guard, std::span<const Value> writes, std::string_view key) {
  if (!guard || writes.size() <= 1) return;
  throw InvalidUpdateError("channel '" + std::string(key) +
                           "' was written more than once in a step; make it without guard to keep "
                           "the last of several values");
}

// A value for one step: gone when a step passes without a write.
class Ephemeral final : public Channel {
 public:
  explicit Ephemeral(bool guard) : guard_(guard) {}

  bool update(ChannelState& state, std::span<const Value> writes,
              std::string_view key) const override {
    if (writes.empty()) {
      const bool was_present = state.present;
      state = {};
      return was_present;
    }
    check_guard(guard_, writes, key);
    state = {writes.back(), true, false};
    return true;
  }
  bool is_transient() const override { return true; }

 private:
  bool guard_;
};

class Untracked final : public Channel {
 public:
  explicit Untracked(bool guard) : guard_(guard) {}

  ChannelState load(const Value&) const override { return {}; }
  bool store(const ChannelState&, Value&) const override { return false; }
  bool update(ChannelState& state, std::span<const Value> writes,
              std::string_view key) const override {
    if (writes.empty()) return false;
    check_guard(guard_, writes, key);
    state = {writes.back(), true, false};
    return true;
  }
  bool is_untracked() const override { return true; }

 private:
  bool guard_;
};

}  // namespace

// A graph has one for each node: they all look at the same memory.
ChannelPtr ephemeral(bool guard) {
  static const auto guarded = std::make_shared<const Ephemeral>(true);
  static const auto unguarded = std::make_shared<const Ephemeral>(false);
  return guard ? guarded : unguarded;
}
// Keeping any one of a step's values for that step is what an unguarded ephemeral does.
ChannelPtr any_value() { return ephemeral(false); }
ChannelPtr untracked(bool guard) { return std::make_shared<const Untracked>(guard); }

}  // namespace clew

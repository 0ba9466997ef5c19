#include <algorithm>

#include <clew/channels.hpp>
#include <clew/errors.hpp>
#include <clew/extension.hpp>

namespace clew {
namespace {

// Waits for all of several names. Its value is the list of those seen so far,
// in the order of `names`; it is stored as a set.
class NamedBarrier : public Channel {
 public:
  explicit NamedBarrier(std::vector<std::string> names) : names_(std::move(names)) {
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  }

  ChannelState initial() const override { return {list(), true, false}; }
  ChannelState load(const Value& stored) const override {
    ChannelState state = initial();
    for (const Value& name : set_members(stored)) see(state, name.as_string());
    return state;
  }
  bool store(const ChannelState& state, Value& stored) const override {
    stored = detail::make_set(state.value);
    return true;
  }

  bool update(ChannelState& state, std::span<const Value> writes,
              std::string_view key) const override {
    bool changed = false;
    for (const Value& write : writes) {
      if (!write.is_string() || !is_expected(write.as_string())) {
        throw InvalidUpdateError("channel '" + std::string(key) + "' does not wait for this value");
      }
      changed = see(state, write.as_string()) || changed;
    }
    return changed;
  }
  bool consume(ChannelState& state) const override {
    if (!is_available(state)) return false;
    state = initial();
    return true;
  }
  bool is_available(const ChannelState& state) const override {
    return state.value.size() == names_.size();
  }
  Value get(const ChannelState&) const override { return {}; }

 protected:
  static Value set_members(const Value& stored) {
    return stored.is_extension() ? stored.as_extension().payload : stored;
  }

 private:
  bool is_expected(std::string_view name) const {
    return std::binary_search(names_.begin(), names_.end(), name);
  }
  bool see(ChannelState& state, std::string_view name) const {
    if (!is_expected(name)) return false;
    std::size_t place = 0;
    for (const Value& seen : state.value) {
      if (seen.as_string() == name) return false;
      if (seen.as_string() < name) ++place;
    }
    state.value = state.value.slice(0, place).append(name).concat(
        state.value.slice(place, state.value.size()));
    return true;
  }

  std::vector<std::string> names_;
};

class NamedBarrierAfterFinish final : public NamedBarrier {
 public:
  using NamedBarrier::NamedBarrier;

  ChannelState load(const Value& stored) const override {
    ChannelState state = NamedBarrier::load(set_members(stored[0]));
    state.finished = stored[1] == Value(true);
    return state;
  }
  bool store(const ChannelState& state, Value& stored) const override {
    NamedBarrier::store(state, stored);
    stored = list({stored, state.finished});
    return true;
  }
  bool finish(ChannelState& state) const override {
    if (state.finished || !NamedBarrier::is_available(state)) return false;
    state.finished = true;
    return true;
  }
  bool is_available(const ChannelState& state) const override {
    return state.finished && NamedBarrier::is_available(state);
  }
  bool is_deferred() const override { return true; }
};

}  // namespace

ChannelPtr named_barrier(std::vector<std::string> names) {
  return std::make_shared<const NamedBarrier>(std::move(names));
}

ChannelPtr named_barrier_after_finish(std::vector<std::string> names) {
  return std::make_shared<const NamedBarrierAfterFinish>(std::move(names));
}

}  // namespace clew

#include <clew/channels.hpp>

namespace clew {
namespace {

class Topic final : public Channel {
 public:
  explicit Topic(bool accumulate) : accumulate_(accumulate) {}

  ChannelState initial() const override { return {list(), false, false}; }
  ChannelState load(const Value& stored) const override { return {stored, !stored.empty(), false}; }
  // An empty topic is stored too: readers tell "emptied" from "never written".
  bool store(const ChannelState& state, Value& stored) const override {
    stored = state.value;
    return true;
  }

  bool update(ChannelState& state, std::span<const Value> writes, std::string_view) const override {
    bool changed = false;
    if (!accumulate_) {
      changed = state.present;
      state.value = list();
    }
    for (const Value& write : writes) {
      if (write.is_list()) {
        changed = changed || !write.empty();
        state.value = state.value.concat(write);
      } else {
        changed = true;
        state.value = std::move(state.value).append(write);
      }
    }
    state.present = !state.value.empty();
    return changed;
  }
  bool is_transient() const override { return !accumulate_; }

 private:
  bool accumulate_;
};

}  // namespace

ChannelPtr topic(bool accumulate) { return std::make_shared<const Topic>(accumulate); }

}  // namespace clew

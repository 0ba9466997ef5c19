#include "channels/managed.hpp"

namespace clew {
namespace {

class RemainingSteps final : public ManagedValue {
 public:
  Value compute(std::int64_t step, std::int64_t stop) const override { return stop - step; }
};

class IsLastStep final : public ManagedValue {
 public:
  Value compute(std::int64_t step, std::int64_t stop) const override { return step == stop - 1; }
};

}  // namespace

ChannelPtr remaining_steps() {
  static const auto channel = std::make_shared<const RemainingSteps>();
  return channel;
}

ChannelPtr is_last_step() {
  static const auto channel = std::make_shared<const IsLastStep>();
  return channel;
}

}  // namespace clew

// Values the engine computes for a task instead of storing them.
#pragma once

#include <clew/channels.hpp>

namespace clew {

class ManagedValue : public Channel {
 public:
  // `stop` is the step at which the recursion limit ends the run.
  virtual Value compute(std::int64_t step, std::int64_t stop) const = 0;

  bool update(ChannelState&, std::span<const Value>, std::string_view) const override {
    return false;
  }
};

}  // namespace clew

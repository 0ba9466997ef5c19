#include "pregel/watch.hpp"

#include <iterator>
#include <utility>

namespace clew::pregel {
namespace {

constexpr std::chrono::milliseconds kPeriod(1);
// The first time it takes a little longer, as most of what is added alone is over by then, and
// nothing is left to look at: each time that a timer goes off wakes two threads.
constexpr std::chrono::microseconds kFirst(1500);

}  // namespace

void Watch::add(Executor& executor, Look look) {
  {
    const std::lock_guard lock(mutex_);
    if (has_timer_) return added_.push_back(std::move(look));
    looks_.push_back(std::move(look));
    has_timer_ = true;
  }
  set_timer(executor, kFirst);
}

// A timer that cannot be set is not waited for: whoever comes next tries again.
void Watch::set_timer(Executor& executor, std::chrono::microseconds delay) {
  try {
    executor.post_after(delay,
                        [self = shared_from_this(), &executor] { self->look_at_all(executor); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    has_timer_ = false;
    throw;
  }
}

void Watch::look_at_all(Executor& executor) {
  std::erase_if(looks_, [](const Look& look) { return !look(); });
  {
    const std::lock_guard lock(mutex_);
    std::move(added_.begin(), added_.end(), std::back_inserter(looks_));
    added_.clear();
    has_timer_ = !looks_.empty();
    if (!has_timer_) return;
  }
  set_timer(executor, kPeriod);
}

}  // namespace clew::pregel

#include "pregel/watch.hpp"

#include <iterator>
#include <utility>

namespace clew::pregel {

void Watch::add(Executor& executor, Look look) {
  {
    const std::lock_guard lock(mutex_);
    added_.push_back(std::move(look));
    if (std::exchange(has_timer_, true)) return;
  }
  set_timer(executor);
}

// A timer that cannot be set is not waited for: whoever comes next tries again.
void Watch::set_timer(Executor& executor) {
  try {
    executor.post_after(std::chrono::milliseconds(1),
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
  set_timer(executor);
}

}  // namespace clew::pregel

#include "pregel/deadlines.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace clew::pregel {

Deadlines::Deadline::Deadline(std::shared_ptr<Deadlines> all, Executor& executor,
                              Clock::time_point time, std::shared_ptr<std::stop_source> stop)
    : all_(std::move(all)), time_(time), stop_(std::move(stop)) {
  {
    const std::lock_guard lock(all_->mutex_);
    all_->stops_.emplace(time_, stop_);
    std::set<Clock::time_point>& timers = all_->timers_;
    if (!timers.empty() && *timers.begin() <= time_) return;
    timers.insert(time_);
  }
  try {
    all_->set_timer(executor, time_);
  } catch (...) {
    forget();
    throw;
  }
}

Deadlines::Deadline::~Deadline() { forget(); }

void Deadlines::Deadline::forget() {
  const std::lock_guard lock(all_->mutex_);
  const auto [begin, end] = all_->stops_.equal_range(time_);
  const auto own = std::find_if(begin, end, [&](const auto& at) { return at.second == stop_; });
  if (own != end) all_->stops_.erase(own);
}

// A timer that cannot be set is not waited for: the next deadline tries again.
void Deadlines::set_timer(Executor& executor, Clock::time_point time) {
  try {
    executor.post_after(time - Clock::now(), [weak = weak_from_this(), &executor, time] {
      if (const std::shared_ptr<Deadlines> self = weak.lock()) self->go_off(executor, time);
    });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    timers_.erase(time);
    throw;
  }
}

void Deadlines::go_off(Executor& executor, Clock::time_point time) {
  std::vector<std::shared_ptr<std::stop_source>> due;
  std::optional<Clock::time_point> next;
  {
    const std::lock_guard lock(mutex_);
    timers_.erase(time);
    while (!stops_.empty() && stops_.begin()->first <= time) {
      due.push_back(std::move(stops_.begin()->second));
      stops_.erase(stops_.begin());
    }
    const bool needs_timer =
        !stops_.empty() && (timers_.empty() || stops_.begin()->first < *timers_.begin());
    if (needs_timer) next = *timers_.insert(stops_.begin()->first).first;
  }
  // Without the lock: whoever hears of it may end a task, and so a deadline.
  for (const auto& stop : due) stop->request_stop();
  if (next) set_timer(executor, *next);
}

}  // namespace clew::pregel

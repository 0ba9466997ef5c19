#include "server/background_runs.hpp"

#include <algorithm>
#include <chrono>

#include <clew/task.hpp>

#include "server/runs.hpp"

namespace clew::server {
namespace {

constexpr std::chrono::seconds kTimeToAsk{60};
constexpr std::size_t kMostRuns = 256;

}  // namespace

void BackgroundRuns::add(BackgroundRun run) {
  run.end->then([self = weak_from_this(), run_id = run.run_id](const Value&) {
    default_executor().post_after(kTimeToAsk, [self, run_id] {
      if (const auto runs = self.lock()) runs->forget(run_id);
    });
  });
  const std::lock_guard lock(mutex_);
  runs_.push_back(std::move(run));
  if (runs_.size() > kMostRuns) runs_.pop_front();
}

std::optional<BackgroundRuns::Found> BackgroundRuns::find(const Caller& caller,
                                                          const std::string& thread_id,
                                                          const std::string& run_id) const {
  const std::lock_guard lock(mutex_);
  const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const BackgroundRun& each) {
    return each.run_id == run_id && each.thread_id == thread_id;
  });
  if (run == runs_.end()) return {};
  if (!caller.owner.is_null() && caller.owner != run->owner) return {};
  return Found{run->thread_id, run->run_id, run->is_resumable, run->end};
}

// Readers go under the lock: after clear() none is left that could outlive the log.
void BackgroundRuns::forget(const std::string& run_id) {
  const std::lock_guard lock(mutex_);
  runs_.remove_if([&](const BackgroundRun& run) { return run.run_id == run_id; });
}

void BackgroundRuns::clear() {
  const std::lock_guard lock(mutex_);
  runs_.clear();
}

}  // namespace clew::server

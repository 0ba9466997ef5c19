// An executor for tests of what waits for a time.
#pragma once

#include <chrono>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include <clew/task.hpp>

namespace clew::pregel {

// Timers go off when the test says so.
class ManualExecutor final : public Executor {
 public:
  void post(std::function<void()> function) override { function(); }
  void post_after(std::chrono::nanoseconds, std::function<void()> function) override {
    if (refuses) throw std::bad_alloc();
    timers.push_back(std::move(function));
  }
  std::size_t parallelism() const override { return 1; }

  void go_off() {
    for (const auto& function : std::exchange(timers, {})) function();
  }

  std::vector<std::function<void()>> timers;
  bool refuses = false;
};

}  // namespace clew::pregel

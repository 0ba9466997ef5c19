// A thread that does something now and then.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace clew::internal {

// Calls `function` at once and after every `interval`, until it is destroyed.
// What `function` throws is dropped: the next call may fare better.
class RepeatingThread {
 public:
  RepeatingThread(std::chrono::milliseconds interval, std::function<void()> function);

 private:
  std::jthread thread_;
};

}  // namespace clew::internal

// Looks again and again at what may need help, a millisecond apart, while there is
// anything to look at. However many runs there are and however short, they share a timer.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <clew/task.hpp>

namespace clew::pregel {

class Watch : public std::enable_shared_from_this<Watch> {
 public:
  // Returns whether it is to be called again.
  using Look = std::function<bool()>;

  // Calls `look` for the first time a millisecond or two from now.
  void add(Executor& executor, Look look);

 private:
  void set_timer(Executor& executor, std::chrono::microseconds delay);
  void look_at_all(Executor& executor);

  std::mutex mutex_;
  std::vector<Look> added_;  // while there was a timer, which may go off too soon for them
  std::vector<Look> looks_;  // for when it goes off; only used then, or if there is none
  bool has_timer_ = false;
};

}  // namespace clew::pregel

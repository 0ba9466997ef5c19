// Requests stops when their time has come. What ends in time is forgotten at once: an hour
// that most tasks do not need must not keep something of each of them for an hour.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>

#include <clew/task.hpp>

namespace clew::pregel {

class Deadlines : public std::enable_shared_from_this<Deadlines> {
 public:
  using Clock = std::chrono::steady_clock;

  // Once `time` has come, a thread of the executor requests the stop, unless the deadline
  // has gone before.
  class Deadline {
   public:
    Deadline(std::shared_ptr<Deadlines> all, Executor& executor, Clock::time_point time,
             std::shared_ptr<std::stop_source> stop);
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;
    ~Deadline();

   private:
    void forget();

    const std::shared_ptr<Deadlines> all_;
    const Clock::time_point time_;
    const std::shared_ptr<std::stop_source> stop_;
  };

 private:
  using Stops = std::multimap<Clock::time_point, std::shared_ptr<std::stop_source>>;

  void set_timer(Executor& executor, Clock::time_point time);
  void go_off(Executor& executor, Clock::time_point time);

  std::mutex mutex_;
  Stops stops_;
  // Those of the executor that are yet to go off; the first is not later than any stop.
  std::set<Clock::time_point> timers_;
};

}  // namespace clew::pregel

#include "value/repeating_thread.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>

namespace clew::internal {

namespace {

void repeat(const std::stop_token& stop, std::chrono::milliseconds interval,
            const std::function<void()>& function) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any waited;
  while (!stop.stop_requested()) {
    try {
      function();
    } catch (const std::exception&) {
      // A file that is locked or a server that is away.
    }
    waited.wait_for(lock, stop, interval, [] { return false; });
  }
}

}  // namespace

RepeatingThread::RepeatingThread(std::chrono::milliseconds interval, std::function<void()> function)
    : thread_([interval, function = std::move(function)](const std::stop_token& stop) {
        repeat(stop, interval, function);
      }) {}

}  // namespace clew::internal

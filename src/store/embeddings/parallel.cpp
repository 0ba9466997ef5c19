#include "store/embeddings/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace clew::embeddings {

void run_in_parallel(std::size_t count, std::size_t concurrency,
                     const std::function<void(std::size_t, const std::stop_token&)>& job) {
  std::stop_source stop;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto work = [&] {
    while (!stop.stop_requested()) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count) return;
      try {
        job(index, stop.get_token());
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_error) first_error = std::current_exception();
        stop.request_stop();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(count, concurrency); ++i) helpers.emplace_back(work);
    work();
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace clew::embeddings

#include "store/embeddings/backoff.hpp"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <mutex>

namespace clew::embeddings {

std::chrono::milliseconds backoff(std::size_t retry, std::chrono::milliseconds longest,
                                  double random) {
  constexpr double kFirst = 500;
  constexpr std::size_t kMostDoublings = 40;  // weeks; keeps the power finite
  const double full =
      std::min(std::ldexp(kFirst, static_cast<int>(std::min(retry, kMostDoublings))),
               static_cast<double>(longest.count()));
  return std::chrono::milliseconds(static_cast<std::int64_t>(full * (1 - random / 2)));
}

void wait_for(std::chrono::milliseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, stop, duration, [] { return false; });
}

}  // namespace clew::embeddings

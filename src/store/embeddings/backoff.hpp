// How long to wait before a request is repeated.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>

namespace clew::embeddings {

// The wait before retry number `retry`, which counts from 0: half a second, then
// twice as long each time, at most `longest`. `random`, in [0, 1), takes up to
// half of it away, so that clients that failed together do not return together.
std::chrono::milliseconds backoff(std::size_t retry, std::chrono::milliseconds longest,
                                  double random);

// Waits that long, or until `stop` is requested.
void wait_for(std::chrono::milliseconds duration, const std::stop_token& stop);

}  // namespace clew::embeddings

// Jobs that wait for others most of the time, several at once.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

namespace clew::embeddings {

// Runs job(0) to job(count - 1) on at most `concurrency` threads, this one among
// them. The first error asks the jobs under way to stop, and is thrown when they have.
void run_in_parallel(std::size_t count, std::size_t concurrency,
                     const std::function<void(std::size_t, const std::stop_token&)>& job);

}  // namespace clew::embeddings

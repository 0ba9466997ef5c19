// Waiting without holding a thread.
#pragma once

#include <chrono>
#include <stop_token>

#include <clew/task.hpp>

namespace clew::pregel {

// Ends after `duration`, or soon after a stop is requested, on a thread of the executor.
Task<void> pause(Executor& executor, std::chrono::nanoseconds duration, std::stop_token stop);

}  // namespace clew::pregel

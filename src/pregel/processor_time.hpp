// What the threads of this process get of the processors.
#pragma once

#include <chrono>

namespace clew::pregel {

// How long they have computed so far, on all processors.
std::chrono::nanoseconds time_computed();

// How long those that are alive could have computed, but others had the processors. Looks at
// each thread; zero where the system does not tell.
std::chrono::nanoseconds time_kept_waiting();

}  // namespace clew::pregel

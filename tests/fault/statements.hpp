// Counts the places where a process that stores threads may die: before each
// SQL statement that writes, and after each commit, whichever connection does it.
#pragma once

#include <cstdint>

namespace clew::fault {

// To be called before this process opens its first connection.
void watch_statements();

// At the n-th place from now on the process is killed; never if it is 0.
void die_at_place(std::uint64_t n);

}  // namespace clew::fault

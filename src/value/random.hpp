// Random numbers for ids: quick, different in every thread and process, and
// not fit for secrets.
#pragma once

#include <cstdint>

namespace clew::internal {

// 64 fresh bits. The calling thread's own generator makes them; it is seeded by
// the kernel on the thread's first call and again in the child after a fork.
std::uint64_t random_bits();

// Uniform in [0, 1), a multiple of 2^-53.
double random_unit();

}  // namespace clew::internal

// CLEW_CHECK(condition) aborts with the condition's text and place. It is for
// our own mistakes: user input and stored bytes never reach a check, they throw.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace clew::internal {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace clew::internal

#define CLEW_CHECK(condition) \
  ((condition) ? void(0) : ::clew::internal::check_failed(#condition, __FILE__, __LINE__))

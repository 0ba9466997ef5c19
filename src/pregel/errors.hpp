// How failures are stored, as the text that Python's repr would give; and which of two
// reaches the caller.
#pragma once

#include <exception>
#include <string>

#include <clew/value.hpp>

namespace clew::pregel {

// "ValueError('boom')": a class name and the message as a Python literal.
std::string python_repr(std::exception_ptr error);

// Whether a policy without a condition of its own retries this error: not those
// that say the program is wrong.
bool is_retryable(const std::exception& error);

// What the caller gets if storing failed in a run in which something else went wrong, too: an
// error of the kind that storing failed with, which names both and holds `failure` as its
// nested exception; `who` has failed. A question, a Command for the graph around and a
// cancellation are no failures: then it is `storing` alone.
std::exception_ptr with_failure(const std::exception_ptr& storing,
                                const std::exception_ptr& failure, const std::string& who);

}  // namespace clew::pregel

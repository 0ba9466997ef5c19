// How failures are stored: as the text that Python's repr would give.
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

}  // namespace clew::pregel

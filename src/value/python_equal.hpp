// Equality as Python's == has it, for filters over stored values.
#pragma once

#include <clew/value.hpp>

namespace clew::internal {

// Like a == b, except that numbers and booleans compare by amount (1 is 1.0 is
// true) and NaN equals nothing, inside lists and objects as well.
bool python_equal(const Value& a, const Value& b);

}  // namespace clew::internal

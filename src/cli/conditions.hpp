#pragma once

#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew::cli {

// {"user": "ada", "run": 3} of "user=ada" and "run=3": a value is JSON where it can be.
// Null if there are none. Throws Error for what is no condition.
Value parse_conditions(const std::vector<std::string>& conditions);

}  // namespace clew::cli

#pragma once

#include <optional>
#include <string>

#include <clew/value.hpp>

namespace clew::internal {

// A scalar as Python's str() writes it; nothing for null and all other values.
std::optional<std::string> python_scalar_text(const Value& value);

}  // namespace clew::internal

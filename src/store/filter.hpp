// The filter of a search, evaluated in memory.
#pragma once

#include <clew/value.hpp>

namespace clew::store {

// Whether `value`, an object, has what `filter` asks for, as SearchOptions
// says. Equal is as in Python: 1 is 1.0 and true, and null is also what is not
// there. Throws ValueError for an unknown operator, and for an order between
// things that are no numbers.
bool matches(const Value& value, const Value& filter);

}  // namespace clew::store

// The filter of a search, applied to values.
#pragma once

#include <clew/value.hpp>

namespace clew::store {

// What the conditions mean depends on the store, as in LangGraph. Equal is the
// same in all: 1 is 1.0 and true, and null is also what is not there.
enum class FilterMeaning {
  // An order between things that are no numbers is a ValueError. Keys are those
  // of the value.
  memory,

  // $gt, $gte, $lt and $lte compare a number with numbers, and with text that is
  // one, and text with text; nothing else matches them, and what is not there
  // does not match $ne. A key that is not there may be a path: "meta.title".
  sql,
};

// Whether `value`, an object, has what `filter` asks for, as SearchOptions
// says. Throws ValueError for an unknown operator.
bool matches(const Value& value, const Value& filter,
             FilterMeaning meaning = FilterMeaning::memory);

}  // namespace clew::store

// Store operations as scenarios write them: {"ns", "key", "value"} and so on.
#pragma once

#include <clew/store.hpp>
#include <clew/value.hpp>

namespace clew::conformance {

void put_item(Store& store, const Value& arguments);
void delete_item(Store& store, const Value& arguments);
// {"ns", "key", "value"}, or null.
Value get_item(Store& store, const Value& arguments);
// A list of {"ns", "key", "value", "score"?}.
Value search_items(Store& store, const Value& arguments);
Value list_namespaces(Store& store, const Value& arguments);
// All items, sorted.
Value all_items(Store& store);

}  // namespace clew::conformance

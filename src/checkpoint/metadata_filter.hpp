#pragma once

#include <clew/value.hpp>

namespace clew::internal {

// Whether the metadata has all entries of `filter`, as ListOptions says.
bool matches_metadata(const Value& metadata, const Value& filter);

}  // namespace clew::internal

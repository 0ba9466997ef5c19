#include "checkpoint/metadata_filter.hpp"

#include "value/python_equal.hpp"

namespace clew::internal {

bool matches_metadata(const Value& metadata, const Value& filter) {
  if (!filter.is_object()) return true;
  for (auto [key, value] : filter.items()) {
    if (!python_equal(metadata[key], value)) return false;
  }
  return true;
}

}  // namespace clew::internal

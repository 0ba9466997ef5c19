#include "server/records.hpp"

#include <algorithm>

namespace clew::server {
namespace {

bool is_number(const Value& value) { return value.is_int() || value.is_double(); }

bool contains_element(const Value& list, const Value& part) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Value& element) { return contains(element, part); });
}

}  // namespace

bool contains(const Value& value, const Value& part) {
  if (part.is_object()) {
    if (!value.is_object()) return false;
    for (auto [key, wanted] : part.items()) {
      const Value* found = value.find(key);
      if (!found || (wanted.is_null() ? !found->is_null() : !contains(*found, wanted))) {
        return false;
      }
    }
    return true;
  }
  if (part.is_list()) {
    if (!value.is_list()) return false;
    return std::all_of(part.begin(), part.end(),
                       [&](const Value& wanted) { return contains_element(value, wanted); });
  }
  if (part.is_null()) return true;
  if (is_number(part) && is_number(value)) return part.as_double() == value.as_double();
  return value == part;
}

}  // namespace clew::server

#include "value/python_equal.hpp"

#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace clew::internal {

namespace {

bool is_number(const Value& value) {
  return value.is_bool() || value.is_int() || value.is_double() ||
         value.kind() == Kind::big_integer;
}

std::string integer_text(const Value& integer) {
  return integer.is_bool() ? (integer.as_bool() ? "1" : "0") : integer.integer_text();
}

// Exact, also where the integer has more digits than a double can hold.
bool equals_integer(double number, const Value& integer) {
  return std::isfinite(number) && std::trunc(number) == number &&
         fmt::format("{:.0f}", number == 0 ? 0.0 : number) == integer_text(integer);
}

bool equal_numbers(const Value& a, const Value& b) {
  if (a.kind() == b.kind()) return a.is_double() ? a.as_double() == b.as_double() : a == b;
  if (a.is_double()) return equals_integer(a.as_double(), b);
  if (b.is_double()) return equals_integer(b.as_double(), a);
  return integer_text(a) == integer_text(b);
}

// Compares pairs of values, and keeps those inside them for later: values may
// be nested deeper than the stack.
class Comparison {
 public:
  bool run(const Value& a, const Value& b) {
    pending_.emplace_back(&a, &b);
    while (!pending_.empty()) {
      const auto [left, right] = pending_.back();
      pending_.pop_back();
      if (!compare(*left, *right)) return false;
    }
    return true;
  }

 private:
  bool compare(const Value& a, const Value& b) {
    if (is_number(a) && is_number(b)) return equal_numbers(a, b);
    if (a.kind() != b.kind()) return false;
    if (a.is_list()) return compare_lists(a, b);
    if (a.is_object()) return compare_objects(a, b);
    return a == b;
  }

  bool compare_lists(const Value& a, const Value& b) {
    if (a.size() != b.size()) return false;
    auto right = b.begin();
    for (const Value& left : a) pending_.emplace_back(&left, &*right++);
    return true;
  }

  bool compare_objects(const Value& a, const Value& b) {
    if (a.size() != b.size()) return false;
    for (auto [key, left] : a.items()) {
      const Value* right = b.find(key);
      if (!right) return false;
      pending_.emplace_back(&left, right);
    }
    return true;
  }

  std::vector<std::pair<const Value*, const Value*>> pending_;
};

}  // namespace

bool python_equal(const Value& a, const Value& b) { return Comparison().run(a, b); }

}  // namespace clew::internal

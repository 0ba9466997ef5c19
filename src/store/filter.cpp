#include "store/filter.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include "value/python_equal.hpp"

namespace clew::store {

namespace {

using internal::python_equal;

[[noreturn]] void throw_not_a_number(const Value& value) {
  const std::string found =
      value.is_string() ? "'" + std::string(value.as_string()) + "'" : value.type_name();
  throw ValueError("$gt, $gte, $lt and $lte compare numbers, found " + found +
                   "; filter out such items with another condition, or use $eq or $ne");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Text that is a number counts as that number.
double parse_number(const Value& value) {
  std::string_view text = trimmed(value.as_string());
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    throw_not_a_number(value);
  }
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(text).c_str(), nullptr);
  return number;
}

double to_number(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean: return value.as_bool() ? 1 : 0;
    case Kind::integer:
    case Kind::floating: return value.as_double();
    case Kind::big_integer: return std::strtod(value.integer_text().c_str(), nullptr);
    case Kind::string: return parse_number(value);
    default: throw_not_a_number(value);
  }
}

bool apply(std::string_view name, const Value& value, const Value& operand) {
  if (name == "$eq") return python_equal(value, operand);
  if (name == "$ne") return !python_equal(value, operand);
  if (name == "$gt") return to_number(value) > to_number(operand);
  if (name == "$gte") return to_number(value) >= to_number(operand);
  if (name == "$lt") return to_number(value) < to_number(operand);
  if (name == "$lte") return to_number(value) <= to_number(operand);
  throw ValueError("there is no operator '" + std::string(name) +
                   "' for filters; use $eq, $ne, $gt, $gte, $lt or $lte");
}

bool has_operators(const Value& condition) {
  for (auto [key, operand] : condition.items()) {
    if (key.starts_with('$')) return true;
  }
  return false;
}

bool holds(const Value& value, const Value& condition);

bool all_apply(const Value& value, const Value& operators) {
  for (auto [name, operand] : operators.items()) {
    if (!apply(name, value, operand)) return false;
  }
  return true;
}

bool elements_hold(const Value& value, const Value& conditions) {
  if (!value.is_list() || value.size() != conditions.size()) return false;
  auto element = value.begin();
  for (const Value& condition : conditions) {
    if (!holds(*element++, condition)) return false;
  }
  return true;
}

bool holds(const Value& value, const Value& condition) {
  if (condition.is_list()) return elements_hold(value, condition);
  if (!condition.is_object()) return python_equal(value, condition);
  if (has_operators(condition)) return all_apply(value, condition);
  return value.is_object() && matches(value, condition);
}

}  // namespace

bool matches(const Value& value, const Value& filter) {
  if (!filter.is_object()) return true;
  for (auto [key, condition] : filter.items()) {
    if (!holds(value[key], condition)) return false;
  }
  return true;
}

}  // namespace clew::store

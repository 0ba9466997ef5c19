#include "store/filter.hpp"

#include <charconv>
#include <cmath>
#include <compare>
#include <optional>
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

std::optional<double> parse_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return {};
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(text).c_str(), nullptr);
  return number;
}

// Text that is a number counts as that number.
std::optional<double> to_number(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean: return value.as_bool() ? 1 : 0;
    case Kind::integer:
    case Kind::floating: return value.as_double();
    case Kind::big_integer: return std::strtod(value.integer_text().c_str(), nullptr);
    case Kind::string: return parse_number(value.as_string());
    default: return std::nullopt;
  }
}

double need_number(const Value& value) {
  const std::optional<double> number = to_number(value);
  if (!number) throw_not_a_number(value);
  return *number;
}

// Unordered: one of them is no number, or one is text and the other is not.
std::partial_ordering compare(const Value& value, const Value& operand, FilterMeaning meaning) {
  if (meaning == FilterMeaning::memory) return need_number(value) <=> need_number(operand);
  if (operand.is_string()) {
    if (!value.is_string()) return std::partial_ordering::unordered;
    return value.as_string() <=> operand.as_string();
  }
  const std::optional<double> left = to_number(value);
  const std::optional<double> right = to_number(operand);
  return left && right ? *left <=> *right : std::partial_ordering::unordered;
}

bool is_unequal(const Value& value, const Value& operand, FilterMeaning meaning) {
  if (meaning == FilterMeaning::sql && value.is_null()) return false;
  return !python_equal(value, operand);
}

bool apply(std::string_view name, const Value& value, const Value& operand, FilterMeaning meaning) {
  if (name == "$eq") return python_equal(value, operand);
  if (name == "$ne") return is_unequal(value, operand, meaning);
  if (name == "$gt") return std::is_gt(compare(value, operand, meaning));
  if (name == "$gte") return std::is_gteq(compare(value, operand, meaning));
  if (name == "$lt") return std::is_lt(compare(value, operand, meaning));
  if (name == "$lte") return std::is_lteq(compare(value, operand, meaning));
  throw ValueError("there is no operator '" + std::string(name) +
                   "' for filters; use $eq, $ne, $gt, $gte, $lt or $lte");
}

bool has_operators(const Value& condition) {
  for (auto [key, operand] : condition.items()) {
    if (key.starts_with('$')) return true;
  }
  return false;
}

bool holds(const Value& value, const Value& condition, FilterMeaning meaning);

bool all_apply(const Value& value, const Value& operators, FilterMeaning meaning) {
  for (auto [name, operand] : operators.items()) {
    if (!apply(name, value, operand, meaning)) return false;
  }
  return true;
}

bool elements_hold(const Value& value, const Value& conditions, FilterMeaning meaning) {
  if (!value.is_list() || value.size() != conditions.size()) return false;
  auto element = value.begin();
  for (const Value& condition : conditions) {
    if (!holds(*element++, condition, meaning)) return false;
  }
  return true;
}

bool holds(const Value& value, const Value& condition, FilterMeaning meaning) {
  if (condition.is_list()) return elements_hold(value, condition, meaning);
  if (!condition.is_object()) return python_equal(value, condition);
  if (has_operators(condition)) return all_apply(value, condition, meaning);
  return value.is_object() && matches(value, condition, meaning);
}

// What the path leads to, label by label; null if it leads nowhere.
const Value& at_path(const Value& value, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Value& next = value[path.substr(0, dot)];
  return dot == std::string_view::npos ? next : at_path(next, path.substr(dot + 1));
}

const Value& entry(const Value& value, std::string_view key, FilterMeaning meaning) {
  if (meaning == FilterMeaning::memory || value.contains(key)) return value[key];
  return at_path(value, key);
}

}  // namespace

bool matches(const Value& value, const Value& filter, FilterMeaning meaning) {
  if (!filter.is_object()) return true;
  for (auto [key, condition] : filter.items()) {
    if (!holds(entry(value, key, meaning), condition, meaning)) return false;
  }
  return true;
}

}  // namespace clew::store

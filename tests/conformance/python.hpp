// What scenarios mean by truth, equality, order and sums: that of Python, where
// 1 equals 1.0, true counts as 1, and mixing types is an error of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::conformance {

bool is_true(const Value& value);
bool python_equal(const Value& a, const Value& b);

// All below throw ReducerTypeError where Python raises a TypeError.
bool python_less(const Value& a, const Value& b);
Value python_add(const Value& a, const Value& b);
Value python_subtract(const Value& a, const Value& b);
Value python_multiply(const Value& a, const Value& b);
// Elements of a list, entries of an object, characters of a string.
std::size_t python_length(const Value& value);
// What iterating gives, as a list: elements, keys, or characters.
Value python_elements(const Value& value);
// The entries of `update` replace or follow those of `current`.
Value python_merge(const Value& current, const Value& update);
// The elements of `update` that `current` does not have follow it.
Value python_union(const Value& current, const Value& update);

// A string as it is, anything else as compact JSON with sorted keys.
std::string python_text(const Value& value);
// The same with all text unescaped: the canonical JSON that sorting goes by.
std::string canonical_text(const Value& value);

// A stored error such as ValueError('boom'): the class and what is in parentheses.
struct PythonError {
  std::string class_name;
  std::string argument;                // as it is written
  std::optional<std::string> message;  // the text, if the argument is one string
};
std::optional<PythonError> parse_python_error(std::string_view text);

// "boom" of 'boom', with escapes resolved. Nothing if it is no string literal.
std::optional<std::string> parse_python_string(std::string_view literal);

}  // namespace clew::conformance

#include "python.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/reducers.hpp>

namespace clew::conformance {
namespace {

[[noreturn]] void throw_operands(std::string_view operation, const Value& a, const Value& b) {
  throw ReducerTypeError("unsupported operand types for " + std::string(operation) + ": " +
                         a.type_name() + " and " + b.type_name());
}

bool is_number(const Value& value) {
  return value.is_bool() || value.is_int() || value.is_double() ||
         value.kind() == Kind::big_integer;
}

// Python's booleans are the integers 0 and 1.
Value as_number(const Value& value) {
  return value.is_bool() ? Value(value.as_bool() ? 1 : 0) : value;
}

bool number_less(const Value& a, const Value& b) {
  // max() keeps the first of equals, so it tells whether the second is greater.
  const Value left = as_number(a);
  return !same(reducers::max(left, as_number(b)), left);
}

bool number_equal(const Value& a, const Value& b) {
  return as_number(a) == as_number(b) ||
         (a.kind() != b.kind() && !number_less(a, b) && !number_less(b, a));
}

bool list_equal(const Value& a, const Value& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), python_equal);
}

bool object_equal(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items()) {
    const Value* other = b.find(key);
    if (!other || !python_equal(value, *other)) return false;
  }
  return true;
}

using IntegerOperation = bool (*)(std::int64_t, std::int64_t, std::int64_t&);
using FloatOperation = double (*)(double, double);

Value calculate(std::string_view operation, const Value& a, const Value& b,
                IntegerOperation on_integers, FloatOperation on_floats) {
  if (!is_number(a) || !is_number(b)) throw_operands(operation, a, b);
  const Value left = as_number(a);
  const Value right = as_number(b);
  if (left.is_double() || right.is_double()) return on_floats(left.as_double(), right.as_double());
  std::int64_t result = 0;
  if (!left.is_int() || !right.is_int() || on_integers(left.as_int(), right.as_int(), result)) {
    throw Error("the scenario calculates with integers of more than 64 bits");
  }
  return result;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

Value characters(std::string_view text) {
  ListBuilder result;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && is_continuation(text[end])) ++end;
    result.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return std::move(result).build();
}

void append_utf8(std::string& text, std::uint32_t code_point) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0U | (code_point >> 6));
    tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0U | (code_point >> 12));
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xF0U | (code_point >> 18));
    tail(12), tail(6), tail(0);
  }
}

// Resolves the escape that follows a backslash; `rest` starts behind it and is
// moved past it.
bool read_escape(std::string_view& rest, std::string& text) {
  const char kind = rest.front();
  rest.remove_prefix(1);
  const std::string_view simple = "\\'\"nrtabfv0";
  const std::string_view meaning{"\\'\"\n\r\t\a\b\f\v\0", 11};
  if (const std::size_t at = simple.find(kind); at != std::string_view::npos) {
    text += meaning[at];
    return true;
  }
  const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits == 0 || rest.size() < digits) return false;
  append_utf8(text, static_cast<std::uint32_t>(
                        std::stoul(std::string(rest.substr(0, digits)), nullptr, 16)));
  rest.remove_prefix(digits);
  return true;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

}  // namespace

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::null: return false;
    case Kind::boolean: return value.as_bool();
    case Kind::integer: return value.as_int() != 0;
    case Kind::floating: return value.as_double() != 0;
    case Kind::string: return !value.as_string().empty();
    case Kind::list:
    case Kind::object:
    case Kind::map: return !value.empty();
    default: return true;
  }
}

bool python_equal(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return number_equal(a, b);
  if (a.is_list() && b.is_list()) return list_equal(a, b);
  if (a.is_object() && b.is_object()) return object_equal(a, b);
  return a == b;
}

bool python_less(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return number_less(a, b);
  if (a.is_string() && b.is_string()) return a.as_string() < b.as_string();
  if (!a.is_list() || !b.is_list()) throw_operands("<", a, b);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!python_equal(a[i], b[i])) return python_less(a[i], b[i]);
  }
  return a.size() < b.size();
}

Value python_add(const Value& a, const Value& b) {
  if (is_number(a) && is_number(b)) return reducers::add(as_number(a), as_number(b));
  const bool is_joinable = (a.is_string() && b.is_string()) || (a.is_list() && b.is_list());
  if (!is_joinable) throw_operands("+", a, b);
  return reducers::add(a, b);
}

Value python_subtract(const Value& a, const Value& b) {
  return calculate(
      "-", a, b,
      [](std::int64_t x, std::int64_t y, std::int64_t& result) {
        return __builtin_sub_overflow(x, y, &result);
      },
      [](double x, double y) { return x - y; });
}

Value python_multiply(const Value& a, const Value& b) {
  return calculate(
      "*", a, b,
      [](std::int64_t x, std::int64_t y, std::int64_t& result) {
        return __builtin_mul_overflow(x, y, &result);
      },
      [](double x, double y) { return x * y; });
}

std::size_t python_length(const Value& value) {
  if (value.is_string()) return characters(value.as_string()).size();
  if (!value.is_list() && !value.is_object()) {
    throw ReducerTypeError(value.type_name() + " has no length");
  }
  return value.size();
}

Value python_elements(const Value& value) {
  if (value.is_list()) return value;
  if (value.is_string()) return characters(value.as_string());
  if (!value.is_object()) throw ReducerTypeError(value.type_name() + " is not iterable");
  ListBuilder keys;
  for (const auto& [key, entry] : value.items()) keys.push_back(key);
  return std::move(keys).build();
}

Value python_merge(const Value& current, const Value& update) {
  if (!current.is_object() || !update.is_object()) throw_operands("merge", current, update);
  return current.merge(update);
}

Value python_union(const Value& current, const Value& update) {
  const Value candidates = python_elements(update);
  if (!current.is_list()) throw_operands("union", current, update);
  ListBuilder fresh;
  for (const Value& candidate : candidates) {
    const bool is_known = std::any_of(current.begin(), current.end(), [&](const Value& element) {
      return python_equal(element, candidate);
    });
    if (!is_known) fresh.push_back(candidate);
  }
  return current.concat(std::move(fresh).build());
}

std::string python_text(const Value& value) {
  if (value.is_string()) return std::string(value.as_string());
  return to_json(value, {.ascii_only = true, .sort_keys = true, .non_finite = NonFinite::literal});
}

std::string canonical_text(const Value& value) {
  return to_json(value, {.sort_keys = true, .non_finite = NonFinite::literal});
}

std::optional<PythonError> parse_python_error(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')') || !is_word(text.substr(0, open))) {
    return std::nullopt;
  }
  std::string_view argument = text.substr(open + 1, text.size() - open - 2);
  while (argument.ends_with(',')) argument.remove_suffix(1);
  return PythonError{std::string(text.substr(0, open)), std::string(argument),
                     parse_python_string(argument)};
}

std::optional<std::string> parse_python_string(std::string_view literal) {
  if (literal.size() < 2 || (literal.front() != '\'' && literal.front() != '"')) {
    return std::nullopt;
  }
  const char quote = literal.front();
  std::string text;
  std::string_view rest = literal.substr(1);
  while (!rest.empty()) {
    const char next = rest.front();
    rest.remove_prefix(1);
    if (next == quote) return rest.empty() ? std::optional(text) : std::nullopt;
    if (next != '\\') {
      text += next;
    } else if (rest.empty() || !read_escape(rest, text)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace clew::conformance

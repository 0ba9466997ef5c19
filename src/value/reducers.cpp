#include <clew/reducers.hpp>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <clew/extension.hpp>

namespace clew::reducers {

namespace {

bool is_integer(const Value& value) { return value.is_int() || value.kind() == Kind::big_integer; }

bool is_number(const Value& value) { return is_integer(value) || value.is_double(); }

[[noreturn]] void throw_current(std::string_view reducer, std::string_view expected,
                                const Value& current) {
  throw ValueError(std::string(reducer) + ": expected " + std::string(expected) +
                   " to be there, found " + current.type_name());
}

[[noreturn]] void throw_update(std::string_view reducer, std::string_view expected,
                               const Value& update, std::string_view advice = "") {
  throw ValueError(std::string(reducer) + ": expected " + std::string(expected) + ", found " +
                   update.type_name() + std::string(advice));
}

// A decimal integer as its sign and digits, most significant first.
struct Decimal {
  explicit Decimal(const Value& integer) : digits(integer.integer_text()) {
    negative = digits.front() == '-';
    if (negative) digits.erase(0, 1);
  }

  bool negative = false;
  std::string digits;
};

std::strong_ordering compare_digits(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::strong_ordering compare_integers(const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.as_int() <=> b.as_int();
  const Decimal left(a);
  const Decimal right(b);
  if (left.negative != right.negative) return right.negative <=> left.negative;
  return left.negative ? compare_digits(right.digits, left.digits)
                       : compare_digits(left.digits, right.digits);
}

// `larger` + `smaller`, or their difference; `larger` has no fewer digits and, to
// subtract, no smaller value.
std::string combine_digits(std::string larger, const std::string& smaller, bool subtract) {
  int carry = 0;
  for (std::size_t i = 0; i < larger.size(); ++i) {
    char& digit = larger[larger.size() - 1 - i];
    const int other = i < smaller.size() ? smaller[smaller.size() - 1 - i] - '0' : 0;
    const int sum = digit - '0' + (subtract ? carry - other : carry + other);
    carry = sum < 0 ? -1 : sum / 10;
    digit = static_cast<char>('0' + (sum + 10) % 10);
  }
  if (carry > 0) larger.insert(larger.begin(), '1');
  larger.erase(0, std::min(larger.find_first_not_of('0'), larger.size() - 1));
  return larger;
}

Value add_integers(const Value& a, const Value& b) {
  std::int64_t sum = 0;
  if (a.is_int() && b.is_int() && !__builtin_add_overflow(a.as_int(), b.as_int(), &sum)) return sum;
  Decimal larger(a);
  Decimal smaller(b);
  if (compare_digits(larger.digits, smaller.digits) < 0) std::swap(larger, smaller);
  const std::string digits =
      combine_digits(larger.digits, smaller.digits, larger.negative != smaller.negative);
  return Value::integer(larger.negative && digits != "0" ? "-" + digits : digits);
}

// Exact: neither number is rounded to the other's type.
std::partial_ordering compare_with_float(const Value& integer, double number) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(number)) return std::partial_ordering::unordered;
  if (!integer.is_int()) return integer.as_double() <=> number;
  if (number >= kTwoTo63) return std::partial_ordering::less;
  if (number < -kTwoTo63) return std::partial_ordering::greater;
  const double whole = std::trunc(number);
  const auto order = integer.as_int() <=> static_cast<std::int64_t>(whole);
  return order != 0 ? std::partial_ordering(order) : whole <=> number;
}

bool is_less(const Value& a, const Value& b) {
  if (a.is_string()) return a.as_string() < b.as_string();
  if (is_integer(a)) {
    return is_integer(b) ? compare_integers(a, b) < 0 : compare_with_float(a, b.as_double()) < 0;
  }
  return is_integer(b) ? compare_with_float(b, a.as_double()) > 0 : a.as_double() < b.as_double();
}

bool is_mapping(const Value& value) { return value.is_object() || value.kind() == Kind::map; }

Value merge_maps(const Value& current, const Value& update) {
  std::vector<std::pair<Value, Value>> entries = current.as_map();
  std::unordered_map<Value, std::size_t> positions;
  for (std::size_t i = 0; i < entries.size(); ++i) positions.emplace(entries[i].first, i);
  for (auto& [key, value] : update.as_map()) {
    const auto [position, is_new] = positions.emplace(key, entries.size());
    if (is_new) {
      entries.emplace_back(key, value);
    } else {
      entries[position->second].second = value;
    }
  }
  return detail::make_map(entries);
}

}  // namespace

Value append(const Value& current, const Value& update) {
  if (!update.is_list()) {
    throw_update("append", "a list of new elements", update, "; wrap it in a list");
  }
  if (current.is_null()) return update;
  if (!current.is_list()) throw_current("append", "a list", current);
  return current.concat(update);
}

Value add(const Value& current, const Value& update) {
  if (!is_number(update) && !update.is_string() && !update.is_list()) {
    throw_update("add", "a number, string or list", update);
  }
  if (current.is_null()) return update;
  if (is_number(current) && is_number(update)) {
    if (is_integer(current) && is_integer(update)) return add_integers(current, update);
    return current.as_double() + update.as_double();
  }
  if (current.is_list() && update.is_list()) return current.concat(update);
  if (current.is_string() && update.is_string()) {
    return std::string(current.as_string()).append(update.as_string());
  }
  throw ValueError("add: cannot add " + update.type_name() + " to " + current.type_name());
}

Value merge(const Value& current, const Value& update) {
  if (!is_mapping(update)) throw_update("merge", "an object", update);
  if (current.is_null()) return update;
  if (!is_mapping(current)) throw_current("merge", "an object", current);
  if (current.is_object() && update.is_object()) return current.merge(update);
  return merge_maps(current, update);
}

Value max(const Value& current, const Value& update) {
  if (!is_number(update) && !update.is_string()) {
    throw_update("max", "a number or string", update);
  }
  if (current.is_null()) return update;
  if (is_number(current) != is_number(update) || current.is_string() != update.is_string()) {
    throw ValueError("max: cannot compare " + update.type_name() + " with " + current.type_name());
  }
  return is_less(current, update) ? update : current;
}

Value union_(const Value& current, const Value& update) {
  const Value* additions = detail::set_elements(update);
  if (additions == nullptr) {
    throw_update("union_", "a set or a list of elements", update, "; wrap it in a list");
  }
  const Value* elements = current.is_null() ? &current : detail::set_elements(current);
  if (elements == nullptr) throw_current("union_", "a set", current);

  std::unordered_set<Value> known(elements->begin(), elements->end());
  ListBuilder fresh;
  for (const Value& element : *additions) {
    if (known.insert(element).second) fresh.push_back(element);
  }
  if (fresh.size() == 0 && current.is_extension()) return current;
  const Value all = elements->concat(std::move(fresh).build());
  if (!current.is_extension()) return detail::make_set(all);
  return make_extension(ExtensionCode::construct, "builtins", current.as_extension().name, all);
}

}  // namespace clew::reducers

// How C++ types become Values and come back.
//
//   Value v = std::vector<int>{1, 2};
//   auto numbers = v.get<std::vector<int>>();
//   v.get<std::vector<std::string>>();   // throws ValueError "$[0]: expected string, found int"
//
//   C++                                       Value
//   bool, integers, floating point            bool, int (range checked), float (reads ints too)
//   std::string                               string; std::string_view is only written
//   std::vector<std::byte>                    bytes
//   vector, deque, list, array, pair, tuple   list
//   map, unordered_map                        object; map if the keys are not text
//   set, unordered_set                        Python's set; reads frozenset and list too
//   optional                                  the value or null
//   variant, monostate                        the first alternative that fits, null
//   CLEW_JSON, CLEW_ENUM (fields.hpp)         object, the enumerator's name
//   CLEW_STATE (state.hpp)                    object
//   std::chrono types (time.hpp)              Python's datetime, date and timedelta
//
// Any other type converts by two functions in its own namespace:
//
//   Value to_value(const Money& money);
//   void from_value(const Value& value, Money& money);    // throws ValueError
//
// or, if that namespace is not yours or the type has no default constructor, by
// a specialization of clew::Converter like those below. Code that is generic
// over types writes Value(x) and value.get<T>(), never these functions.
//
// Conversions hold no state and may run in any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <clew/value.hpp>

namespace clew {

namespace detail {

// These end ordinary lookup here, so that only functions beside T are found.
void to_value() = delete;
void from_value() = delete;

template <class T>
concept HasToValue = requires(const T& object) {
  { to_value(object) } -> std::same_as<Value>;
};

template <class T>
concept HasFromValue = std::default_initializable<T> &&
                       requires(const Value& value, T& object) { from_value(value, object); };

template <class T>
concept Writable = std::constructible_from<Value, const T&>;

template <class T>
concept Readable = requires(const Value& value) {
  { Converter<T>::from_value(value) } -> std::same_as<T>;
};

// Inside a Converter its own to_value and from_value hide those beside T.
template <class T>
Value call_to_value(const T& object) {
  return to_value(object);
}

template <class T>
void call_from_value(const Value& value, T& object) {
  from_value(value, object);
}

template <class T>
Value write(const T& object) {
  static_assert(Writable<T>,
                "this type has no conversion to clew::Value: write CLEW_JSON(T, fields...) after "
                "the type, or put Value to_value(const T&) and void from_value(const Value&, T&) "
                "beside it, or keep the C++ object as it is with clew::wrap()");
  if constexpr (Writable<T>) {
    return Value(object);
  } else {
    return Value();
  }
}

template <class T>
T read(const Value& value) {
  static_assert(!std::same_as<T, std::string_view>,
                "get<std::string_view>() could outlive the text it points to: use "
                "get<std::string>(), or as_string() of a Value that you keep");
  static_assert(Readable<T> || std::same_as<T, std::string_view>,
                "this type has no conversion from clew::Value: write CLEW_JSON(T, fields...) after "
                "the type, or put Value to_value(const T&) and void from_value(const Value&, T&) "
                "beside it, or keep the C++ object as it is with clew::wrap() and clew::unwrap()");
  if constexpr (Readable<T>) {
    return Converter<T>::from_value(value);
  } else {
    throw Error("unreachable");
  }
}

// A readable spelling of a C++ type: "app::Point".
std::string type_text(const std::type_info& type);

// What reading a T expects to find, for messages.
template <class T>
std::string expectation() {
  if constexpr (requires { Converter<T>::expectation(); }) {
    return std::string(Converter<T>::expectation());
  } else {
    return type_text(typeid(T));
  }
}

[[noreturn]] void throw_expected(std::string_view expected, const Value& found);

inline std::string_view read_text(const Value& value) {
  if (!value.is_string()) throw_expected("string", value);
  return value.as_string();
}
[[noreturn]] void throw_integer(std::int64_t min, std::uint64_t max, const Value& found);
// Throws if the number is finite but past the largest float.
void check_float(double number);
// The value of an integer between 0 and 2^64 - 1, else nothing.
std::optional<std::uint64_t> unsigned_integer(const Value& value);

}  // namespace detail

template <class T, class... Steps>
T Value::get(const Steps&... steps) const {
  if constexpr (sizeof...(Steps) == 0) {
    return detail::read<T>(*this);
  } else {
    const detail::PathStep path[] = {detail::PathStep(steps)...};
    const Value& found = at_path(path);
    try {
      return detail::read<T>(found);
    } catch (ValueError& error) {
      error.prepend(detail::path_text(path).substr(1));
      throw;
    }
  }
}

// By the functions beside the type. A specialization has the same members;
// expectation() is what messages call that which from_value() reads.
template <class T>
struct Converter {
  static Value to_value(const T& object)
    requires detail::HasToValue<T>
  {
    return detail::call_to_value(object);
  }
  static T from_value(const Value& value)
    requires detail::HasFromValue<T>
  {
    T object{};
    detail::call_from_value(value, object);
    return object;
  }
  static std::string expectation() { return detail::type_text(typeid(T)); }
};

template <>
struct Converter<Value> {
  static Value from_value(const Value& value) { return value; }
  static std::string_view expectation() { return "a value"; }
};

template <>
struct Converter<bool> {
  static bool from_value(const Value& value) {
    if (!value.is_bool()) detail::throw_expected("bool", value);
    return value.as_bool();
  }
  static std::string_view expectation() { return "bool"; }
};

template <detail::Integer T>
struct Converter<T> {
  static T from_value(const Value& value) {
    using Limits = std::numeric_limits<T>;
    if (value.is_int()) {
      const std::int64_t integer = value.as_int();
      if (std::in_range<T>(integer)) return static_cast<T>(integer);
    }
    if constexpr (std::cmp_greater(Limits::max(), std::numeric_limits<std::int64_t>::max())) {
      if (const auto integer = detail::unsigned_integer(value)) return static_cast<T>(*integer);
    }
    detail::throw_integer(static_cast<std::int64_t>(Limits::min()),
                          static_cast<std::uint64_t>(Limits::max()), value);
  }
  static std::string_view expectation() { return "int"; }
};

template <std::floating_point T>
struct Converter<T> {
  static T from_value(const Value& value) {
    const Kind kind = value.kind();
    if (kind != Kind::floating && kind != Kind::integer && kind != Kind::big_integer) {
      detail::throw_expected("float", value);
    }
    const double number = value.as_double();
    if constexpr (std::same_as<T, float>) detail::check_float(number);
    return static_cast<T>(number);
  }
  static std::string_view expectation() { return "float"; }
};

template <>
struct Converter<std::string> {
  static std::string from_value(const Value& value) {
    return std::string(detail::read_text(value));
  }
  static std::string_view expectation() { return "string"; }
};

template <>
struct Converter<std::vector<std::byte>> {
  static Value to_value(const std::vector<std::byte>& bytes) {
    return Value::bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  static std::vector<std::byte> from_value(const Value& value) {
    if (!value.is_bytes()) detail::throw_expected("bytes", value);
    const auto bytes = std::as_bytes(std::span(value.as_bytes()));
    return {bytes.begin(), bytes.end()};
  }
  static std::string_view expectation() { return "bytes"; }
};

}  // namespace clew

#include <clew/containers.hpp>
#include <clew/fields.hpp>

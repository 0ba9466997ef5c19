// nlohmann::json to Value and back, for programs that have both. The only
// header of Clew that needs nlohmann's.
//
//   nlohmann::json j = {{"user", {{"name", "Ada"}}}};
//   Value v = j;                                // also from_nlohmann(j)
//   Value state{{"step", 1}, {"input", j}};
//   nlohmann::json back = v;                    // also to_nlohmann<nlohmann::json>(v)
//   auto inner = state.get<nlohmann::ordered_json>("input");
//
// Both nlohmann::json (sorted keys) and nlohmann::ordered_json are meant
// throughout. Binary values are bytes, without their subtype; unsigned integers
// up to 2^64 - 1 are exact. What nlohmann has no form for is, on the way there:
// an integer past 64 bits a ValueError with its path (it would silently become a
// double); an extension, or a map with keys that are not strings, its plain
// content as to_json() writes it (json.hpp). Values nested more than 1000 deep
// are a ValueError in both directions.
//
// j.get<clew::Value>() does not compile: nlohmann's implicit conversions would
// make `Value v = j` ambiguous. Write `Value v = j`.
//
// The functions may be called from any thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <clew/json.hpp>
#include <clew/value.hpp>

namespace clew {

template <class J>
concept NlohmannJson = std::same_as<J, nlohmann::json> || std::same_as<J, nlohmann::ordered_json>;

namespace detail {

constexpr std::size_t kNlohmannDepth = 1000;

inline void check_nlohmann_depth(std::size_t depth) {
  if (depth > kNlohmannDepth) {
    throw ValueError("$", "nested more than " + std::to_string(kNlohmannDepth) + " deep");
  }
}

template <NlohmannJson J>
Value from_nlohmann(const J& json, std::size_t depth) {
  check_nlohmann_depth(depth);
  switch (json.type()) {
    case J::value_t::null: return Value();
    case J::value_t::boolean: return json.template get<bool>();
    case J::value_t::number_integer: return json.template get<std::int64_t>();
    case J::value_t::number_unsigned: return json.template get<std::uint64_t>();
    case J::value_t::number_float: return json.template get<double>();
    case J::value_t::string: return json.template get_ref<const std::string&>();
    case J::value_t::binary: {
      const auto& bytes = json.get_binary();
      return Value::bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    case J::value_t::array: {
      ListBuilder list;
      for (const J& element : json) list.push_back(from_nlohmann(element, depth + 1));
      return std::move(list).build();
    }
    case J::value_t::object: {
      ObjectBuilder object;
      for (const auto& [key, value] : json.items()) {
        object.set(key, from_nlohmann(value, depth + 1));
      }
      return std::move(object).build();
    }
    case J::value_t::discarded: break;
  }
  throw ValueError("the nlohmann::json was discarded: its text could not be parsed");
}

template <NlohmannJson J>
J to_nlohmann(const Value& value, std::size_t depth);

template <NlohmannJson J>
J integer_to_nlohmann(const Value& value) {
  if (value.is_int()) return value.as_int();
  if (const auto integer = unsigned_integer(value)) return *integer;
  throw ValueError("$", "nlohmann::json cannot hold the integer " + value.integer_text() +
                            "; store its text instead");
}

template <NlohmannJson J>
J list_to_nlohmann(const Value& value, std::size_t depth) {
  J array = J::array();
  try {
    for (const Value& element : value) array.push_back(to_nlohmann<J>(element, depth + 1));
  } catch (ValueError& error) {
    error.prepend(path_step(array.size()));
    throw;
  }
  return array;
}

template <NlohmannJson J>
J object_to_nlohmann(const Value& value, std::size_t depth) {
  J object = J::object();
  for (const auto& [key, entry] : value.items()) {
    try {
      object[std::string(key)] = to_nlohmann<J>(entry, depth + 1);
    } catch (ValueError& error) {
      error.prepend(path_step(key));
      throw;
    }
  }
  return object;
}

template <NlohmannJson J>
J to_nlohmann(const Value& value, std::size_t depth) {
  check_nlohmann_depth(depth);
  switch (value.kind()) {
    case Kind::null: return nullptr;
    case Kind::boolean: return value.as_bool();
    case Kind::integer:
    case Kind::big_integer: return integer_to_nlohmann<J>(value);
    case Kind::floating: return value.as_double();
    case Kind::string: return std::string(value.as_string());
    case Kind::bytes: {
      const std::string_view bytes = value.as_bytes();
      return J::binary(typename J::binary_t::container_type(bytes.begin(), bytes.end()));
    }
    case Kind::list: return list_to_nlohmann<J>(value, depth);
    case Kind::object: return object_to_nlohmann<J>(value, depth);
    case Kind::map:
    case Kind::extension: break;
  }
  return to_nlohmann<J>(
      parse_json(to_json(value, {.non_finite = NonFinite::literal}), {.allow_non_finite = true}),
      depth);
}

}  // namespace detail

template <NlohmannJson J>
Value from_nlohmann(const J& json) {
  return detail::from_nlohmann(json, 0);
}

template <NlohmannJson J = nlohmann::ordered_json>
J to_nlohmann(const Value& value) {
  return detail::to_nlohmann<J>(value, 0);
}

template <NlohmannJson J>
struct Converter<J> {
  static Value to_value(const J& json) { return from_nlohmann(json); }
  static J from_value(const Value& value) { return to_nlohmann<J>(value); }
};

// What nlohmann calls for `json = value`. Only for Values: what merely converts
// to one may have a to_json of its own.
template <NlohmannJson J, std::same_as<Value> V>
void to_json(J& json, const V& value) {
  json = to_nlohmann<J>(value);
}

}  // namespace clew

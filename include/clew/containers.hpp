// The containers of the standard library as Values; convert.hpp has the table.
//
//   Value v = std::map<std::string, std::vector<int>>{{"primes", {2, 3, 5}}};
//   auto lists = v.get<std::map<std::string, std::vector<int>>>();
//
// Fixed sizes (array, pair, tuple) must fit exactly. Unordered containers are
// written sorted, so that equal contents are equal values. A map with text keys
// is an object; one with integer keys is also read from an object whose keys
// are digits, which is what JSON makes of it. A variant takes its alternatives
// in order: put int before double, which reads integers too.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <clew/value.hpp>

namespace clew {

namespace detail {

[[noreturn]] void throw_size(std::size_t expected, const Value& list);
// A map, or an object if all keys are strings.
Value make_map(std::span<const std::pair<Value, Value>> entries);
// The same, sorted by key.
Value make_sorted_map(std::vector<std::pair<Value, Value>> entries);
Value make_set(Value elements);
Value make_sorted_set(std::vector<Value> elements);
// The elements of a set, frozenset or list; else nullptr.
const Value* set_elements(const Value& value) noexcept;
// The step to the entry with this key: ".name", "[3]", "[[1,2]]".
std::string map_step(const Value& key);
// An integer key that went through JSON is text.
Value integer_key(const Value& key);
[[noreturn]] void throw_key(const Value& key, const ValueError& error);

struct Attempt {
  std::string expected;
  ValueError error;
};
[[noreturn]] void throw_no_alternative(std::span<const Attempt> attempts, const Value& found);

// Calls `read` with each; what it throws says where.
template <class Read>
void for_each_element(const Value& list, const Read& read) {
  std::size_t index = 0;
  try {
    for (const Value& element : list) {
      read(element);
      ++index;
    }
  } catch (ValueError& error) {
    error.prepend(path_step(index));
    throw;
  }
}

template <class T, class Sink>
void read_elements(const Value& list, Sink&& sink) {
  for_each_element(list, [&](const Value& element) { sink(read<T>(element)); });
}

template <class Sequence>
Value write_elements(const Sequence& sequence) {
  ListBuilder list;
  for (const typename Sequence::value_type& element : sequence) list.push_back(Value(element));
  return std::move(list).build();
}

template <class T>
T read_element(const Value& list, std::size_t index) {
  try {
    return read<T>(list[index]);
  } catch (ValueError& error) {
    error.prepend(path_step(index));
    throw;
  }
}

inline void check_list(const Value& value, std::size_t size) {
  if (!value.is_list()) throw_expected("list", value);
  if (value.size() != size) throw_size(size, value);
}

template <class Sequence>
struct SequenceConverter {
  using Element = typename Sequence::value_type;

  static Value to_value(const Sequence& sequence)
    requires Writable<Element>
  {
    return write_elements(sequence);
  }
  static Sequence from_value(const Value& value) {
    if (!value.is_list()) throw_expected("list", value);
    Sequence sequence;
    if constexpr (requires { sequence.reserve(std::size_t{}); }) sequence.reserve(value.size());
    for_each_element(value, [&](const Value& element) {
      // Text goes straight to its place: moving a short string is copying it.
      if constexpr (std::same_as<Element, std::string>) {
        sequence.emplace_back(read_text(element));
      } else {
        sequence.push_back(read<Element>(element));
      }
    });
    return sequence;
  }
  static std::string_view expectation() { return "list"; }
};

template <class Tuple, class Indices = std::make_index_sequence<std::tuple_size_v<Tuple>>>
struct TupleConverter;

template <class Tuple, std::size_t... I>
struct TupleConverter<Tuple, std::index_sequence<I...>> {
  static Value to_value(const Tuple& tuple)
    requires(Writable<std::tuple_element_t<I, Tuple>> && ...)
  {
    ListBuilder list;
    (list.push_back(Value(std::get<I>(tuple))), ...);
    return std::move(list).build();
  }
  static Tuple from_value(const Value& value) {
    check_list(value, sizeof...(I));
    return Tuple{read_element<std::tuple_element_t<I, Tuple>>(value, I)...};
  }
  static std::string_view expectation() { return "list"; }
};

template <class Container>
concept Unordered = requires { typename Container::hasher; };

template <class Map>
struct MapConverter {
  using Key = typename Map::key_type;
  using Mapped = typename Map::mapped_type;

  static Value to_value(const Map& map)
    requires(Writable<Key> && Writable<Mapped>)
  {
    if constexpr (std::convertible_to<const Key&, std::string_view> && !Unordered<Map>) {
      ObjectBuilder object;
      for (const auto& [key, mapped] : map) object.set(key, Value(mapped));
      return std::move(object).build();
    } else {
      std::vector<std::pair<Value, Value>> entries;
      entries.reserve(map.size());
      for (const auto& [key, mapped] : map) entries.emplace_back(Value(key), Value(mapped));
      return Unordered<Map> ? make_sorted_map(std::move(entries)) : make_map(entries);
    }
  }

  static Map from_value(const Value& value) {
    Map map;
    if (value.is_object()) {
      for (const auto& [key, mapped] : value.items()) read_entry(map, Value(key), mapped);
    } else if (value.kind() == Kind::map && !std::same_as<Key, std::string>) {
      for (const auto& [key, mapped] : value.as_map()) read_entry(map, key, mapped);
    } else {
      throw_expected(expectation(), value);
    }
    return map;
  }

  static std::string_view expectation() {
    return std::same_as<Key, std::string> ? "object" : "map";
  }

 private:
  static void read_entry(Map& map, const Value& key, const Value& mapped) {
    Key map_key = read_key(key);
    try {
      map.insert_or_assign(std::move(map_key), read<Mapped>(mapped));
    } catch (ValueError& error) {
      error.prepend(map_step(key));
      throw;
    }
  }

  static Key read_key(const Value& key) {
    try {
      if constexpr (Integer<Key>) {
        return read<Key>(integer_key(key));
      } else {
        return read<Key>(key);
      }
    } catch (const ValueError& error) {
      throw_key(key, error);
    }
  }
};

template <class Set>
struct SetConverter {
  using Element = typename Set::value_type;

  static Value to_value(const Set& set)
    requires Writable<Element>
  {
    if constexpr (Unordered<Set>) {
      std::vector<Value> elements;
      elements.reserve(set.size());
      for (const Element& element : set) elements.emplace_back(element);
      return make_sorted_set(std::move(elements));
    } else {
      return make_set(write_elements(set));
    }
  }
  static Set from_value(const Value& value) {
    const Value* elements = set_elements(value);
    if (elements == nullptr) throw_expected("set", value);
    Set set;
    read_elements<Element>(*elements, [&](Element element) { set.insert(std::move(element)); });
    return set;
  }
  static std::string_view expectation() { return "set"; }
};

template <class Variant, class Indices = std::make_index_sequence<std::variant_size_v<Variant>>>
struct VariantConverter;

template <class Variant, std::size_t... I>
struct VariantConverter<Variant, std::index_sequence<I...>> {
  static Value to_value(const Variant& variant)
    requires(Writable<std::variant_alternative_t<I, Variant>> && ...)
  {
    return std::visit([](const auto& alternative) { return Value(alternative); }, variant);
  }
  static Variant from_value(const Value& value) {
    std::optional<Variant> variant;
    std::vector<Attempt> attempts;
    if ((read_alternative<I>(value, variant, attempts) || ...)) return *std::move(variant);
    throw_no_alternative(attempts, value);
  }
  static std::string expectation() {
    std::string expected;
    ((expected +=
      (I == 0 ? "" : " or ") + detail::expectation<std::variant_alternative_t<I, Variant>>()),
     ...);
    return expected;
  }

 private:
  template <std::size_t Index>
  static bool read_alternative(const Value& value, std::optional<Variant>& variant,
                               std::vector<Attempt>& attempts) {
    using Alternative = std::variant_alternative_t<Index, Variant>;
    try {
      variant.emplace(std::in_place_index<Index>, read<Alternative>(value));
      return true;
    } catch (const ValueError& error) {
      attempts.push_back({detail::expectation<Alternative>(), error});
      return false;
    }
  }
};

}  // namespace detail

template <class T, class A>
struct Converter<std::vector<T, A>> : detail::SequenceConverter<std::vector<T, A>> {};
template <class T, class A>
struct Converter<std::deque<T, A>> : detail::SequenceConverter<std::deque<T, A>> {};
template <class T, class A>
struct Converter<std::list<T, A>> : detail::SequenceConverter<std::list<T, A>> {};

template <class T, class U>
struct Converter<std::pair<T, U>> : detail::TupleConverter<std::pair<T, U>> {};
template <class... T>
struct Converter<std::tuple<T...>> : detail::TupleConverter<std::tuple<T...>> {};

template <class T, std::size_t N>
struct Converter<std::array<T, N>> {
  static Value to_value(const std::array<T, N>& array)
    requires detail::Writable<T>
  {
    return detail::write_elements(array);
  }
  static std::array<T, N> from_value(const Value& value) {
    detail::check_list(value, N);
    std::array<T, N> array{};
    auto next = array.begin();
    detail::read_elements<T>(value, [&](T element) { *next++ = std::move(element); });
    return array;
  }
  static std::string_view expectation() { return "list"; }
};

template <class K, class V, class C, class A>
struct Converter<std::map<K, V, C, A>> : detail::MapConverter<std::map<K, V, C, A>> {};
template <class K, class V, class H, class E, class A>
struct Converter<std::unordered_map<K, V, H, E, A>>
    : detail::MapConverter<std::unordered_map<K, V, H, E, A>> {};

template <class T, class C, class A>
struct Converter<std::set<T, C, A>> : detail::SetConverter<std::set<T, C, A>> {};
template <class T, class H, class E, class A>
struct Converter<std::unordered_set<T, H, E, A>>
    : detail::SetConverter<std::unordered_set<T, H, E, A>> {};

template <class T>
struct Converter<std::optional<T>> {
  static Value to_value(const std::optional<T>& optional)
    requires detail::Writable<T>
  {
    return optional ? Value(*optional) : Value();
  }
  static std::optional<T> from_value(const Value& value) {
    if (value.is_null()) return std::nullopt;
    return detail::read<T>(value);
  }
  static std::string expectation() { return detail::expectation<T>() + " or null"; }
};

template <class... T>
struct Converter<std::variant<T...>> : detail::VariantConverter<std::variant<T...>> {};

template <>
struct Converter<std::monostate> {
  static Value to_value(std::monostate) { return Value(); }
  static std::monostate from_value(const Value& value) {
    if (!value.is_null()) detail::throw_expected("null", value);
    return {};
  }
  static std::string_view expectation() { return "null"; }
};

}  // namespace clew

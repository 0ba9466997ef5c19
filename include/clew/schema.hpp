// JSON Schema of C++ types: what a state, an input or a context looks like to
// programs that are not written in C++.
//
//   json_schema<std::vector<int>>();   // {"items": {"type": "integer"}, "type": "array"}
//
//   struct Car { std::string name; std::optional<int> doors; };
//   CLEW_JSON(Car, name, doors)
//   json_schema<Car>();                // {"properties": {"name": {"title": "Name", "type": "string"},
//                                      //  ...}, "required": ["name"], "title": "Car", "type": "object"}
//
// It says what the Converter of the type writes (convert.hpp). Structs inside a
// type stand under "$defs" and are referred to by name. A Value, and a type
// whose conversion is its own, may be anything: {}. Such a type says more by a
// specialization:
//
//   template <>
//   struct clew::JsonSchema<Money> {
//     static Value schema(SchemaDefinitions&) { return {{"type", "string"}, {"format", "money"}}; }
//   };
//
// All functions may be called from any thread.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <clew/fields.hpp>
#include <clew/messages.hpp>
#include <clew/reducers.hpp>
#include <clew/value.hpp>

namespace clew {

// The structs that a schema refers to, by name.
class SchemaDefinitions {
 public:
  bool contains(std::string_view name) const { return definitions_.contains(name); }
  void set(std::string_view name, Value schema) {
    definitions_ = definitions_.set(name, std::move(schema));
  }
  const Value& value() const { return definitions_; }

 private:
  Value definitions_ = object();
};

// How a type is described; specialize it for your own.
template <class T>
struct JsonSchema;

namespace detail {

// "first_name" is titled "First Name", as LangGraph does it.
std::string schema_title(std::string_view name);
// The name of a type without its namespace.
std::string_view unqualified(std::string_view type);

// The field `name` of an object: `schema` with a title.
Value property_schema(std::string_view name, const Value& schema);
// An object whose properties may bring definitions of their own, which it takes over.
Value object_schema(std::string_view title, const Value& properties, const Value& required);
Value list_schema(const Value& items);
Value tuple_schema(const Value& elements);
Value any_of(const Value& alternatives);
// A message of any class.
Value message_schema(SchemaDefinitions& definitions);

// What a reducer says about its field: add_messages keeps a list of messages.
Value reduced_schema(const Value& schema, const Reducer& reducer);
// What is known of a channel that has no type: that of its first value.
Value value_schema(const Value& example);

template <class T>
Value schema_in(SchemaDefinitions& definitions) {
  return JsonSchema<T>::schema(definitions);
}

// Puts what was defined on the way into the schema itself.
Value with_definitions(const Value& schema, const SchemaDefinitions& definitions);

template <class T>
Value struct_schema(SchemaDefinitions& definitions) {
  constexpr StructInfo info = clew_struct(TypeTag<T>{});
  ObjectBuilder properties;
  ListBuilder required;
  clew_fields(TypeTag<T>{}, [&](std::string_view name, auto member) {
    using Member = std::remove_cvref_t<decltype(std::declval<T&>().*member)>;
    properties.set(name, property_schema(name, schema_in<Member>(definitions)));
    if constexpr (!info.missing_keeps_default && !kIsOptional<Member>) required.push_back(name);
  });
  return object_schema(unqualified(info.name), std::move(properties).build(),
                       std::move(required).build());
}

}  // namespace detail

// The schema of T, complete in itself.
template <class T>
Value json_schema() {
  SchemaDefinitions definitions;
  if constexpr (detail::HasFields<T>) {
    const Value schema = detail::struct_schema<T>(definitions);
    return detail::with_definitions(schema, definitions);
  } else {
    const Value schema = detail::schema_in<T>(definitions);
    return detail::with_definitions(schema, definitions);
  }
}

template <class T>
struct JsonSchema {
  static Value schema(SchemaDefinitions&) { return object(); }
};

template <>
struct JsonSchema<bool> {
  static Value schema(SchemaDefinitions&) { return {{"type", "boolean"}}; }
};

template <detail::Integer T>
struct JsonSchema<T> {
  static Value schema(SchemaDefinitions&) { return {{"type", "integer"}}; }
};

template <std::floating_point T>
struct JsonSchema<T> {
  static Value schema(SchemaDefinitions&) { return {{"type", "number"}}; }
};

template <>
struct JsonSchema<std::string> {
  static Value schema(SchemaDefinitions&) { return {{"type", "string"}}; }
};

template <>
struct JsonSchema<std::vector<std::byte>> {
  static Value schema(SchemaDefinitions&) { return {{"format", "binary"}, {"type", "string"}}; }
};

template <>
struct JsonSchema<std::monostate> {
  static Value schema(SchemaDefinitions&) { return {{"type", "null"}}; }
};

template <MessageStruct T>
struct JsonSchema<T> {
  static Value schema(SchemaDefinitions& definitions) {
    return detail::message_schema(definitions);
  }
};

// Structs are defined once and referred to, so that one may contain itself in a list.
template <detail::HasFields T>
struct JsonSchema<T> {
  static Value schema(SchemaDefinitions& definitions) {
    const std::string name(detail::unqualified(clew_struct(detail::TypeTag<T>{}).name));
    if (!definitions.contains(name)) {
      definitions.set(name, object());
      definitions.set(name, detail::struct_schema<T>(definitions));
    }
    return {{"$ref", "#/$defs/" + name}};
  }
};

template <detail::HasEnumerators T>
struct JsonSchema<T> {
  static Value schema(SchemaDefinitions&) {
    ListBuilder names;
    clew_enumerators(detail::TypeTag<T>{},
                     [&](std::string_view name, T) { names.push_back(name); });
    return object({{"enum", std::move(names).build()}, {"type", "string"}});
  }
};

namespace detail {

template <class Element>
struct ListSchema {
  static Value schema(SchemaDefinitions& definitions) {
    return list_schema(schema_in<Element>(definitions));
  }
};

template <class Element>
struct SetSchema {
  static Value schema(SchemaDefinitions& definitions) {
    return list_schema(schema_in<Element>(definitions)).set("uniqueItems", true);
  }
};

template <class... Elements>
struct TupleSchema {
  static Value schema(SchemaDefinitions& definitions) {
    ListBuilder elements;
    (elements.push_back(schema_in<Elements>(definitions)), ...);
    return tuple_schema(std::move(elements).build());
  }
};

template <class Mapped>
struct MapSchema {
  static Value schema(SchemaDefinitions& definitions) {
    const Value values = schema_in<Mapped>(definitions);
    return object(
        {{"additionalProperties", values.empty() ? Value(true) : values}, {"type", "object"}});
  }
};

struct DateTimeSchema {
  static Value schema(SchemaDefinitions&) { return {{"format", "date-time"}, {"type", "string"}}; }
};

struct DateSchema {
  static Value schema(SchemaDefinitions&) { return {{"format", "date"}, {"type", "string"}}; }
};

struct DurationSchema {
  static Value schema(SchemaDefinitions&) { return {{"format", "duration"}, {"type", "string"}}; }
};

}  // namespace detail

template <class T, class A>
struct JsonSchema<std::vector<T, A>> : detail::ListSchema<T> {};
template <class T, class A>
struct JsonSchema<std::deque<T, A>> : detail::ListSchema<T> {};
template <class T, class A>
struct JsonSchema<std::list<T, A>> : detail::ListSchema<T> {};
template <class T, std::size_t N>
struct JsonSchema<std::array<T, N>> : detail::ListSchema<T> {};
template <class T, class U>
struct JsonSchema<std::pair<T, U>> : detail::TupleSchema<T, U> {};
template <class... T>
struct JsonSchema<std::tuple<T...>> : detail::TupleSchema<T...> {};
template <class K, class V, class C, class A>
struct JsonSchema<std::map<K, V, C, A>> : detail::MapSchema<V> {};
template <class K, class V, class H, class E, class A>
struct JsonSchema<std::unordered_map<K, V, H, E, A>> : detail::MapSchema<V> {};
template <class T, class C, class A>
struct JsonSchema<std::set<T, C, A>> : detail::SetSchema<T> {};
template <class T, class H, class E, class A>
struct JsonSchema<std::unordered_set<T, H, E, A>> : detail::SetSchema<T> {};
template <class Clock, class Duration>
struct JsonSchema<std::chrono::time_point<Clock, Duration>> : detail::DateTimeSchema {};
template <>
struct JsonSchema<std::chrono::year_month_day> : detail::DateSchema {};
template <class Rep, class Period>
struct JsonSchema<std::chrono::duration<Rep, Period>> : detail::DurationSchema {};

template <class... T>
struct JsonSchema<std::variant<T...>> {
  static Value schema(SchemaDefinitions& definitions) {
    ListBuilder alternatives;
    (alternatives.push_back(detail::schema_in<T>(definitions)), ...);
    return detail::any_of(std::move(alternatives).build());
  }
};

template <class T>
struct JsonSchema<std::optional<T>> {
  static Value schema(SchemaDefinitions& definitions) {
    return detail::any_of(list({detail::schema_in<T>(definitions), object({{"type", "null"}})}));
  }
};

}  // namespace clew

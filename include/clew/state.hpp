// The state of a graph as a C++ struct: its fields are channels.
//
//   struct State {
//     std::string topic;
//     std::vector<std::string> log;
//     int budget = 10;
//   };
//   CLEW_STATE(State, topic, reduced(log, append), budget)
//
//   Value v = State{.topic = "tides"};    // {"topic": "tides", "log": [], "budget": 10}
//   State s = v.get<State>();
//   schema_of<State>()[1].name;           // "log"
//
// An update replaces a field, or meets it in its reducer (reducers.hpp). A
// channel may be empty, so a field that is missing in a Value keeps the default
// of its member; a field the struct does not have is an error. For structs
// inside the state, where a missing field is a mistake, there is CLEW_JSON
// (fields.hpp).
//
// The macro goes at namespace scope, in the namespace of the struct, which must
// be default constructible. The reducers of Clew need no qualification in it.
// schema_of() may be called from any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/fields.hpp>
#include <clew/reducers.hpp>
#include <clew/schema.hpp>
#include <clew/value.hpp>

namespace clew {

// A field of a state.
struct Field {
  std::string name;
  // Empty if an update replaces what is there.
  Reducer reducer;
  // What a default constructed state has there.
  Value default_value;
  // Its JSON Schema.
  Value json_schema = object();
};

namespace detail {

template <class T>
concept HasSchema = requires {
  { clew_schema(TypeTag<T>{}) } -> std::same_as<std::vector<Field>>;
};

template <class Struct, class Member, class Class>
Field make_field(std::string_view name, Member Class::* member, const Struct& defaults,
                 Reducer reducer = {}) {
  try {
    const Value schema = reduced_schema(json_schema<Member>(), reducer);
    return {std::string(name), std::move(reducer), write(defaults.*member), schema};
  } catch (ValueError& error) {
    error.prepend(path_step(name));
    throw;
  }
}

template <class Struct, class Member, class Class, class F>
Field make_reduced_field(std::string_view name, Member Class::* member, const Struct& defaults,
                         F reduce) {
  return make_field(name, member, defaults, make_reducer<Member>(std::move(reduce)));
}

}  // namespace detail

// The fields of T in the order CLEW_STATE lists them. Throws ValueError if a
// default has no Value (an enumerator that CLEW_ENUM does not name).
template <class T>
const std::vector<Field>& schema_of() {
  static_assert(
      detail::HasSchema<T>,
      "schema_of<T>(): this type is not a state; write CLEW_STATE(T, fields...) after it");
  if constexpr (detail::HasSchema<T>) {
    static const std::vector<Field> schema = clew_schema(detail::TypeTag<T>{});
    return schema;
  } else {
    throw Error("unreachable");
  }
}

}  // namespace clew

// The fields of a state, each by its name or as reduced(name, reducer).
#define CLEW_STATE(Type, ...)                                                                  \
  [[maybe_unused]] constexpr ::clew::detail::StructInfo clew_struct(                           \
      ::clew::detail::TypeTag<Type>) {                                                         \
    return {#Type, true};                                                                      \
  }                                                                                            \
  template <class ClewVisitor>                                                                 \
  void clew_fields(::clew::detail::TypeTag<Type>, [[maybe_unused]] ClewVisitor&& clew_visit) { \
    CLEW_FOR_EACH(CLEW_STATE_VISIT, Type, __VA_ARGS__)                                         \
  }                                                                                            \
  [[maybe_unused]] inline ::std::vector<::clew::Field> clew_schema(                            \
      ::clew::detail::TypeTag<Type>) {                                                         \
    using namespace ::clew::reducers;                                                          \
    [[maybe_unused]] const Type clew_defaults{};                                               \
    ::std::vector<::clew::Field> clew_schema_fields;                                           \
    CLEW_FOR_EACH(CLEW_STATE_FIELD, Type, __VA_ARGS__)                                         \
    return clew_schema_fields;                                                                 \
  }

// CLEW_STATE_IS_REDUCED(item) is 1 if the item is reduced(name, reducer), else 0:
// pasting a prefix to the former makes the name of a macro, which yields a
// second argument in front of the 0.
#define CLEW_STATE_IS_REDUCED(item) CLEW_STATE_PROBE(CLEW_STATE_PROBE_##item, 0, ~)
#define CLEW_STATE_PROBE(...) CLEW_STATE_SECOND(__VA_ARGS__)
#define CLEW_STATE_SECOND(first, second, ...) second
#define CLEW_STATE_PROBE_reduced(...) ~, 1
#define CLEW_STATE_CONTENT_reduced(...) __VA_ARGS__
#define CLEW_STATE_CHOOSE(prefix, choice) CLEW_STATE_CHOOSE_NOW(prefix, choice)
#define CLEW_STATE_CHOOSE_NOW(prefix, choice) prefix##choice

#define CLEW_STATE_VISIT(Type, item) \
  CLEW_STATE_CHOOSE(CLEW_STATE_VISIT_, CLEW_STATE_IS_REDUCED(item))(Type, item)
#define CLEW_STATE_VISIT_0(Type, name) CLEW_VISIT_FIELD(Type, name)
#define CLEW_STATE_VISIT_1(Type, item) CLEW_STATE_VISIT_SPLIT(Type, CLEW_STATE_CONTENT_##item)
#define CLEW_STATE_VISIT_SPLIT(...) CLEW_STATE_VISIT_NAME(__VA_ARGS__)
#define CLEW_STATE_VISIT_NAME(Type, name, ...) CLEW_VISIT_FIELD(Type, name)

#define CLEW_STATE_FIELD(Type, item) \
  CLEW_STATE_CHOOSE(CLEW_STATE_FIELD_, CLEW_STATE_IS_REDUCED(item))(Type, item)
#define CLEW_STATE_FIELD_0(Type, name) \
  clew_schema_fields.push_back(::clew::detail::make_field(#name, &Type::name, clew_defaults));
#define CLEW_STATE_FIELD_1(Type, item) CLEW_STATE_FIELD_SPLIT(Type, CLEW_STATE_CONTENT_##item)
#define CLEW_STATE_FIELD_SPLIT(...) CLEW_STATE_FIELD_REDUCED(__VA_ARGS__)
#define CLEW_STATE_FIELD_REDUCED(Type, name, ...) \
  clew_schema_fields.push_back(                   \
      ::clew::detail::make_reduced_field(#name, &Type::name, clew_defaults, __VA_ARGS__));

// Structs and enums as Values: name the fields once, after the type.
//
//   enum class Color { red, green };
//   CLEW_ENUM(Color, red, green)
//
//   struct Car {
//     std::string name;
//     Color color = Color::red;
//     std::optional<int> doors;
//   };
//   CLEW_JSON(Car, name, color, doors)
//
//   Value v = Car{"Ada", Color::green, 4};   // {"name": "Ada", "color": "green", "doors": 4}
//   Car car = v.get<Car>();
//   v.set("colour", "red").get<Car>();       // throws ValueError
//                                            // "$.colour: unknown field; Car has name, color, doors"
//
// All fields are written, in the order of the macro. Reading needs a default
// constructor; a missing field is an error unless it is optional, and so is one
// that the struct does not have. An enumerator is its name.
//
// The macros go at namespace scope, in the namespace of the type, and take up
// to 256 names; fields must be accessible there. For the state of a graph there
// is CLEW_STATE in state.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <clew/value.hpp>

namespace clew {

namespace detail {

// Names a type in a call that is found beside it. Unlike a pointer it does not
// convert to a base class, whose fields would be only part of the object.
template <class T>
struct TypeTag {};

struct StructInfo {
  std::string_view name;
  bool missing_keeps_default = false;
};

struct EnumInfo {
  std::string_view name;
};

template <class T>
concept HasFields = requires {
  { clew_struct(TypeTag<T>{}) } -> std::same_as<StructInfo>;
};

template <class T>
concept HasEnumerators = requires {
  { clew_enum(TypeTag<T>{}) } -> std::same_as<EnumInfo>;
};

[[noreturn]] void throw_missing(std::string_view field, std::string_view expected);
[[noreturn]] void throw_enumerator(std::string_view expected, const Value& found);
[[noreturn]] void throw_unnamed_enumerator(std::string_view type, std::int64_t value);
// Throws if the object has a field that is not in `names`.
void check_fields(const Value& object, std::string_view type,
                  std::span<const std::string_view> names);

// Finds one field of an object after the other, at little cost if they are asked
// for in the order in which the object has them.
class FieldFinder {
 public:
  explicit FieldFinder(const Value& object) : object_(object) {}
  const Value* find(std::string_view name) noexcept;

 private:
  const Value& object_;
  std::size_t next_ = 0;
};

template <class M>
constexpr bool kIsOptional = false;
template <class M>
constexpr bool kIsOptional<std::optional<M>> = true;

template <class M>
void read_field(const Value& value, std::string_view name, M& member) {
  try {
    member = read<M>(value);
  } catch (ValueError& error) {
    error.prepend(path_step(name));
    throw;
  }
}

template <class T>
std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  clew_fields(TypeTag<T>{}, [&](std::string_view name, auto) { names.push_back(name); });
  return names;
}

template <class T>
T read_fields(const Value& value) {
  constexpr StructInfo info = clew_struct(TypeTag<T>{});
  T object{};
  FieldFinder fields(value);
  std::size_t found = 0;
  clew_fields(TypeTag<T>{}, [&](std::string_view name, auto member) {
    using Member = std::remove_cvref_t<decltype(object.*member)>;
    if (const Value* field = fields.find(name)) {
      ++found;
      read_field(*field, name, object.*member);
    } else if constexpr (!info.missing_keeps_default && !kIsOptional<Member>) {
      // A misspelt name is both unknown and missing; the former says more.
      check_fields(value, info.name, field_names<T>());
      throw_missing(name, expectation<Member>());
    }
  });
  if (found != value.size()) check_fields(value, info.name, field_names<T>());
  return object;
}

}  // namespace detail

template <detail::HasFields T>
struct Converter<T> {
  static Value to_value(const T& object) {
    ObjectBuilder fields;
    clew_fields(detail::TypeTag<T>{}, [&](std::string_view name, auto member) {
      fields.set(name, detail::write(object.*member));
    });
    return std::move(fields).build();
  }
  static T from_value(const Value& value) {
    static_assert(std::default_initializable<T>,
                  "CLEW_JSON and CLEW_STATE read into a default constructed object: give the type "
                  "a default constructor, or specialize clew::Converter for it instead");
    if (!value.is_object()) detail::throw_expected("object", value);
    if constexpr (std::default_initializable<T>) {
      return detail::read_fields<T>(value);
    } else {
      throw Error("unreachable");
    }
  }
  static std::string_view expectation() { return "object"; }
};

template <detail::HasEnumerators T>
struct Converter<T> {
  static Value to_value(T enumerator) {
    std::optional<std::string_view> found;
    visit([&](std::string_view name, T value) {
      if (!found && value == enumerator) found = name;
    });
    if (found) return Value(*found);
    detail::throw_unnamed_enumerator(clew_enum(detail::TypeTag<T>{}).name,
                                     static_cast<std::int64_t>(enumerator));
  }
  static T from_value(const Value& value) {
    std::optional<T> found;
    visit([&](std::string_view name, T enumerator) {
      if (value.is_string() && value.as_string() == name) found = enumerator;
    });
    if (found) return *found;
    detail::throw_enumerator(expectation(), value);
  }
  static std::string expectation() {
    std::string names;
    visit([&](std::string_view name, T) {
      names += (names.empty() ? "one of " : ", ") + std::string(name);
    });
    return names;
  }

 private:
  template <class Visitor>
  static void visit(Visitor&& visitor) {
    clew_enumerators(detail::TypeTag<T>{}, visitor);
  }
};

}  // namespace clew

// Calls step(context, item) for each item. A macro does not expand inside
// itself, so the next step is spelt as a call that only the next scan completes,
// and CLEW_EXPAND scans often enough.
#define CLEW_EXPAND(...) CLEW_EXPAND4(CLEW_EXPAND4(CLEW_EXPAND4(CLEW_EXPAND4(__VA_ARGS__))))
#define CLEW_EXPAND4(...) CLEW_EXPAND3(CLEW_EXPAND3(CLEW_EXPAND3(CLEW_EXPAND3(__VA_ARGS__))))
#define CLEW_EXPAND3(...) CLEW_EXPAND2(CLEW_EXPAND2(CLEW_EXPAND2(CLEW_EXPAND2(__VA_ARGS__))))
#define CLEW_EXPAND2(...) CLEW_EXPAND1(CLEW_EXPAND1(CLEW_EXPAND1(CLEW_EXPAND1(__VA_ARGS__))))
#define CLEW_EXPAND1(...) __VA_ARGS__
#define CLEW_PARENTHESES ()
#define CLEW_FOR_EACH(step, context, ...) \
  __VA_OPT__(CLEW_EXPAND(CLEW_FOR_EACH_STEP(step, context, __VA_ARGS__)))
#define CLEW_FOR_EACH_STEP(step, context, item, ...) \
  step(context, item) __VA_OPT__(CLEW_FOR_EACH_NEXT CLEW_PARENTHESES(step, context, __VA_ARGS__))
#define CLEW_FOR_EACH_NEXT() CLEW_FOR_EACH_STEP

// CLEW_JSON(Type, fields...)
#define CLEW_JSON(Type, ...)                                                                   \
  [[maybe_unused]] constexpr ::clew::detail::StructInfo clew_struct(                           \
      ::clew::detail::TypeTag<Type>) {                                                         \
    return {#Type, false};                                                                     \
  }                                                                                            \
  template <class ClewVisitor>                                                                 \
  void clew_fields(::clew::detail::TypeTag<Type>, [[maybe_unused]] ClewVisitor&& clew_visit) { \
    CLEW_FOR_EACH(CLEW_VISIT_FIELD, Type, __VA_ARGS__)                                         \
  }
#define CLEW_VISIT_FIELD(Type, name) clew_visit(::std::string_view(#name), &Type::name);

// CLEW_ENUM(Type, enumerators...)
#define CLEW_ENUM(Type, ...)                                                                     \
  [[maybe_unused]] constexpr ::clew::detail::EnumInfo clew_enum(::clew::detail::TypeTag<Type>) { \
    return {#Type};                                                                              \
  }                                                                                              \
  template <class ClewVisitor>                                                                   \
  void clew_enumerators(::clew::detail::TypeTag<Type>,                                           \
                        [[maybe_unused]] ClewVisitor&& clew_visit) {                             \
    CLEW_FOR_EACH(CLEW_VISIT_ENUMERATOR, Type, __VA_ARGS__)                                      \
  }
#define CLEW_VISIT_ENUMERATOR(Type, name) clew_visit(::std::string_view(#name), Type::name);

// Extension values: what has a type beyond JSON. LangGraph stores dates, sets,
// messages and objects of user classes as (code, module, name, payload); Clew
// keeps them as data, never runs or resolves them, and writes them back byte
// for byte.
//
//   Extension e = value.as_extension();
//   e.type_name();                 // "langchain_core.messages.human.HumanMessage"
//   e.payload["content"];          // its fields
//
// time.hpp, uuid.hpp and messages.hpp hold the C++ faces of well-known types;
// this is the form underneath, for types a program does not know.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>

#include <clew/value.hpp>

namespace clew {

// How the other language rebuilds the object. Persisted: never renumber.
enum class ExtensionCode : int {
  construct = 0,         // name(payload)
  construct_args = 1,    // name(*payload), payload is a list
  construct_kwargs = 2,  // name(**payload), payload is an object
  call_method = 3,       // name.method(payload)
  pydantic_v1 = 4,       // as construct_kwargs
  pydantic_v2 = 5,       // as construct_kwargs, with a method that readers ignore
  ndarray = 6,           // payload is [dtype, shape, order, bytes]
  delta_snapshot = 7,    // payload is the value of a delta channel

  // Forms that exist only at the top level of a stored value, under a tag of their own.
  bytearray = 256,  // payload is bytes
  pickle = 257,     // payload is bytes; never executed

  // A C++ object of a user type; see wrap().
  host = 258,
};

// A look into an extension value; lives as long as the Value it came from.
struct Extension {
  ExtensionCode code;
  std::string_view module;  // empty for ndarray, delta_snapshot and unknown codes
  std::string_view name;
  std::string_view method;
  const Value& payload;
  // The payload is bytes as they were found: a code or shape Clew does not know.
  bool is_raw;

  std::string type_name() const;
  bool is(std::string_view type_module, std::string_view type_name) const {
    return !is_raw && module == type_module && name == type_name;
  }
};

// An object of another language.
//   make_extension(ExtensionCode::construct, "decimal", "Decimal", "1.10")
// Throws ValueError if the payload does not have the shape its code asks for.
Value make_extension(ExtensionCode code, std::string_view module, std::string_view name,
                     Value payload, std::string_view method = {});
// ndarray, delta_snapshot, bytearray, pickle: the codes without a class.
Value make_extension(ExtensionCode code, Value payload);
// A MessagePack extension of any code with opaque content.
Value make_raw_extension(std::int8_t code, std::string_view bytes);

// The extension view of `value` if it is one of this class, else nullptr-like.
bool is_instance(const Value& value, std::string_view module, std::string_view name);

namespace detail {
Value wrap_object(std::shared_ptr<const void> object, const std::type_info& type);
const void* unwrap_object(const Value& value, const std::type_info& type);
// The C++ type of a wrapped object, or nullptr.
const std::type_info* wrapped_type(const Value& value);
// A readable spelling of a C++ type: "app::Point".
std::string type_text(const std::type_info& type);
}  // namespace detail

// A Value that holds a C++ object as it is. It lives in memory like any other
// value; to be stored, its type must be in the serializer's TypeRegistry
// (serde.hpp). Compares equal only to itself.
template <class T>
Value wrap(T object) {
  return detail::wrap_object(std::make_shared<const T>(std::move(object)), typeid(T));
}
// The object, or nullptr if `value` does not hold a T.
template <class T>
const T* unwrap(const Value& value) {
  return static_cast<const T*>(detail::unwrap_object(value, typeid(T)));
}

}  // namespace clew

// Serializers turn values into the (tag, bytes) pairs that checkpointers store.
//
//   JsonPlusSerializer serializer;
//   TypedBytes stored = serializer.dumps_typed(value);       // {"msgpack", ...}
//   Value back = serializer.loads_typed(stored);
//
// JsonPlusSerializer writes what LangGraph's serializer of that name reads, and
// reads everything it ever wrote. Loading runs nothing: objects of classes that
// Clew does not know stay inert, can be looked into (extension.hpp), and are
// written back byte for byte.
//
// Serializers are immutable once made; all methods may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>

#include <clew/dialect.hpp>
#include <clew/extension.hpp>
#include <clew/value.hpp>

namespace clew {

// A stored value: its tag says how to read the bytes.
struct TypedBytes {
  std::string tag;
  std::string bytes;

  friend bool operator==(const TypedBytes&, const TypedBytes&) = default;
};

class Serializer {
 public:
  Serializer() = default;
  Serializer(const Serializer&) = delete;
  Serializer& operator=(const Serializer&) = delete;
  virtual ~Serializer() = default;

  // Throws SerdeError that names what in the value cannot be stored.
  virtual TypedBytes dumps_typed(const Value& value) const = 0;

  // Throws SerdeError if the tag is unknown or the bytes are damaged.
  virtual Value loads_typed(std::string_view tag, std::string_view bytes) const = 0;

  Value loads_typed(const TypedBytes& stored) const {
    return loads_typed(stored.tag, stored.bytes);
  }
};

// Makes C++ types storable that a program keeps in its state as they are:
//
//   struct Point { double x, y; };
//   CLEW_JSON(Point, x, y)
//
//   auto types = std::make_shared<TypeRegistry>();
//   types->add<Point>("geometry.Point");
//   JsonPlusSerializer serializer({.types = types});
//   serializer.dumps_typed(wrap(Point{1, 2}));      // loads as wrap(Point{1, 2})
//
// The tag is a Python class path. A Python program that has a dataclass of that
// name gets an object of it; any other gets the fields. Add types before the
// registry is given to a serializer.
class TypeRegistry {
 public:
  // A type with CLEW_JSON, or to_value() and from_value(). Throws Error if the
  // tag is not "module.Name" or either is registered already.
  template <class T>
  void add(std::string_view tag) {
    add<T>(
        tag, [](const T& object) { return Value(object); },
        [](const Value& fields) { return fields.get<T>(); });
  }

  // Any other type. `encode` gives an object of fields or a single value;
  // `decode` is handed the same.
  template <class T>
  void add(std::string_view tag, std::function<Value(const T&)> encode,
           std::function<T(const Value&)> decode) {
    add_type(
        typeid(T), tag,
        [encode = std::move(encode)](const Value& wrapped) { return encode(*unwrap<T>(wrapped)); },
        [decode = std::move(decode)](const Value& fields) { return wrap<T>(decode(fields)); });
  }

  // The extension that stores a wrapped object. Throws ValueError that names
  // the type if it is not registered.
  Value to_extension(const Value& wrapped) const;

  // The wrapped object, or `extension` itself if its class is not registered.
  Value from_extension(Value extension) const;

 private:
  using Conversion = std::function<Value(const Value&)>;
  struct Type {
    std::string module;
    std::string name;
    Conversion encode;
    Conversion decode;
  };

  void add_type(const std::type_info& type, std::string_view tag, Conversion encode,
                Conversion decode);

  std::unordered_map<std::type_index, std::shared_ptr<const Type>> by_type_;
  std::unordered_map<std::string, std::shared_ptr<const Type>> by_tag_;
};

struct JsonPlusOptions {
  // C++ types that may be stored. Null: none.
  std::shared_ptr<const TypeRegistry> types;

  // How to understand rows of tag "json": as written by old Python versions, or
  // by LangGraph.js.
  Dialect json_dialect = Dialect::python;

  // Nesting beyond this is refused on reading and writing.
  std::size_t max_depth = 1023;
};

// Tags: "null", "bytes", "bytearray" for these at the top level, "msgpack" for
// everything else; "json" is read. A "pickle" row is kept as opaque bytes.
class JsonPlusSerializer final : public Serializer {
 public:
  explicit JsonPlusSerializer(JsonPlusOptions options = {});

  using Serializer::loads_typed;
  TypedBytes dumps_typed(const Value& value) const override;
  Value loads_typed(std::string_view tag, std::string_view bytes) const override;

  const JsonPlusOptions& options() const { return options_; }

 private:
  JsonPlusOptions options_;
};

}  // namespace clew

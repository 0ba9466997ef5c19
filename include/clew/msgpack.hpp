// MessagePack, as LangGraph's serializer writes it: shortest forms, 64-bit
// floats, and extensions for everything typed (extension.hpp).
//
//   std::string bytes = to_msgpack(Value{{"a", {1, 2.5, nullptr}}});
//   Value back = from_msgpack(bytes);
//
// Reading is safe on any input: it is bounded in depth and size, allocates no
// more than a small multiple of the input, and throws SerdeError with the byte
// offset and the reason. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew {

struct MsgpackReadOptions {
  // Lists, maps and extensions inside one another. Python's reader stops here too.
  std::size_t max_depth = 1023;

  // Longest input, in bytes.
  std::size_t max_bytes = std::size_t{1} << 31;

  // Most elements of one list or entries of one map.
  std::size_t max_elements = std::size_t{1} << 27;

  // Keep every entry of a map whose keys repeat (as a Kind::map), to show what
  // the bytes say. Otherwise the last one wins, as everywhere.
  bool keep_repeated_keys = false;

  // Called for every extension; its result takes the extension's place.
  std::function<Value(Value)> on_extension;
};

// Throws SerdeError on anything that is not exactly one well-formed value.
Value from_msgpack(std::string_view bytes, const MsgpackReadOptions& options = {});

struct MsgpackWriteOptions {
  std::size_t max_depth = 1023;

  // Called for every wrapped C++ object (see wrap()); its result, an extension,
  // is written instead. Without it such objects are refused.
  std::function<Value(const Value&)> on_host;
};

// Throws SerdeError that names the path of what MessagePack cannot hold: an
// integer beyond 64 bits, text that is not UTF-8, a map key that is no scalar,
// a C++ object.
std::string to_msgpack(const Value& value, const MsgpackWriteOptions& options = {});

// One element of a MessagePack document as it stands in the input.
struct MsgpackToken {
  enum class Type {
    null,
    boolean,
    integer,
    unsigned_integer,
    floating,
    string,
    bytes,
    list,
    map,
    extension
  };

  Type type = Type::null;
  std::int64_t integer = 0;            // integer; boolean as 0 or 1
  std::uint64_t unsigned_integer = 0;  // unsigned_integer: what does not fit `integer`
  double floating = 0;
  std::string_view text;    // string, bytes, extension: a view into the input
  std::uint32_t count = 0;  // list: elements; map: entries (a key and a value each)
  std::int8_t code = 0;     // extension
  std::size_t offset = 0;   // where it starts
};

// Reads a document token by token without building values and without copying:
// for those who look for one thing in a large document. A list or map token is
// followed by its elements' tokens.
class MsgpackReader {
 public:
  // `bytes` must outlive the reader and the views it hands out.
  explicit MsgpackReader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return position_ == bytes_.size(); }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

  // Throws SerdeError if the input ends early or the bytes mean nothing.
  // Counts larger than what the remaining bytes could hold are refused here.
  MsgpackToken next();

  // Steps over the next value with all it contains.
  void skip();

 private:
  template <class Integer>
  Integer take();
  std::string_view take_text(std::size_t size);
  [[noreturn]] void fail(const std::string& reason) const;
  void expect_count(MsgpackToken& token, std::uint64_t count, std::size_t bytes_each);

  std::string_view bytes_;
  std::size_t position_ = 0;
};

}  // namespace clew

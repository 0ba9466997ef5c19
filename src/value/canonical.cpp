#include <clew/canonical.hpp>

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <clew/extension.hpp>

#include "value/float_text.hpp"
#include "value/hex.hpp"

namespace clew {

namespace {

// More than the MessagePack decoder lets in, and far less than the stack holds.
constexpr int kMaxDepth = 1100;

// The largest integer that every JSON reader gives back exactly.
constexpr std::int64_t kMaxExactInteger = (std::int64_t{1} << 53) - 1;

Value canonical_at(const Value& value, int depth);

Value hex(const Value& bytes) { return internal::to_hex(bytes.as_bytes()); }

Value integer(const Value& value) {
  const bool exact =
      value.is_int() && value.as_int() >= -kMaxExactInteger && value.as_int() <= kMaxExactInteger;
  return exact ? value : object({{"$int", value.integer_text()}});
}

Value floating(double number) {
  char text[internal::kFloatTextSize];
  return object({{"$float", std::string_view(text, internal::write_float(number, text))}});
}

Value elements(const Value& values, int depth) {
  ListBuilder described;
  for (const Value& element : values) described.push_back(canonical_at(element, depth));
  return std::move(described).build();
}

Value entries(const std::vector<std::pair<Value, Value>>& map, int depth) {
  ListBuilder described;
  for (const auto& [key, value] : map) {
    described.push_back(list({canonical_at(key, depth), canonical_at(value, depth)}));
  }
  return object({{"$map", std::move(described).build()}});
}

bool is_plain_key(std::string_view key) { return !key.starts_with('$'); }

Value fields(const Value& value, int depth) {
  for (const auto& [key, field] : value.items()) {
    if (!is_plain_key(key)) return entries(value.as_map(), depth);
  }
  ObjectBuilder described;
  for (const auto& [key, field] : value.items()) described.set(key, canonical_at(field, depth));
  return std::move(described).build();
}

// A map that an object could have held as well looks like one.
Value map(const Value& value, int depth) {
  const auto pairs = value.as_map();
  std::unordered_set<std::string_view> keys;
  for (const auto& [key, field] : pairs) {
    const bool fits = key.is_string() && is_plain_key(key.as_string());
    if (!fits || !keys.insert(key.as_string()).second) return entries(pairs, depth);
  }
  ObjectBuilder described;
  for (const auto& [key, field] : pairs) {
    described.set(key.as_string(), canonical_at(field, depth));
  }
  return std::move(described).build();
}

// What the payload of an object of a class is called; empty for the other codes.
std::string_view payload_name(ExtensionCode code) {
  switch (code) {
    case ExtensionCode::construct:
    case ExtensionCode::call_method: return "arg";
    case ExtensionCode::construct_args: return "args";
    case ExtensionCode::construct_kwargs:
    case ExtensionCode::pydantic_v1:
    case ExtensionCode::pydantic_v2: return "kwargs";
    default: return {};
  }
}

Value instance(const Extension& extension, std::string_view payload_key, int depth) {
  ObjectBuilder described;
  described.set("$ext", static_cast<int>(extension.code));
  described.set("module", extension.module);
  described.set("name", extension.name);
  described.set(payload_key, canonical_at(extension.payload, depth));
  const bool has_method =
      extension.code == ExtensionCode::call_method || extension.code == ExtensionCode::pydantic_v2;
  if (has_method) described.set("method", extension.method);
  return std::move(described).build();
}

Value extension(const Extension& extension, int depth) {
  const int code = static_cast<int>(extension.code);
  const Value& payload = extension.payload;
  if (extension.is_raw) return object({{"$ext", code}, {"raw", hex(payload)}});
  switch (extension.code) {
    case ExtensionCode::ndarray:
      return object({{"$ext", code},
                     {"dtype", canonical_at(payload[0], depth)},
                     {"shape", canonical_at(payload[1], depth)},
                     {"order", canonical_at(payload[2], depth)},
                     {"data", hex(payload[3])}});
    case ExtensionCode::delta_snapshot:
      return object({{"$ext", code}, {"value", canonical_at(payload, depth)}});
    case ExtensionCode::bytearray: return object({{"$bytearray", hex(payload)}});
    case ExtensionCode::pickle: return object({{"$pickle", hex(payload)}});
    case ExtensionCode::host:
      throw SerdeError("a C++ object of type " + std::string(extension.name) +
                       " has no canonical form; convert it to a Value first");
    default: return instance(extension, payload_name(extension.code), depth);
  }
}

Value canonical_at(const Value& value, int depth) {
  if (depth > kMaxDepth) throw SerdeError("the value is nested deeper than 1100 levels");
  switch (value.kind()) {
    case Kind::null:
    case Kind::boolean:
    case Kind::string: return value;
    case Kind::integer:
    case Kind::big_integer: return integer(value);
    case Kind::floating: return floating(value.as_double());
    case Kind::bytes: return object({{"$bytes", hex(value)}});
    case Kind::list: return elements(value, depth + 1);
    case Kind::object: return fields(value, depth + 1);
    case Kind::map: return map(value, depth + 1);
    case Kind::extension: return extension(value.as_extension(), depth + 1);
  }
  return value;
}

}  // namespace

Value canonical(const Value& value) { return canonical_at(value, 0); }

}  // namespace clew

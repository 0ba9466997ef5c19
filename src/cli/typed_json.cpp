#include "cli/typed_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <openssl/evp.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>
#include <clew/serde.hpp>

#include "value/utf8.hpp"

namespace clew::cli {
namespace {

constexpr std::string_view kType = "$type";

bool is_utf8(std::string_view text) {
  return internal::find_invalid_utf8(text) == std::string_view::npos;
}

bool has_plain_keys(const Value& object) {
  for (auto [key, entry] : object.items()) {
    if (key.starts_with('$') || !is_utf8(key)) return false;
  }
  return true;
}

// Plain content, where there is any.
Value readable(const Value& value) {
  try {
    return parse_json(to_json(value, {.non_finite = NonFinite::null}));
  } catch (const SerdeError&) {
    return {};
  }
}

Value typed(const Value& value) {
  const TypedBytes stored = JsonPlusSerializer().dumps_typed(value);
  return object({{kType, stored.tag},
                 {"base64", Value::bytes(stored.bytes)},  // which JSON writes so
                 {"json", readable(value)}});
}

// Throws Error if it is not base64.
std::string decode_base64(std::string_view text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes(text.size() / 4 * 3, '\0');
  const bool fits = text.size() % 4 == 0 &&
                    text.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  const int size = fits ? EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                          reinterpret_cast<const unsigned char*>(text.data()),
                                          static_cast<int>(text.size()))
                        : -1;
  if (size < 0) throw Error("what stands under \"base64\" is not base64");
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

}  // namespace

Value to_typed_json(const Value& value) {
  switch (value.kind()) {
    case Kind::null:
    case Kind::boolean:
    case Kind::integer:
    case Kind::big_integer: return value;
    case Kind::floating: return std::isfinite(value.as_double()) ? value : typed(value);
    case Kind::string: return is_utf8(value.as_string()) ? value : typed(value);
    case Kind::list: {
      ListBuilder elements;
      for (const Value& element : value) elements.push_back(to_typed_json(element));
      return std::move(elements).build();
    }
    case Kind::object: {
      if (!has_plain_keys(value)) return typed(value);
      ObjectBuilder entries;
      for (auto [key, entry] : value.items()) entries.set(key, to_typed_json(entry));
      return std::move(entries).build();
    }
    default: return typed(value);
  }
}

Value from_typed_json(const Value& json) {
  if (json.is_list()) {
    ListBuilder elements;
    for (const Value& element : json) elements.push_back(from_typed_json(element));
    return std::move(elements).build();
  }
  if (!json.is_object()) return json;
  if (json.contains(kType)) {
    return JsonPlusSerializer().loads_typed(json.get<std::string>(kType),
                                            decode_base64(json.get<std::string>("base64")));
  }
  ObjectBuilder entries;
  for (auto [key, entry] : json.items()) entries.set(key, from_typed_json(entry));
  return std::move(entries).build();
}

}  // namespace clew::cli

// The serializer on any tag and bytes: loading throws nothing but SerdeError,
// what was loaded can be looked at, and if it can be stored it stays the same.
//
// The first byte of the input picks the tag (its low three bits), the dialect
// of JSON (0x08) and whether C++ types are registered (0x10).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include <clew/canonical.hpp>
#include <clew/encrypted.hpp>
#include <clew/json.hpp>
#include <clew/serde.hpp>

namespace fuzz {

struct Point {
  double x = 0;
  std::optional<std::string> label;
};
CLEW_JSON(Point, x, label)

// A type whose stored form is a single value.
struct Celsius {
  std::int64_t degrees = 0;
};

}  // namespace fuzz

namespace {

using clew::Value;

constexpr std::string_view kTags[] = {"msgpack",   "json",   "null",        "bytes",
                                      "bytearray", "pickle", "msgpack+aes", "unknown"};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

std::shared_ptr<const clew::TypeRegistry> make_registry() {
  auto types = std::make_shared<clew::TypeRegistry>();
  types->add<fuzz::Point>("fuzz.Point");
  types->add<fuzz::Celsius>(
      "fuzz.Celsius", [](const fuzz::Celsius& celsius) { return Value(celsius.degrees); },
      [](const Value& degrees) { return fuzz::Celsius{degrees.as_int()}; });
  return types;
}

std::shared_ptr<const clew::Serializer> make_serializer(uint8_t choice) {
  static const auto kTypes = make_registry();
  clew::JsonPlusOptions options;
  if (choice & 0x08) options.json_dialect = clew::Dialect::javascript;
  if (choice & 0x10) options.types = kTypes;
  return std::make_shared<clew::JsonPlusSerializer>(options);
}

// Also rows that are encrypted, or should be.
std::shared_ptr<const clew::Serializer> with_encryption(
    std::shared_ptr<const clew::Serializer> inner) {
  static const auto kCipher = std::make_shared<clew::AesEaxCipher>("0123456789abcdef");
  clew::EncryptedOptions options;
  options.inner = std::move(inner);
  options.allow_plaintext = true;
  return std::make_shared<clew::EncryptedSerializer>(kCipher, options);
}

std::optional<Value> load(const clew::Serializer& serializer, std::string_view tag,
                          std::string_view bytes) {
  try {
    return serializer.loads_typed(tag, bytes);
  } catch (const clew::SerdeError&) {
    return std::nullopt;
  }
}

std::optional<clew::TypedBytes> store(const clew::Serializer& serializer, const Value& value) {
  try {
    return serializer.dumps_typed(value);
  } catch (const clew::SerdeError&) {
    return std::nullopt;
  }
}

void look_at(const Value& value) {
  value.hash();
  std::ostringstream() << value.type_name();
  try {
    clew::to_json(clew::canonical(value));
  } catch (const clew::SerdeError&) {
    // A wrapped C++ object has no canonical form.
  }
  try {
    clew::to_json(value, {.non_finite = clew::NonFinite::literal});
  } catch (const clew::SerdeError&) {
    // Nested deeper than JSON is written.
  }
}

void check_round_trip(const clew::Serializer& serializer, const Value& value, bool has_types) {
  const std::optional<clew::TypedBytes> stored = store(serializer, value);
  if (!stored) return;
  const std::optional<Value> again = load(serializer, stored->tag, stored->bytes);
  require(again.has_value(), "what was stored can be loaded");
  // A wrapped C++ object equals only itself; its stored form tells.
  require(has_types || *again == value, "what was stored is the same value");
  require(store(serializer, *again) == stored, "the same value is stored as the same bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const std::string_view tag = kTags[choice & 0x07];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto serializer = make_serializer(choice);
  const std::optional<Value> value = load(*with_encryption(serializer), tag, bytes);
  if (!value) return 0;
  look_at(*value);
  check_round_trip(*serializer, *value, (choice & 0x10) != 0);
  return 0;
}

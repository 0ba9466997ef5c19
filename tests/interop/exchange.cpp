#include "exchange.hpp"

#include <memory>
#include <string>

#include <clew/canonical.hpp>
#include <clew/encrypted.hpp>
#include <clew/json.hpp>

#include "random_value.hpp"
#include "vectors.hpp"

namespace clew::interop {
namespace {

std::unique_ptr<const Serializer> make_serializer(std::string_view key) {
  if (key.empty()) return std::make_unique<JsonPlusSerializer>();
  return std::make_unique<EncryptedSerializer>(std::make_shared<AesEaxCipher>(key));
}

Value describe(const Value& value, const Serializer& serializer) {
  const TypedBytes stored = serializer.dumps_typed(value);
  return object(
      {{"canonical", canonical(value)}, {"tag", stored.tag}, {"hex", to_hex(stored.bytes)}});
}

Value convert(const Value& line, const Serializer& serializer) {
  const std::string bytes = from_hex(line.at("hex").as_string());
  return describe(serializer.loads_typed(line.at("tag").as_string(), bytes), serializer);
}

void print_line(std::ostream& out, const Value& line) {
  out << to_json(line, {.ascii_only = true, .max_depth = 3000}) << '\n';
}

}  // namespace

void convert_lines(std::istream& in, std::ostream& out, std::string_view key) {
  const auto serializer = make_serializer(key);
  for (std::string line; std::getline(in, line);) {
    try {
      print_line(out, convert(parse_json(line), *serializer));
    } catch (const Error& error) {
      print_line(out, object({{"error", error.what()}}));
    }
  }
  out.flush();
}

void print_random(std::ostream& out, std::uint64_t seed, std::uint64_t count,
                  std::string_view key) {
  const auto serializer = make_serializer(key);
  RandomValues values(seed);
  for (std::uint64_t i = 0; i < count; ++i) print_line(out, describe(values.next(), *serializer));
  out.flush();
}

}  // namespace clew::interop

#include <clew/uuid.hpp>

#include <array>
#include <cstring>

#include <clew/error.hpp>

#include "value/random.hpp"
#include "value/sha1.hpp"

namespace clew {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

constexpr auto kHexValues = [] {
  std::array<std::int8_t, 256> values;
  values.fill(-1);
  for (int digit = 0; digit < 16; ++digit) {
    const char c = kHexDigits[digit];
    values[static_cast<unsigned char>(c)] = static_cast<std::int8_t>(digit);
    if (digit >= 10)
      values[static_cast<unsigned char>(c - 'a' + 'A')] = static_cast<std::int8_t>(digit);
  }
  return values;
}();

// Where the dashes are in the text form.
constexpr bool is_dash_position(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

char* write_hex(std::uint8_t byte, char* out) {
  *out++ = kHexDigits[byte >> 4];
  *out++ = kHexDigits[byte & 0xF];
  return out;
}

int hex_value(char c) { return kHexValues[static_cast<unsigned char>(c)]; }

[[noreturn]] void refuse(std::string_view text) {
  constexpr std::size_t kShown = 64;
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  throw ValueError("'" + shown +
                   "' is not a UUID; expected 32 hexadecimal digits, with dashes as in "
                   "1ef4f797-8335-6428-8001-8a1503f9b875 or without any");
}

}  // namespace

Uuid Uuid::parse(std::string_view text) {
  const bool dashed = text.size() == kTextSize;
  if (!dashed && text.size() != 32) refuse(text);
  Bytes bytes;
  std::size_t position = 0;
  for (std::uint8_t& byte : bytes) {
    if (dashed && is_dash_position(position)) {
      if (text[position] != '-') refuse(text);
      ++position;
    }
    const int high = hex_value(text[position]);
    const int low = hex_value(text[position + 1]);
    if ((high | low) < 0) refuse(text);
    byte = static_cast<std::uint8_t>(high << 4 | low);
    position += 2;
  }
  return Uuid(bytes);
}

std::string Uuid::to_string() const {
  char text[kTextSize];
  char* next = text;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *next++ = '-';
    next = write_hex(bytes_[i], next);
  }
  return std::string(text, kTextSize);
}

std::string Uuid::hex() const {
  char text[32];
  char* next = text;
  for (std::uint8_t byte : bytes_) next = write_hex(byte, next);
  return std::string(text, sizeof text);
}

Uuid uuid4() {
  Uuid::Bytes bytes;
  const std::uint64_t halves[] = {internal::random_bits(), internal::random_bits()};
  std::memcpy(bytes.data(), halves, bytes.size());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x40);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  return Uuid(bytes);
}

Uuid uuid5(const Uuid& name_space, std::string_view name) {
  std::string input(name_space.bytes().begin(), name_space.bytes().end());
  input += name;
  Uuid::Bytes bytes = internal::truncated_sha1(input);
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | 0x50);
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
  return Uuid(bytes);
}

}  // namespace clew

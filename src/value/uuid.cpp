#include <clew/uuid.hpp>

#include <clew/error.hpp>

#include "value/sha1.hpp"

namespace clew {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Where the dashes are in the text form.
constexpr bool is_dash_position(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

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
    if (high < 0 || low < 0) refuse(text);
    byte = static_cast<std::uint8_t>(high << 4 | low);
    position += 2;
  }
  return Uuid(bytes);
}

std::string Uuid::to_string() const {
  std::string text(kTextSize, '-');
  std::size_t position = 0;
  for (std::uint8_t byte : bytes_) {
    if (is_dash_position(position)) ++position;
    text[position++] = kHexDigits[byte >> 4];
    text[position++] = kHexDigits[byte & 0xF];
  }
  return text;
}

std::string Uuid::hex() const {
  std::string text(32, '0');
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    text[2 * i] = kHexDigits[bytes_[i] >> 4];
    text[2 * i + 1] = kHexDigits[bytes_[i] & 0xF];
  }
  return text;
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

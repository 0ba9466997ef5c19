#include <clew/uuid.hpp>

#include <algorithm>
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

constexpr auto kHexPairs = [] {
  std::array<std::array<char, 2>, 256> pairs;
  for (std::size_t byte = 0; byte < pairs.size(); ++byte) {
    pairs[byte] = {kHexDigits[byte >> 4], kHexDigits[byte & 0xF]};
  }
  return pairs;
}();

// Where the dashes are in the text form, and each byte's two digits.
constexpr std::array<std::size_t, 4> kDashes = {8, 13, 18, 23};
constexpr std::array<std::size_t, 16> kDigitsOf = {0,  2,  4,  6,  9,  11, 14, 16,
                                                   19, 21, 24, 26, 28, 30, 32, 34};

void write_hex(std::uint8_t byte, char* out) { std::memcpy(out, kHexPairs[byte].data(), 2); }

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
  const bool is_dashed = text.size() == kTextSize;
  if (!is_dashed && text.size() != 32) refuse(text);
  const auto is_dash = [&](std::size_t position) { return text[position] == '-'; };
  if (is_dashed && !std::all_of(kDashes.begin(), kDashes.end(), is_dash)) refuse(text);
  Bytes bytes;
  int all_digits = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t position = is_dashed ? kDigitsOf[i] : 2 * i;
    const int high = hex_value(text[position]);
    const int low = hex_value(text[position + 1]);
    all_digits |= high | low;
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (all_digits < 0) refuse(text);
  return Uuid(bytes);
}

std::string Uuid::to_string() const {
  char text[kTextSize];
  for (std::size_t i = 0; i < bytes_.size(); ++i) write_hex(bytes_[i], text + kDigitsOf[i]);
  for (const std::size_t dash : kDashes) text[dash] = '-';
  return std::string(text, kTextSize);
}

std::string Uuid::hex() const {
  char text[32];
  for (std::size_t i = 0; i < bytes_.size(); ++i) write_hex(bytes_[i], text + 2 * i);
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

// What of a text can stand in JSON as it is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace clew::internal {

// How many leading bytes of `text` stand for themselves in a JSON string.
// Eight at a time: each test sets the high bit of the bytes it is about, and of
// later ones by a carry at worst, so the lowest bit set is always right.
inline std::size_t plain_prefix(std::string_view text, bool ascii_only) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
  const auto every_byte = [](std::uint8_t byte) { return byte * 0x0101010101010101ULL; };
  const auto zero_bytes = [&](std::uint64_t word) { return (word - every_byte(1)) & ~word; };
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    std::uint64_t special = ((word - every_byte(0x20)) & ~word) |
                            zero_bytes(word ^ every_byte('"')) |
                            zero_bytes(word ^ every_byte('\\'));
    if (ascii_only) special |= word | (word + every_byte(1));
    special &= kHighBits;
    if (special != 0) return i + static_cast<std::size_t>(std::countr_zero(special)) / 8;
  }
  for (; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == '"' || c == '\\' || (ascii_only && c >= 0x7F)) break;
  }
  return i;
}

}  // namespace clew::internal

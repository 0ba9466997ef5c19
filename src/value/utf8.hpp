// UTF-8: finding what is not, and encoding and decoding code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace clew::internal {

// Whether text of at most a few words is ASCII. Inline because most keys and
// many strings are short, and a call would cost more than the look.
inline bool is_short_ascii(std::string_view text) {
  const char* data = text.data();
  const std::size_t size = text.size();
  if (size >= 8) {
    const auto word_at = [data](std::size_t offset) {
      std::uint64_t word;
      std::memcpy(&word, data + offset, 8);
      return word;
    };
    std::uint64_t bits = word_at(size - 8);
    for (std::size_t i = 0; i + 8 < size; i += 8) bits |= word_at(i);
    return (bits & 0x8080808080808080) == 0;
  }
  unsigned char bits = 0;
  for (char c : text) bits |= static_cast<unsigned char>(c);
  return bits < 0x80;
}

std::size_t find_invalid_utf8_in_long_text(std::string_view text);

// The offset of the first sequence that is not UTF-8 (overlong forms, surrogates
// and what lies past U+10FFFF are not), or npos if all of `text` is.
inline std::size_t find_invalid_utf8(std::string_view text) {
  constexpr std::size_t kShort = 64;
  if (text.size() <= kShort && is_short_ascii(text)) return std::string_view::npos;
  return find_invalid_utf8_in_long_text(text);
}

// How many bytes the character at the front of `text` takes; 0 if it is not valid.
std::size_t utf8_sequence_size(std::string_view text);

// The code point at the front of `text`, which is valid UTF-8 and not empty.
char32_t decode_utf8(std::string_view text);

// `code_point` is a Unicode scalar value: no surrogate, at most U+10FFFF.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace clew::internal

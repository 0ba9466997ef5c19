#include "value/utf8.hpp"

#include <simdjson.h>

namespace clew::internal {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t sequence_size_of_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation, or the lead of an overlong form
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

// The second byte alone tells overlong forms, surrogates and what is too large.
bool is_second_byte(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xE0: return second >= 0xA0 && second <= 0xBF;
    case 0xED: return second >= 0x80 && second <= 0x9F;
    case 0xF0: return second >= 0x90 && second <= 0xBF;
    case 0xF4: return second >= 0x80 && second <= 0x8F;
    default: return second >= 0x80 && second <= 0xBF;
  }
}

}  // namespace

std::size_t utf8_sequence_size(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = sequence_size_of_lead(lead);
  if (size <= 1) return size;
  if (text.size() < size || !is_second_byte(lead, static_cast<unsigned char>(text[1]))) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  return size;
}

std::size_t find_invalid_utf8_in_long_text(std::string_view text) {
  constexpr std::size_t kWorthTheCall = 64;
  if (text.size() > kWorthTheCall && simdjson::validate_utf8(text.data(), text.size())) {
    return std::string_view::npos;
  }
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = utf8_sequence_size(text.substr(i));
    if (size == 0) return i;
    i += size;
  }
  return std::string_view::npos;
}

char32_t decode_utf8(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [byte](std::size_t i) { return static_cast<char32_t>(byte(i) & 0x3F); };
  switch (sequence_size_of_lead(byte(0))) {
    case 2: return static_cast<char32_t>(byte(0) & 0x1F) << 6 | tail(1);
    case 3: return static_cast<char32_t>(byte(0) & 0x0F) << 12 | tail(1) << 6 | tail(2);
    case 4:
      return static_cast<char32_t>(byte(0) & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
    default: return byte(0);
  }
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

}  // namespace clew::internal

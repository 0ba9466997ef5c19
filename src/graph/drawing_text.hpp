// Names of nodes where not every character may stand.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "value/utf8.hpp"

namespace clew {

// The text with a backslash and the code point in hexadecimal for every
// character that `is_allowed` refuses. Bytes that are no UTF-8 count as characters.
template <class IsAllowed>
std::string escape_characters(std::string_view text, IsAllowed is_allowed) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = internal::utf8_sequence_size(text);
    const char32_t character =
        size > 0 ? internal::decode_utf8(text) : static_cast<unsigned char>(text.front());
    if (is_allowed(character)) {
      result += static_cast<char>(character);
    } else {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\%x", static_cast<unsigned>(character));
      result += escape;
    }
    text.remove_prefix(size > 0 ? size : 1);
  }
  return result;
}

}  // namespace clew

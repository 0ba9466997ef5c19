#include "cli/console.hpp"

#include <algorithm>
#include <array>

#include "value/utf8.hpp"

namespace clew::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Blocks of characters that terminals show two columns wide.
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
    Range{0xA960, 0xA97C},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
    Range{0x20000, 0x3FFFD},
};

// Those that join the character before them.
constexpr std::array kNarrow = {
    Range{0x0300, 0x036F}, Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF},
    Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};

template <std::size_t size>
bool is_in(const std::array<Range, size>& ranges, char32_t code_point) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

std::size_t width_of(char32_t code_point) {
  if (is_in(kNarrow, code_point)) return 0;
  return is_in(kWide, code_point) ? 2 : 1;
}

// The first character of a text that is not empty. A byte that is not UTF-8 counts
// as one.
struct Character {
  char32_t code_point;
  std::string_view bytes;
};

Character first_character(std::string_view text) {
  const std::size_t size = internal::utf8_sequence_size(text);
  if (size == 0) return {0xFFFD, text.substr(0, 1)};
  return {internal::decode_utf8(text), text.substr(0, size)};
}

bool is_control(char32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

void append_escape(std::string& line, char32_t code_point) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  switch (code_point) {
    case '\n': line += "\\n"; return;
    case '\r': line += "\\r"; return;
    case '\t': line += "\\t"; return;
    default: break;
  }
  line += "\\x";
  line += kDigits[(code_point >> 4) & 0xF];
  line += kDigits[code_point & 0xF];
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::bold: return "1";
    case Style::dim: return "2";
    case Style::red: return "31";
    case Style::green: return "32";
    case Style::yellow: return "33";
    case Style::blue: return "34";
    case Style::magenta: return "35";
    case Style::cyan: return "36";
  }
  return "";
}

}  // namespace

std::string Console::styled(Style style, std::string_view text) const {
  if (!has_colour || style == Style::plain || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code_of(style)) + "m" + std::string(text) + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += width_of(character.code_point);
    text.remove_prefix(character.bytes.size());
  }
  return width;
}

std::string one_line(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (is_control(character.code_point)) {
      append_escape(line, character.code_point);
    } else if (internal::utf8_sequence_size(text) == 0) {
      append_escape(line, static_cast<unsigned char>(text.front()));
    } else {
      line += character.bytes;
    }
    text.remove_prefix(character.bytes.size());
  }
  return line;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  std::string kept;
  std::size_t used = 0;
  while (true) {
    const Character character = first_character(text);
    used += width_of(character.code_point);
    if (used > width - 1) return kept + "…";
    kept += character.bytes;
    text.remove_prefix(character.bytes.size());
  }
}

}  // namespace clew::cli

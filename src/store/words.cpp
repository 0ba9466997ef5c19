#include <algorithm>

#include "store/word_index.hpp"
#include "value/utf8.hpp"

namespace clew::store {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

bool is_in(char32_t code_point, std::span<const Range> ranges) {
  return std::ranges::any_of(ranges, [&](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

// Scripts that put no spaces between words: kana and Han.
constexpr Range kWordEach[] = {{0x3041, 0x309F}, {0x30A1, 0x30FF},  {0x31F0, 0x31FF},
                               {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},  {0xF900, 0xFAFF},
                               {0xFF66, 0xFF9F}, {0x20000, 0x3FFFD}};

// Spaces, punctuation and signs beyond ASCII. All else there counts as letters.
constexpr Range kNoLetters[] = {
    {0x0080, 0x00A9}, {0x00AB, 0x00B4}, {0x00B6, 0x00B9}, {0x00BB, 0x00BF}, {0x00D7, 0x00D7},
    {0x00F7, 0x00F7}, {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2190, 0x2BFF}, {0x3000, 0x3004},
    {0x3008, 0x3020}, {0x3030, 0x3030}, {0xFE00, 0xFE6F}, {0xFEFF, 0xFEFF}, {0xFF01, 0xFF0F},
    {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40}, {0xFF5B, 0xFF65}, {0xFFF0, 0xFFFF}};

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_ascii_letter_or_digit(char c) {
  c = to_lower(c);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Gathers the words of a text, character by character.
class WordList {
 public:
  // A character of the current word.
  void add(std::string_view character) {
    for (const char c : character) word_ += to_lower(c);
  }
  void end_word() {
    if (!word_.empty()) words_.push_back(std::move(word_));
    word_.clear();
  }
  std::vector<std::string> take() && {
    end_word();
    return std::move(words_);
  }

 private:
  std::string word_;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  WordList words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size =
        std::max<std::size_t>(1, internal::utf8_sequence_size(text.substr(at)));
    const std::string_view character = text.substr(at, size);
    at += size;
    const bool is_one_byte = size == 1;
    const char32_t code_point = is_one_byte ? 0 : internal::decode_utf8(character);
    if (is_one_byte ? is_ascii_letter_or_digit(character[0]) : !is_in(code_point, kNoLetters)) {
      const bool is_word = !is_one_byte && is_in(code_point, kWordEach);
      if (is_word) words.end_word();
      words.add(character);
      if (is_word) words.end_word();
    } else {
      words.end_word();
    }
  }
  return std::move(words).take();
}

}  // namespace clew::store

#include "value/utf8.hpp"

#include <string>

#include <gtest/gtest.h>

namespace clew::internal {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Looks at `sequence` alone, and at every place of texts short and long enough
// to be checked by each of the ways there are.
void expect_invalid(std::string_view sequence) {
  EXPECT_EQ(find_invalid_utf8(sequence), 0U);
  EXPECT_EQ(utf8_sequence_size(sequence), 0U);
  for (std::size_t before = 0; before < 140; ++before) {
    const std::string text = std::string(before, 'a') + std::string(sequence);
    EXPECT_EQ(find_invalid_utf8(text), before);
    EXPECT_EQ(find_invalid_utf8(text + std::string(30, 'b')), before);
  }
}

void expect_valid(std::string_view sequence) {
  EXPECT_EQ(find_invalid_utf8(sequence), kNone);
  EXPECT_EQ(utf8_sequence_size(sequence), sequence.size());
  for (std::size_t before = 0; before < 140; ++before) {
    const std::string text = std::string(before, 'a') + std::string(sequence);
    EXPECT_EQ(find_invalid_utf8(text), kNone);
    EXPECT_EQ(find_invalid_utf8(text + std::string(30, 'b')), kNone);
  }
}

TEST(Utf8, AcceptsTheEdgesOfEachLength) {
  EXPECT_EQ(find_invalid_utf8(""), kNone);
  expect_valid(std::string_view("\0", 1));
  expect_valid("\x7F");
  expect_valid("\xC2\x80");          // U+0080
  expect_valid("\xDF\xBF");          // U+07FF
  expect_valid("\xE0\xA0\x80");      // U+0800
  expect_valid("\xED\x9F\xBF");      // U+D7FF
  expect_valid("\xEE\x80\x80");      // U+E000
  expect_valid("\xEF\xBF\xBF");      // U+FFFF
  expect_valid("\xF0\x90\x80\x80");  // U+10000
  expect_valid("\xF4\x8F\xBF\xBF");  // U+10FFFF
}

TEST(Utf8, FindsWhatIsNotUtf8) {
  expect_invalid("\x80");
  expect_invalid("\xBF");
  expect_invalid("\xC0\x80");          // overlong
  expect_invalid("\xC1\xBF");          // overlong
  expect_invalid("\xE0\x9F\xBF");      // overlong
  expect_invalid("\xF0\x8F\xBF\xBF");  // overlong
  expect_invalid("\xED\xA0\x80");      // a surrogate
  expect_invalid("\xED\xBF\xBF");      // a surrogate
  expect_invalid("\xF4\x90\x80\x80");  // past U+10FFFF
  expect_invalid("\xF5\x80\x80\x80");
  expect_invalid("\xFE");
  expect_invalid("\xFF");
  expect_invalid("\xC3");          // cut short
  expect_invalid("\xE2\x82");      // cut short
  expect_invalid("\xF0\x9F\x98");  // cut short
  expect_invalid("\xC3(");
  expect_invalid("\xE2\x82(");
  expect_invalid("\xF0\x9F(\x80");
}

TEST(Utf8, ReportsTheFirstOfSeveral) {
  EXPECT_EQ(find_invalid_utf8("\u00e9\u20ac\U0001F600\xFF\xFE"), 9U);
  EXPECT_EQ(find_invalid_utf8("a\xE2\x82\xAC\xE2\x82"), 4U);
}

TEST(Utf8, EveryCodePointIsEncodedAndDecoded) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    append_utf8(text, code_point);
    const std::size_t size = code_point < 0x80      ? 1
                             : code_point < 0x800   ? 2
                             : code_point < 0x10000 ? 3
                                                    : 4;
    ASSERT_EQ(utf8_sequence_size(text), size) << static_cast<unsigned>(code_point);
    ASSERT_EQ(text.size(), size);
    ASSERT_EQ(decode_utf8(text), code_point);
  }
}

TEST(Utf8, AppendsToWhatIsThere) {
  std::string text = "a";
  append_utf8(text, U'\u00e9');
  append_utf8(text, U'\U0001F600');
  EXPECT_EQ(text, "a\u00e9\U0001F600");
}

}  // namespace
}  // namespace clew::internal

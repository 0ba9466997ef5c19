#include "cli/value_view.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include <clew/messages.hpp>

namespace clew::cli {
namespace {

std::string shown(const Value& value, std::size_t width, bool is_full = false) {
  std::ostringstream out;
  std::ostringstream error;
  Console console{.out = out, .error = error, .width = width};
  print_value(console, value, 0, {.full = is_full});
  return out.str();
}

TEST(ValueView, EntriesStandBelowEachOther) {
  EXPECT_EQ(shown({{"place", "Rome"}, {"n", 1}, {"empty", ""}, {"tags", {"a", "b"}}}, 80),
            "place  Rome\n"
            "n      1\n"
            "empty  \"\"\n"
            "tags   [\"a\",\"b\"]\n");
}

TEST(ValueView, TextsAreCutWhereTheTerminalEnds) {
  EXPECT_EQ(shown({{"text", "one two three four"}}, 16), "text  one two t…\n");
  EXPECT_EQ(shown({{"text", "你好你好你好你好"}}, 16), "text  你好你好…\n");
  EXPECT_EQ(shown({{"text", "one\ntwo"}}, 80), "text  one\\ntwo\n");
  EXPECT_EQ(shown({{"text", "one\ntwo\x1b"}}, 8, true), "text  one\n      two\\x1b\n");
}

TEST(ValueView, MessagesAreLinesOfTheirRoles) {
  const Value call =
      AIMessage{.tool_calls = {{.name = "search", .args = {{"query", "inns"}}, .id = "c"}}};
  EXPECT_EQ(shown({{"messages", list({HumanMessage{.content = "hi"}, call})}}, 80),
            "messages  2 messages\n"
            "  human  hi\n"
            "  ai     → search(query=\"inns\")\n");
}

TEST(ValueView, LongListsShowTheirEnds) {
  ListBuilder builder;
  for (int i = 0; i < 30; ++i) builder.push_back("element " + std::to_string(i));
  const std::string text = shown(std::move(builder).build(), 80);
  EXPECT_NE(text.find("- element 9\n… 10 more, see --full\n- element 20\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace clew::cli

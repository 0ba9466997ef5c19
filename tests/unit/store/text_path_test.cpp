#include "store/text_path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace clew::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Value kItem{{"text", "hello"},
                  {"n", 42},
                  {"f", 1.5},
                  {"b", true},
                  {"none", nullptr},
                  {"tags", {"x", "y"}},
                  {"rows", {{{"t", "one"}}, {{"t", "two"}}, {{"u", "three"}}}},
                  {"meta", {{"title", "T"}, {"deep", {{"k", "é"}}}}}};

std::vector<std::string> texts(std::string_view path) { return TextPath(path).texts(kItem); }

TEST(TextPath, NamesLeadInwards) {
  EXPECT_THAT(texts("text"), ElementsAre("hello"));
  EXPECT_THAT(texts("meta.title"), ElementsAre("T"));
  EXPECT_THAT(texts("meta.deep.k"), ElementsAre("é"));
  EXPECT_THAT(texts("meta.missing"), IsEmpty());
  EXPECT_THAT(texts("text.missing"), IsEmpty());
}

TEST(TextPath, NumbersAndBooleansReadAsInPython) {
  EXPECT_THAT(texts("n"), ElementsAre("42"));
  EXPECT_THAT(texts("f"), ElementsAre("1.5"));
  EXPECT_THAT(texts("b"), ElementsAre("True"));
  EXPECT_THAT(texts("none"), IsEmpty());
}

TEST(TextPath, ListsAreTakenByIndexOrWhole) {
  EXPECT_THAT(texts("tags[0]"), ElementsAre("x"));
  EXPECT_THAT(texts("tags[-1]"), ElementsAre("y"));
  EXPECT_THAT(texts("tags[*]"), ElementsAre("x", "y"));
  EXPECT_THAT(texts("tags.*"), ElementsAre("x", "y"));
  EXPECT_THAT(texts("rows[*].t"), ElementsAre("one", "two"));
  EXPECT_THAT(texts("rows[1].t"), ElementsAre("two"));
  EXPECT_THAT(texts("tags[2]"), IsEmpty());
  EXPECT_THAT(texts("tags[-3]"), IsEmpty());
  EXPECT_THAT(texts("tags[x]"), IsEmpty());
  EXPECT_THAT(texts("text[0]"), IsEmpty());
  EXPECT_THAT(texts("tags"), ElementsAre(R"(["x", "y"])"));
}

TEST(TextPath, ObjectsAreTakenByFieldsOrWhole) {
  EXPECT_THAT(texts("meta.*"), ElementsAre("T", R"({"k": "é"})"));
  EXPECT_THAT(texts("meta.{title, deep.k, missing}"), ElementsAre("T", "é"));
  EXPECT_THAT(texts("meta.deep"), ElementsAre(R"({"k": "é"})"));
  EXPECT_THAT(texts("{text,n}"), ElementsAre("hello", "42"));
}

TEST(TextPath, TheWholeValueIsJsonWithSortedKeys) {
  const Value item{{"b", 1}, {"a", {{"z", "é"}, {"y", nullptr}}}};
  const std::string whole = R"({"a": {"y": null, "z": "é"}, "b": 1})";
  EXPECT_THAT(TextPath("$").texts(item), ElementsAre(whole));
  EXPECT_THAT(TextPath("").texts(item), ElementsAre(whole));
}

}  // namespace
}  // namespace clew::store

#include <gtest/gtest.h>

#include <clew/drawing.hpp>
#include <clew/errors.hpp>

namespace clew {
namespace {

// What LangGraph writes is compared in drawing_test.cpp; this is the rest.

TEST(Mermaid, HasOptions) {
  const DrawableGraph drawing{
      .nodes = {{"a", "a"}, {"b", "b"}, {"c", "c"}},
      .edges = {{"a", "b", "one two three", true}, {"b", "c", "one two", false}}};
  MermaidOptions options;
  options.curve_style = "basis";
  options.node_colors.first = "fill:red";
  options.wrap_label_n_words = 2;
  EXPECT_EQ(drawing.draw_mermaid(options),
            "---\n"
            "config:\n"
            "  flowchart:\n"
            "    curve: basis\n"
            "---\n"
            "graph TD;\n"
            "\ta([a]):::first\n"
            "\tb(b)\n"
            "\tc([c]):::last\n"
            "\ta -. &nbsp;one two&nbsp<br>&nbspthree&nbsp; .-> b;\n"
            "\tb -- &nbsp;one two&nbsp; --> c;\n"
            "\tclassDef default fill:#f2f0ff,line-height:1.2\n"
            "\tclassDef first fill:red\n"
            "\tclassDef last fill:#bfb6fc\n");
}

TEST(Mermaid, WithoutStylesHasOnlyEdges) {
  const DrawableGraph drawing{
      .nodes = {{"a", "a"}, {"s:b", "b"}, {"s:c", "c"}, {"t:d", "d"}},
      .edges = {{"a", "s:b"}, {"s:b", "s:c"}, {"s:c", "t:d", std::nullopt, true}}};
  EXPECT_EQ(drawing.draw_mermaid({.with_styles = false}),
            "graph TD;\n"
            "\ta --> s\\3ab;\n"
            "\ts\\3ac -.-> t\\3ad;\n"
            "\tsubgraph s\n"
            "\ts\\3ab --> s\\3ac;\n"
            "\tend\n");
}

// LangGraph leaves out what is in a subgraph that has no edge of its own.
TEST(Mermaid, ShowsSubgraphsThatOnlyHoldASubgraph) {
  const DrawableGraph drawing{
      .nodes = {{"first", "first"}, {"outer:inner:a", "a"}, {"outer:inner:b", "b"}},
      .edges = {{"first", "outer:inner:a"}, {"outer:inner:a", "outer:inner:b"}}};
  EXPECT_EQ(drawing.draw_mermaid(),
            "---\n"
            "config:\n"
            "  flowchart:\n"
            "    curve: linear\n"
            "---\n"
            "graph TD;\n"
            "\tfirst([first]):::first\n"
            "\tfirst --> outer\\3ainner\\3aa;\n"
            "\tsubgraph outer\n"
            "\tsubgraph inner\n"
            "\touter\\3ainner\\3aa(a)\n"
            "\touter\\3ainner\\3ab([b]):::last\n"
            "\touter\\3ainner\\3aa --> outer\\3ainner\\3ab;\n"
            "\tend\n"
            "\tend\n"
            "\tclassDef default fill:#f2f0ff,line-height:1.2\n"
            "\tclassDef first fill-opacity:0\n"
            "\tclassDef last fill:#bfb6fc\n");
}

TEST(Mermaid, RefusesTwoSubgraphsOfOneName) {
  const DrawableGraph drawing{
      .nodes = {{"a:x:1", "1"}, {"a:x:2", "2"}, {"b:x:1", "1"}, {"b:x:2", "2"}},
      .edges = {{"a:x:1", "a:x:2"}, {"b:x:1", "b:x:2"}, {"a:x:2", "b:x:1"}}};
  try {
    drawing.draw_mermaid();
    FAIL() << "drawn";
  } catch (const GraphError& error) {
    EXPECT_STREQ(error.what(),
                 "two subgraphs are called 'x', which Mermaid cannot tell apart; "
                 "rename one of the nodes");
  }
}

}  // namespace
}  // namespace clew

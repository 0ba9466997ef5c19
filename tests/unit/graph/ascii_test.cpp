#include <random>

#include <gtest/gtest.h>

#include <clew/drawing.hpp>
#include <clew/errors.hpp>
#include <clew/types.hpp>

#include "unit/graph/picture.hpp"

namespace clew {
namespace {

// "a>b" is an edge, "a..b" a conditional one; nodes appear as they are named.
DrawableGraph graph_of(const std::vector<std::string>& edges) {
  DrawableGraph graph;
  const auto add_node = [&](const std::string& id) {
    for (const DrawableGraph::Node& node : graph.nodes) {
      if (node.id == id) return;
    }
    graph.nodes.push_back({id, id});
  };
  for (const std::string& text : edges) {
    const std::size_t arrow = std::min(text.find('>'), text.find(".."));
    const bool conditional = text[arrow] == '.';
    const std::string source = text.substr(0, arrow);
    const std::string target = text.substr(arrow + (conditional ? 2 : 1));
    add_node(source);
    add_node(target);
    graph.edges.push_back({source, target, std::nullopt, conditional});
  }
  return graph;
}

std::string draw(const std::vector<std::string>& edges) {
  return "\n" + graph_of(edges).draw_ascii();
}

TEST(Ascii, FansOutAndJoins) {
  EXPECT_EQ(draw({"start>a", "start>b", "start>c", "a>join", "b>join", "c>join"}), R"(
      +-------+
      | start |
      +-------+
          |
  +-------+-------+
  v       v       v
+---+   +---+   +---+
| a |   | b |   | c |
+---+   +---+   +---+
  |       |       |
  +-------+-------+
          v
      +-------+
      | join  |
      +-------+
)");
}

TEST(Ascii, GoesBackUpInCircles) {
  EXPECT_EQ(draw({"start>agent", "agent..tools", "agent..end", "tools>agent"}), R"(
    +-------+
    | start |
    +-------+
        |
        v
    +-------+
    | agent |
    +-------+
      ^   :
  +---+   :
  |       :
  |   +...+...+
  |   v       v
+-------+   +-------+
| tools |   |  end  |
+-------+   +-------+
)");
}

TEST(Ascii, LeadsLongEdgesPastBoxes) {
  EXPECT_EQ(draw({"a>b", "b>c", "c>d", "a..d", "a>c"}), R"(
    +-------+
    |   a   |
    +-------+
      |   :
  +---+-+ :
  |     | +.+
  v     |   :
+---+   |   :
| b |   |   :
+---+   |   :
  |     |   :
  |   +-+   :
  v   v     :
+-------+   :
|   c   |   :
+-------+   :
      |     :
      +-+   :
        v   v
      +-------+
      |   d   |
      +-------+
)");
}

TEST(Ascii, ShowsANodeThatFollowsItself) {
  EXPECT_EQ(draw({"a>b", "a>c", "b..b", "c>d", "b>d"}), R"(
      +---+
      | a |
      +---+
        |
  +-----+-----+
  v           v
+---+       +---+
| b |<..+   | c |
|   |...+   +---+
+---+         |
  |           |
  +-----+-----+
        v
      +---+
      | d |
      +---+
)");
}

TEST(Ascii, CrossesLinesWithoutJoiningThem) {
  EXPECT_EQ(draw({"a>c", "a..d", "b..c", "b>d"}), R"(
+-------+   +-------+
|   a   |   |   b   |
+-------+   +-------+
  |   :       :   |
  |   +...+   :   |
  |       :   :   |
  |   +...:...+   |
  |   :   :       |
  |   :   +...+   |
  v   v       v   v
+-------+   +-------+
|   c   |   |   d   |
+-------+   +-------+
)");
}

TEST(Ascii, PutsStrangersBeside) {
  EXPECT_EQ(draw({"__start__>a", "x>y"}), R"(
+-----------+   +---+
| __start__ |   | x |
+-----------+   +---+
      |           |
      v           v
    +---+       +---+
    | a |       | y |
    +---+       +---+
)");
}

TEST(Ascii, EscapesWhatIsNotAscii) {
  EXPECT_EQ(draw({"größe>line\nbreak"}), R"(
  +-----------+
  | gr\f6\dfe |
  +-----------+
        |
        v
+---------------+
|  line\abreak  |
+---------------+
)");
}

TEST(Ascii, DrawsNothingOfNothing) { EXPECT_EQ(DrawableGraph{}.draw_ascii(), ""); }

TEST(Ascii, RefusesEdgesOfUnknownNodes) {
  const DrawableGraph graph{.nodes = {{"a", "a"}}, .edges = {{"a", "b"}}};
  EXPECT_THROW(graph.draw_ascii(), GraphError);
}

// Whatever the graph: who reads the picture finds the graph in it again. That
// holds only if every node is there once, no line touches a box that it does not
// belong to, and lines that cross or pass each other cannot be mistaken.
class RandomGraph : public testing::TestWithParam<int> {};

DrawableGraph random_graph(std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const std::size_t size = 1 + below(30);
  DrawableGraph graph;
  for (std::size_t i = 0; i < size; ++i) {
    const std::string id = i == 0 ? START : std::string(1 + below(12), 'n') + std::to_string(i);
    graph.nodes.push_back({id, id});
  }
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  const auto add_edge = [&](std::size_t source, std::size_t target) {
    if (!pairs.insert({source, target}).second) return;
    const bool conditional = below(3) == 0;
    graph.edges.push_back(
        {graph.nodes[source].id, graph.nodes[target].id, std::nullopt, conditional});
  };
  // Mostly forward by a little, as in real graphs; some are wilder.
  for (std::size_t i = 1; i < size; ++i) add_edge(i - 1 - below(std::min<std::size_t>(i, 4)), i);
  for (std::size_t i = below(size + 1); i > 0; --i) add_edge(below(size), below(size));
  return graph;
}

TEST_P(RandomGraph, CanBeReadFromItsPicture) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int i = 0; i < 50; ++i) {
    const DrawableGraph graph = random_graph(random);
    const std::string text = graph.draw_ascii();
    const test::Picture picture = test::read_picture(text);
    std::multiset<std::string> nodes;
    for (const DrawableGraph::Node& node : graph.nodes) nodes.insert(node.id);
    std::set<std::tuple<std::string, std::string, bool>> edges;
    for (const DrawableGraph::Edge& edge : graph.edges) {
      edges.insert({edge.source, edge.target, edge.conditional});
    }
    ASSERT_EQ(picture.problems, std::vector<std::string>()) << text;
    ASSERT_EQ(std::multiset<std::string>(picture.boxes.begin(), picture.boxes.end()), nodes)
        << text;
    ASSERT_EQ(picture.edges, edges) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, testing::Range(0, 8));

}  // namespace
}  // namespace clew

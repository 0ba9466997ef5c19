// How a graph looks: its nodes, the ways between them, and three renderings.
//
//   DrawableGraph drawing = graph.get_graph();
//   std::cout << drawing.draw_ascii();    // boxes and lines, for a terminal
//   std::cout << drawing.draw_mermaid();  // for Markdown; the text that LangGraph makes
//   std::cout << drawing.to_json();       // {"nodes": [...], "edges": [...]}, as LangGraph's
//
// Drawing runs no node. Edges are those that were added; where a router goes is
// known from its path map, and where a node's Commands go from its destinations:
// without these nothing is drawn for them. A node from which no way is known
// leads to END.
//
// Plain data: it may be changed, or made by hand, before it is rendered.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew {

// How far to look into subgraphs: not at all, all the way, or so many levels.
class Xray {
 public:
  Xray(bool all = false) : levels_(all ? -1 : 0) {}
  Xray(int levels) : levels_(levels) {}  // negative: all

  bool sees_subgraphs() const { return levels_ != 0; }
  // What is left of it inside a subgraph.
  Xray inside() const { return levels_ > 0 ? levels_ - 1 : levels_; }

 private:
  int levels_;
};

// The look of Mermaid text. The defaults are LangGraph's.
struct MermaidOptions {
  // Names, shapes and colours of nodes. Without them there are only edges.
  bool with_styles = true;

  // How lines bend: linear, basis, step, or another of Mermaid's curves.
  std::string curve_style = "linear";

  // CSS of nodes, of the one where the graph starts and of the one where it ends.
  struct NodeStyles {
    std::string default_ = "fill:#f2f0ff,line-height:1.2";
    std::string first = "fill-opacity:0";
    std::string last = "fill:#bfb6fc";
  };
  NodeStyles node_colors = {};

  // Longer labels of edges are broken into lines of so many words. 0: never.
  std::size_t wrap_label_n_words = 9;
};

struct DrawableGraph {
  // What runs at a node.
  enum class NodeKind {
    nothing,  // END, and the START of an entrypoint
    function,
    subgraph,
    entrypoint,
  };

  struct Node {
    std::string id;    // unique; that of a subgraph's node is "child:node"
    std::string name;  // the last part of the id
    NodeKind kind = NodeKind::function;

    // An object, or null: the node's own metadata, "defer" if it waits for the
    // rest of the graph, and "__interrupt" if the graph stops "before", "after"
    // or "before,after" it.
    Value metadata = {};

    friend bool operator==(const Node&, const Node&) = default;
  };

  struct Edge {
    std::string source;  // ids of nodes
    std::string target;
    std::optional<std::string> data = {};  // the label, if it is not the target's name
    bool conditional = false;              // a way that may be taken, not one that always is

    friend bool operator==(const Edge&, const Edge&) = default;
  };

  std::vector<Node> nodes;
  std::vector<Edge> edges;

  // The only node that no edge leads to, or that none leaves; null if there is
  // no such node, or more than one.
  const Node* first_node() const;
  const Node* last_node() const;

  // Text in Mermaid's language. Throws GraphError if two subgraphs have the
  // same name, which Mermaid cannot tell apart.
  std::string draw_mermaid(const MermaidOptions& options = {}) const;

  // A picture in ASCII of boxes with the ids of nodes: START on top, ways down or,
  // with the arrow '^', back up. Lines of conditional edges are dotted, '+' is
  // where lines bend or join, and lines that only cross are not connected. Labels
  // are left out. Throws GraphError if an edge has an end that is no node.
  std::string draw_ascii() const;

  // {"nodes": [{"id", "type", "data", "metadata"}], "edges": [{"source",
  // "target", "data", "conditional"}]}; what says nothing is absent.
  Value to_json() const;
};

}  // namespace clew

// Graphs as Mermaid text, byte for byte as LangGraph writes it.
#include <algorithm>
#include <set>

#include <clew/drawing.hpp>
#include <clew/errors.hpp>

#include "graph/drawing_text.hpp"
#include "value/python_text.hpp"

namespace clew {
namespace {

using Node = DrawableGraph::Node;
using Edge = DrawableGraph::Edge;

// Node ids are paths: the subgraphs, then the node.
std::vector<std::string_view> parts_of(std::string_view id) {
  std::vector<std::string_view> parts;
  for (std::size_t colon; (colon = id.find(':')) != std::string_view::npos;) {
    parts.push_back(id.substr(0, colon));
    id.remove_prefix(colon + 1);
  }
  parts.push_back(id);
  return parts;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t colon = path.rfind(':');
  return colon == std::string_view::npos ? std::string_view() : path.substr(0, colon);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind(':') + 1); }

// The subgraph that both ends of an edge are in. As LangGraph has it, that is
// every part that is the same in both, also after one that is not.
std::string common_path(const Edge& edge) {
  const std::vector<std::string_view> source = parts_of(edge.source);
  const std::vector<std::string_view> target = parts_of(edge.target);
  std::string path;
  for (std::size_t i = 0; i < std::min(source.size(), target.size()); ++i) {
    if (source[i] != target[i]) continue;
    if (!path.empty()) path += ':';
    path += source[i];
  }
  return path;
}

// Text -------------------------------------------------------------------------

// An id that Mermaid takes: other characters become their code points.
std::string safe_id(std::string_view id) {
  return escape_characters(id, [](char32_t c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::string escape_label(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '"': escaped += "#quot;"; break;
      case '#':
      case '[':
      case ']':
      case '(':
      case ')':
      case '{':
      case '}':
      case '<':
      case '>':
      case '|': escaped += '#' + std::to_string(static_cast<int>(c)) + ';'; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::optional<std::string> metadata_text(const Value& value) {
  if (!value.is_list()) return internal::python_scalar_text(value);
  std::string text;
  for (const Value& element : value) {
    const std::optional<std::string> scalar = internal::python_scalar_text(element);
    if (!scalar) return std::nullopt;
    if (&element != &*value.begin()) text += ", ";
    text += *scalar;
  }
  return text;
}

std::string metadata_lines(const Value& metadata) {
  std::string lines;
  if (!metadata.is_object()) return lines;
  for (auto [key, value] : metadata.items()) {
    const std::optional<std::string> text = metadata_text(value);
    if (!text) continue;
    if (!lines.empty()) lines += '\n';
    lines += escape_label(std::string(key) + " = " + *text);
  }
  return lines;
}

std::string node_label(const Node& node) {
  std::string label(last_part(node.name));
  // Mermaid would take these for Markdown.
  constexpr std::string_view kMarkdown = "*_`";
  if (!label.empty() && kMarkdown.find(label.front()) != std::string_view::npos &&
      kMarkdown.find(label.back()) != std::string_view::npos) {
    label = "<p>" + label + "</p>";
  }
  const std::string lines = metadata_lines(node.metadata);
  if (!lines.empty()) label += "<hr/><small><em>" + lines + "</em></small>";
  return label;
}

std::string wrapped(const std::string& label, std::size_t words_per_line) {
  constexpr std::string_view kSpace = " \t\n\r\v\f";
  std::vector<std::string> words;
  for (std::size_t at = label.find_first_not_of(kSpace); at != std::string::npos;) {
    const std::size_t end = std::min(label.find_first_of(kSpace, at), label.size());
    words.push_back(label.substr(at, end - at));
    at = label.find_first_not_of(kSpace, end);
  }
  if (words_per_line == 0 || words.size() <= words_per_line) return label;
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i % words_per_line == 0 ? "&nbsp<br>&nbsp" : " ";
    text += words[i];
  }
  return text;
}

// The graph --------------------------------------------------------------------

class Mermaid {
 public:
  Mermaid(const DrawableGraph& graph, const MermaidOptions& options)
      : graph_(graph), options_(options), first_(graph.first_node()), last_(graph.last_node()) {}

  std::string draw() && {
    group_edges();
    write_head();
    if (options_.with_styles) write_nodes("");
    write_edges(groups_.front().edges);
    write_subgraphs("");
    if (options_.with_styles) write_styles();
    return std::move(text_);
  }

 private:
  // The edges inside a subgraph, but not inside one of its own subgraphs.
  struct Group {
    std::string path;
    std::vector<const Edge*> edges;
  };

  void group_edges() {
    groups_.push_back({});
    for (const Edge& edge : graph_.edges) group(common_path(edge)).edges.push_back(&edge);
    // Subgraphs without such edges have nodes or subgraphs to show.
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      group(std::string(parent_of(groups_[i].path)));
    }
    if (!options_.with_styles) return;
    for (const Node& node : graph_.nodes) {
      for (std::string_view path = parent_of(node.id); !path.empty(); path = parent_of(path)) {
        group(std::string(path));
      }
    }
  }

  Group& group(const std::string& path) {
    for (Group& group : groups_) {
      if (group.path == path) return group;
    }
    groups_.push_back({path, {}});
    return groups_.back();
  }

  void write_head() {
    if (options_.with_styles) {
      text_ += "---\nconfig:\n  flowchart:\n    curve: " + options_.curve_style + "\n---\n";
    }
    text_ += "graph TD;\n";
  }

  void write_nodes(std::string_view path) {
    for (const Node& node : graph_.nodes) {
      if (parent_of(node.id) == path) write_node(node);
    }
  }

  void write_node(const Node& node) {
    text_ += '\t' + safe_id(node.id);
    const std::string label = node_label(node);
    if (&node == last_) {
      text_ += "([" + label + "]):::last";
    } else if (&node == first_) {
      text_ += "([" + label + "]):::first";
    } else {
      text_ += "(" + label + ")";
    }
    text_ += '\n';
  }

  void write_edges(const std::vector<const Edge*>& edges) {
    for (const Edge* edge : edges) write_edge(*edge);
  }

  void write_edge(const Edge& edge) {
    text_ += '\t' + safe_id(edge.source);
    if (edge.data) {
      const std::string label = "&nbsp;" + wrapped(*edge.data, options_.wrap_label_n_words);
      text_ += edge.conditional ? " -. " + label + "&nbsp; .-> " : " -- " + label + "&nbsp; --> ";
    } else {
      text_ += edge.conditional ? " -.-> " : " --> ";
    }
    text_ += safe_id(edge.target) + ";\n";
  }

  void write_subgraphs(std::string_view parent) {
    for (const Group& group : groups_) {
      if (!group.path.empty() && parent_of(group.path) == parent) write_subgraph(group);
    }
  }

  void write_subgraph(const Group& group) {
    // An edge from a node to itself looks as if it were inside the node.
    if (group.edges.size() == 1 && group.edges.front()->source == group.edges.front()->target) {
      write_edges(group.edges);
      write_subgraphs(group.path);
      return;
    }
    const std::string name(last_part(group.path));
    if (!names_.insert(name).second) {
      throw GraphError("two subgraphs are called '" + name +
                       "', which Mermaid cannot tell apart; rename one of the nodes");
    }
    text_ += "\tsubgraph " + name + "\n";
    if (options_.with_styles) write_nodes(group.path);
    write_edges(group.edges);
    write_subgraphs(group.path);
    text_ += "\tend\n";
  }

  void write_styles() {
    const MermaidOptions::NodeStyles& styles = options_.node_colors;
    text_ += "\tclassDef default " + styles.default_ + "\n";
    text_ += "\tclassDef first " + styles.first + "\n";
    text_ += "\tclassDef last " + styles.last + "\n";
  }

  const DrawableGraph& graph_;
  const MermaidOptions& options_;
  const Node* first_;
  const Node* last_;
  std::vector<Group> groups_;  // the whole graph first
  std::set<std::string> names_;
  std::string text_;
};

}  // namespace

std::string DrawableGraph::draw_mermaid(const MermaidOptions& options) const {
  return Mermaid(*this, options).draw();
}

}  // namespace clew

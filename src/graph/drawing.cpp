// What is drawn of a graph: from a dry run to nodes and edges, subgraphs put in.
#include <clew/drawing.hpp>

#include <algorithm>
#include <set>

#include <clew/compiled_graph.hpp>

#include "graph/dry_run.hpp"

namespace clew {

using NodeKind = DrawableGraph::NodeKind;

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

NodeKind kind_of(const pregel::Node& node) {
  if (!node.body.subgraph) return NodeKind::function;
  return node.body.subgraph->graph().nodes.front().is_entrypoint ? NodeKind::entrypoint
                                                                 : NodeKind::subgraph;
}

Value metadata_of(const pregel::Node& node, const CompileOptions& options) {
  Value metadata = node.options.metadata;
  if (node.options.defer) metadata = metadata.set("defer", true);
  const bool stops_before = contains(options.interrupt_before, node.name);
  const bool stops_after = contains(options.interrupt_after, node.name);
  if (stops_before && stops_after) {
    metadata = metadata.set("__interrupt", "before,after");
  } else if (stops_before || stops_after) {
    metadata = metadata.set("__interrupt", stops_before ? "before" : "after");
  }
  return metadata.empty() ? Value() : metadata;
}

class Drawing {
 public:
  explicit Drawing(const std::shared_ptr<const pregel::Graph>& graph)
      : graph_(*graph), run_(dry_run(graph)) {}

  DrawableGraph draw() && {
    for (const pregel::Node& node : graph_.nodes) {
      if (!node.is_error_handler) add_node(node);
    }
    if (graph_.find_node(START) == pregel::kUnknown) {
      drawing_.nodes.push_back({START, START, NodeKind::nothing});
      for (const std::string& node : run_.first_step) add_edge({START, node});
    }
    for (const Way& way : run_.ways) {
      const bool says_more = way.label && *way.label != way.target;
      add_edge({way.source, way.target, says_more ? way.label : std::nullopt, way.conditional});
    }
    add_end_edges();
    return std::move(drawing_);
  }

 private:
  // An error handler comes before its node, as in LangGraph.
  void add_node(const pregel::Node& node) {
    if (node.error_handler != pregel::kUnknown) add_node(graph_.nodes[node.error_handler]);
    drawing_.nodes.push_back(
        {node.name, node.name, kind_of(node), metadata_of(node, graph_.options)});
  }

  // Between two nodes one edge is drawn; unconditional ones come first.
  void add_edge(DrawableGraph::Edge edge) {
    for (const DrawableGraph::Edge& other : drawing_.edges) {
      if (other.source == edge.source && other.target == edge.target) return;
    }
    if (edge.target == END && !has_end_) {
      drawing_.nodes.push_back({END, END, NodeKind::nothing});
      has_end_ = true;
    }
    drawing_.edges.push_back(std::move(edge));
  }

  // Nodes that nothing follows lead to END. If the graph goes round for ever, the
  // node that it happens to stop at may.
  void add_end_edges() {
    std::set<std::string> last_nodes;
    for (const Way& way : run_.ways) last_nodes.insert(way.target);
    for (const Way& way : run_.ways) last_nodes.erase(way.source);
    const bool reaches_end = last_nodes.erase(END) > 0;
    for (const std::string& node : last_nodes) add_edge({node, END});
    if (last_nodes.empty() && !reaches_end && run_.last_step.size() == 1) {
      add_edge({run_.last_step.front(), END, std::nullopt, true});
    }
  }

  const pregel::Graph& graph_;
  DryRun run_;
  DrawableGraph drawing_;
  bool has_end_ = false;
};

// The only node that is no target (or no source), if one node is left out.
const DrawableGraph::Node* only_node_without(const DrawableGraph& graph,
                                             std::string DrawableGraph::Edge::* near_end,
                                             std::string DrawableGraph::Edge::* far_end,
                                             const std::string* left_out = nullptr) {
  std::set<std::string_view> taken;
  for (const DrawableGraph::Edge& edge : graph.edges) {
    if (!left_out || edge.*far_end != *left_out) taken.insert(edge.*near_end);
  }
  const DrawableGraph::Node* found = nullptr;
  for (const DrawableGraph::Node& node : graph.nodes) {
    if (taken.contains(node.id) || (left_out && node.id == *left_out)) continue;
    if (found) return nullptr;
    found = &node;
  }
  return found;
}

// Removes the first (or last) node if the only edge at it leads to a node that
// can take its place.
void trim(DrawableGraph& graph, std::string DrawableGraph::Edge::* near_end,
          std::string DrawableGraph::Edge::* far_end) {
  const DrawableGraph::Node* node = only_node_without(graph, near_end, far_end);
  if (!node || !only_node_without(graph, near_end, far_end, &node->id)) return;
  const std::string id = node->id;
  const auto is_at_node = [&](const DrawableGraph::Edge& edge) { return edge.*far_end == id; };
  if (std::count_if(graph.edges.begin(), graph.edges.end(), is_at_node) != 1) return;
  std::erase_if(graph.edges, is_at_node);
  std::erase_if(graph.nodes, [&](const DrawableGraph::Node& other) { return other.id == id; });
}

// Puts a subgraph in the place of the node that runs it, unless it is not clear
// where the subgraph begins and ends.
void expand(DrawableGraph& graph, const std::string& name, DrawableGraph subgraph) {
  if (subgraph.nodes.size() < 2 || !subgraph.first_node() || !subgraph.last_node()) return;
  trim(subgraph, &DrawableGraph::Edge::target, &DrawableGraph::Edge::source);
  trim(subgraph, &DrawableGraph::Edge::source, &DrawableGraph::Edge::target);
  const std::string prefix = name + ":";
  const std::string first = prefix + subgraph.first_node()->id;
  const std::string last = prefix + subgraph.last_node()->id;
  std::erase_if(graph.nodes, [&](const DrawableGraph::Node& node) { return node.id == name; });
  for (DrawableGraph::Edge& edge : graph.edges) {
    if (edge.source == name) edge.source = last;
    if (edge.target == name) edge.target = first;
  }
  for (DrawableGraph::Node& node : subgraph.nodes) {
    node.id = prefix + node.id;
    graph.nodes.push_back(std::move(node));
  }
  for (DrawableGraph::Edge& edge : subgraph.edges) {
    edge.source = prefix + edge.source;
    edge.target = prefix + edge.target;
    graph.edges.push_back(std::move(edge));
  }
}

// The class of what runs at a node, as LangGraph names it.
Value class_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::subgraph: return {"langgraph", "graph", "state", "CompiledStateGraph"};
    case NodeKind::entrypoint: return {"langgraph", "pregel", "main", "Pregel"};
    default: return {"langgraph", "_internal", "_runnable", "RunnableCallable"};
  }
}

Value node_json(const DrawableGraph::Node& node) {
  Value json{{"id", node.id}};
  if (node.kind != NodeKind::nothing) {
    json = json.set("type", "runnable");
    json = json.set("data", {{"id", class_of(node.kind)}, {"name", node.id}});
  }
  if (!node.metadata.is_null()) json = json.set("metadata", node.metadata);
  return json;
}

Value edge_json(const DrawableGraph::Edge& edge) {
  Value json{{"source", edge.source}, {"target", edge.target}};
  if (edge.data) json = json.set("data", *edge.data);
  if (edge.conditional) json = json.set("conditional", true);
  return json;
}

}  // namespace

DrawableGraph CompiledGraph::get_graph(Xray xray) const {
  DrawableGraph drawing = Drawing(graph_).draw();
  if (!xray.sees_subgraphs()) return drawing;
  for (const auto& [name, subgraph] : get_subgraphs()) {
    expand(drawing, name, subgraph.get_graph(xray.inside()));
  }
  return drawing;
}

const DrawableGraph::Node* DrawableGraph::first_node() const {
  return only_node_without(*this, &Edge::target, &Edge::source);
}

const DrawableGraph::Node* DrawableGraph::last_node() const {
  return only_node_without(*this, &Edge::source, &Edge::target);
}

Value DrawableGraph::to_json() const {
  ListBuilder node_list;
  for (const Node& node : nodes) node_list.push_back(node_json(node));
  ListBuilder edge_list;
  for (const Edge& edge : edges) edge_list.push_back(edge_json(edge));
  return object({{"nodes", std::move(node_list).build()}, {"edges", std::move(edge_list).build()}});
}

}  // namespace clew

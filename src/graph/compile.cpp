// From what a StateGraph collected to a graph that runs.
#include <algorithm>
#include <set>

#include <clew/errors.hpp>
#include <clew/extension.hpp>
#include <clew/functional.hpp>

#include "pregel/graph.hpp"

namespace clew {

using pregel::Graph;
using pregel::Index;
using pregel::kUnknown;
using pregel::Node;
using pregel::Selection;

namespace {

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

// The graphs whose state is shown with the node's: those that keep one.
void add_subgraphs(pregel::Node& node) {
  const auto add = [&](const CompiledGraph& graph) {
    if (graph.graph().options.subgraph_persistence == SubgraphPersistence::off) return;
    node.subgraphs.push_back(graph.shared());
  };
  if (node.body.subgraph) add(*node.body.subgraph);
  for (const CompiledGraph& called : node.options.calls) add(called);
}

void check_name(std::string_view kind, std::string_view name) {
  if (name.empty()) throw GraphError(std::string(kind) + " needs a name");
  if (name == START || name == END) {
    throw GraphError(quoted(name) + " is the graph's own; give the " + std::string(kind) +
                     " another name");
  }
  if (name.find_first_of("|:") != std::string_view::npos) {
    throw GraphError("the name " + quoted(name) +
                     " has a '|' or ':', which namespaces use; choose another");
  }
}

class Compiler {
 public:
  Compiler(const GraphBuilder& builder, CompileOptions options)
      : builder_(builder), graph_(std::make_shared<Graph>()) {
    graph_->name = options.name;
    graph_->options = std::move(options);
    const auto title_or_state = [&](const std::string& title) {
      return title.empty() ? builder.schema_title : title;
    };
    graph_->input_title = title_or_state(builder.input_title);
    graph_->output_title = title_or_state(builder.output_title);
    graph_->context_schema = builder.context_schema;
  }

  std::shared_ptr<const Graph> run() {
    check_edges();
    add_channels();
    add_nodes();
    // Indexes of names are needed from here on.
    for (const GraphBuilder::Edge& edge : builder_.edges) {
      if (!edge.is_join) attach_edge(edge);
    }
    for (const GraphBuilder::Edge& edge : builder_.edges) {
      if (edge.is_join) attach_join(edge);
    }
    for (const GraphBuilder::Branch& branch : builder_.branches) attach_branch(branch);
    graph_->finish();
    resolve_edges();
    return graph_;
  }

 private:
  Index channel_index(std::string_view name) const {
    const auto& channels = graph_->channels;
    const auto found = std::find_if(channels.begin(), channels.end(),
                                    [&](const auto& channel) { return channel.name == name; });
    return found == channels.end() ? kUnknown : static_cast<Index>(found - channels.begin());
  }
  Index node_index(std::string_view name) const {
    const auto& nodes = graph_->nodes;
    const auto found = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const auto& node) { return node.name == name; });
    return found == nodes.end() ? kUnknown : static_cast<Index>(found - nodes.begin());
  }
  bool has_node(std::string_view name) const {
    return std::any_of(builder_.nodes.begin(), builder_.nodes.end(),
                       [&](const auto& node) { return node.name == name; });
  }

  void check_edges() const {
    const auto known = [this](std::string_view name) {
      return name == START || name == END || has_node(name);
    };
    std::set<std::string, std::less<>> sources;
    for (const GraphBuilder::Edge& edge : builder_.edges) {
      for (const std::string& from : edge.from) {
        sources.insert(from);
        if (from == END || !known(from)) {
          throw GraphError("an edge starts at " + quoted(from) +
                           ", which is not a node; add it with add_node");
        }
      }
      if (edge.to == START || !known(edge.to)) {
        throw GraphError("an edge leads to " + quoted(edge.to) +
                         ", which is not a node; add it with add_node");
      }
    }
    for (const GraphBuilder::Branch& branch : builder_.branches) {
      sources.insert(branch.from);
      if (branch.from != START && !has_node(branch.from)) {
        throw GraphError("conditional edges start at " + quoted(branch.from) +
                         ", which is not a node");
      }
      if (!branch.path_map) continue;
      for (const auto& [label, target] : *branch.path_map) {
        if (target != END && !has_node(target)) {
          throw GraphError("the path map of " + quoted(branch.from) + " leads to " +
                           quoted(target) + ", which is not a node");
        }
      }
    }
    for (const GraphBuilder::Node& node : builder_.nodes) {
      for (const Destination& to : node.options.destinations) {
        if (to.node != END && !has_node(to.node)) {
          throw GraphError("a destination of " + quoted(node.name) + " is " + quoted(to.node) +
                           ", which is not a node");
        }
      }
    }
    if (!sources.contains(START)) {
      throw GraphError("the graph has no entry point; add an edge from START to the first node");
    }
    const auto check_breakpoints = [this](const std::vector<std::string>& nodes) {
      for (const std::string& node : nodes) {
        if (node != "*" && !has_node(node)) {
          throw GraphError("cannot interrupt at " + quoted(node) + ", which is not a node");
        }
      }
    };
    check_breakpoints(graph_->options.interrupt_before);
    check_breakpoints(graph_->options.interrupt_after);
  }

  Index add_channel(std::string name, ChannelPtr channel) {
    pregel::ChannelInfo info;
    info.name = std::move(name);
    info.channel = std::move(channel);
    graph_->channels.push_back(std::move(info));
    return graph_->channels.size() - 1;
  }

  void add_channels() {
    for (const auto& [name, channel] : builder_.channels) {
      const Index index = add_channel(name, channel);
      const auto typed = builder_.json_schemas.find(name);
      graph_->channels[index].json_schema = typed == builder_.json_schemas.end()
                                                ? detail::value_schema(channel->initial().value)
                                                : typed->second;
    }
    graph_->state_channels = graph_->channels.size();
    graph_->start_channel = add_channel(START, ephemeral());
    graph_->tasks_channel = add_channel(std::string(pregel::kTasks), topic());
    graph_->output =
        selection_of(builder_.output.empty() ? builder_.schema : builder_.output, false);
    std::vector<std::string> all;
    for (const auto& [name, channel] : builder_.channels) all.push_back(name);
    graph_->stream = selection_of(all, false);
  }

  // The channels of these names that are read together. Who reads the same shares what a
  // run keeps of it.
  Index selection_of(const std::vector<std::string>& names, bool with_managed) {
    Selection selection;
    for (const std::string& name : names) {
      const Index index = channel_index(name);
      if (index == kUnknown) throw GraphError(quoted(name) + " is not a channel of the graph");
      const bool is_managed =
          dynamic_cast<const ManagedValue*>(graph_->channels[index].channel.get()) != nullptr;
      if (with_managed || !is_managed) selection.channels.push_back(index);
    }
    selection.is_bare = names.size() == 1 && names.front() == pregel::kRoot;
    auto& selections = graph_->selections;
    const auto equal = std::find_if(selections.begin(), selections.end(), [&](const auto& other) {
      return other.channels == selection.channels && other.is_bare == selection.is_bare;
    });
    if (equal != selections.end()) return static_cast<Index>(equal - selections.begin());
    selections.push_back(std::move(selection));
    return selections.size() - 1;
  }

  void add_nodes() {
    Node start;
    start.name = START;
    start.is_hidden = true;
    start.triggers = {graph_->start_channel};
    Selection input;
    input.channels = {graph_->start_channel};
    input.is_bare = true;
    graph_->selections.push_back(input);
    start.selection = graph_->selections.size() - 1;
    const auto& input_names = builder_.input.empty() ? builder_.schema : builder_.input;
    for (const std::string& name : input_names) {
      const Index index = channel_index(name);
      if (index == kUnknown)
        throw GraphError(quoted(name) + " of the input schema is not a channel");
      // Computed by the engine: what the input says about it is ignored.
      if (!dynamic_cast<const ManagedValue*>(graph_->channels[index].channel.get())) {
        start.writable.push_back(index);
      }
    }
    graph_->nodes.push_back(std::move(start));
    state_selection_ = selection_of(builder_.schema, true);
    for (const GraphBuilder::Node& node : builder_.nodes) add_node(node);
  }

  void add_node(const GraphBuilder::Node& from) {
    Node node;
    node.name = from.name;
    node.body = from.body;
    node.options = from.options;
    node.selection =
        from.options.reads.empty() ? state_selection_ : selection_of(from.options.reads, true);
    const ChannelPtr trigger = from.options.defer ? last_value_after_finish() : ephemeral(false);
    node.triggers = {add_channel(std::string(pregel::kBranchTo) + from.name, trigger)};
    add_subgraphs(node);
    graph_->nodes.push_back(std::move(node));
    if (from.options.error_handler) add_error_handler(from);
  }

  // A node of its own that no edge leads to.
  void add_error_handler(const GraphBuilder::Node& from) {
    Node handler;
    handler.name = "__error_handler__" + from.name;
    handler.body.function = from.options.error_handler;
    handler.selection = graph_->nodes.back().selection;
    handler.triggers = {
        add_channel(std::string(pregel::kBranchTo) + handler.name, ephemeral(false))};
    handler.is_error_handler = true;
    graph_->nodes.back().error_handler = graph_->nodes.size();
    graph_->nodes.push_back(std::move(handler));
  }

  void attach_edge(const GraphBuilder::Edge& edge) {
    if (edge.to == END) return;
    pregel::Write write;
    write.name = Value(std::string(pregel::kBranchTo) + edge.to);
    graph_->nodes[node_index(edge.from.front())].edges.push_back(std::move(write));
  }

  void attach_join(const GraphBuilder::Edge& edge) {
    if (edge.to == END) return;
    std::string name = "join:";
    for (std::size_t i = 0; i < edge.from.size(); ++i) {
      name += (i == 0 ? "" : "+") + edge.from[i];
    }
    name += ":" + edge.to;
    Node& target = graph_->nodes[node_index(edge.to)];
    if (channel_index(name) == kUnknown) {
      const ChannelPtr barrier =
          target.options.defer ? named_barrier_after_finish(edge.from) : named_barrier(edge.from);
      target.triggers.push_back(add_channel(name, barrier));
    }
    for (const std::string& from : edge.from) {
      pregel::Write write;
      write.name = Value(name);
      write.value = Value(from);
      graph_->nodes[node_index(from)].edges.push_back(std::move(write));
    }
  }

  void attach_branch(const GraphBuilder::Branch& from) {
    Node& node = graph_->nodes[node_index(from.from)];
    pregel::Branch branch;
    branch.name = from.name;
    branch.router = from.router;
    branch.path_map = from.path_map;
    branch.has_own_reads = !from.reads.empty();
    branch.selection = branch.has_own_reads ? selection_of(from.reads, true)
                       : node.is_hidden     ? state_selection_
                                            : node.selection;
    node.branches.push_back(std::move(branch));
  }

  void resolve_edges() {
    for (Node& node : graph_->nodes) {
      for (pregel::Write& write : node.edges) {
        write = graph_->write_to(write.name.as_string(), write.value);
      }
    }
  }

  const GraphBuilder& builder_;
  std::shared_ptr<Graph> graph_;
  Index state_selection_ = 0;
};

}  // namespace

void GraphBuilder::add_channel(std::string name, ChannelPtr channel) {
  if (!channel) {
    throw GraphError("channel " + quoted(name) +
                     " is null; make it with last_value() or another function of channels.hpp");
  }
  if (name.starts_with(pregel::kBranchTo) || name.starts_with("join:")) {
    throw GraphError("channel " + quoted(name) + " has a name that the engine uses for edges");
  }
  const auto same_name = [&](const auto& entry) { return entry.first == name; };
  const auto found = std::find_if(channels.begin(), channels.end(), same_name);
  if (found == channels.end()) channels.emplace_back(std::move(name), std::move(channel));
}

void GraphBuilder::add_node(std::string name, NodeBody body, NodeOptions options) {
  check_name("node", name);
  const bool exists =
      std::any_of(nodes.begin(), nodes.end(), [&](const Node& node) { return node.name == name; });
  if (exists) throw GraphError("node " + quoted(name) + " was added twice; give one another name");
  nodes.push_back({std::move(name), std::move(body), std::move(options)});
}

void GraphBuilder::add_edge(std::vector<std::string> from, bool is_join, std::string to) {
  if (from.empty()) throw GraphError("an edge to " + quoted(to) + " needs at least one source");
  if (std::find(from.begin(), from.end(), END) != from.end()) {
    throw GraphError("an edge cannot start at END");
  }
  if (to == START) throw GraphError("an edge cannot lead to START");
  if (is_join && std::find(from.begin(), from.end(), START) != from.end()) {
    throw GraphError("START cannot be one of several sources of an edge");
  }
  edges.push_back({std::move(from), is_join, std::move(to)});
}

void GraphBuilder::add_branch(Branch branch) {
  if (branch.name.empty()) branch.name = "branch" + std::to_string(branches.size());
  branches.push_back(std::move(branch));
}

CompiledGraph GraphBuilder::compile(CompileOptions options) const {
  return CompiledGraph(Compiler(*this, std::move(options)).run());
}

ChannelPtr detail::channel_of(const Field& field) {
  if (!field.reducer) return last_value();
  return reduced(field.reducer, field.default_value);
}

// Functional workflows --------------------------------------------------------

Value to_value(const Final& final) { return wrap(final); }

CompiledGraph make_entrypoint(std::string name, NodeBody body, NodeOptions node_options,
                              CompileOptions options) {
  check_name("entrypoint", name);
  auto graph = std::make_shared<Graph>();
  graph->name = name;
  graph->options = std::move(options);
  const auto add_channel = [&](std::string channel, ChannelPtr behaviour) {
    pregel::ChannelInfo info;
    info.name = std::move(channel);
    info.channel = std::move(behaviour);
    graph->channels.push_back(std::move(info));
    return graph->channels.size() - 1;
  };
  graph->start_channel = add_channel(START, ephemeral());
  const Index end = add_channel(END, last_value());
  add_channel(std::string(pregel::kPrevious), last_value());
  graph->tasks_channel = add_channel(std::string(pregel::kTasks), topic());
  graph->state_channels = graph->channels.size() - 1;
  const auto bare = [&](Index channel) {
    Selection selection;
    selection.channels = {channel};
    selection.is_bare = true;
    graph->selections.push_back(std::move(selection));
    return graph->selections.size() - 1;
  };
  graph->output = graph->stream = bare(end);
  Node node;
  node.name = std::move(name);
  node.body = std::move(body);
  node.options = std::move(node_options);
  node.triggers = {graph->start_channel};
  node.selection = bare(graph->start_channel);
  node.is_entrypoint = true;
  add_subgraphs(node);
  graph->nodes.push_back(std::move(node));
  graph->finish();
  return CompiledGraph(std::move(graph));
}

}  // namespace clew

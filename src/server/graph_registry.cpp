#include "server/graph_registry.hpp"

#include <algorithm>

#include <clew/checkpointer.hpp>
#include <clew/store.hpp>

namespace clew::server {
namespace {

namespace fs = std::filesystem;

Value schemas_of(const CompiledGraph& graph) {
  return object({{"input_schema", graph.get_input_jsonschema()},
                 {"output_schema", graph.get_output_jsonschema()},
                 {"state_schema", graph.get_state_jsonschema()},
                 {"config_schema", graph.get_config_jsonschema()},
                 {"context_schema", graph.get_context_jsonschema()}});
}

// The API does not tell what class a node is of.
Value without_class(const Value& node) {
  return node.contains("data") ? node.set("data", node["data"].erase("id")) : node;
}

}  // namespace

// One graph -------------------------------------------------------------------

HostedGraph::HostedGraph(std::string name, std::string description, CompiledGraph graph)
    : name_(std::move(name)),
      description_(std::move(description)),
      graph_(std::move(graph)),
      context_schema_(graph_.get_context_jsonschema()) {}

Value HostedGraph::schemas() const {
  return object({{"graph_id", name_}}).merge(schemas_of(graph_));
}

Value HostedGraph::subgraph_schemas(std::string_view ns, bool recurse) const {
  ObjectBuilder found;
  // A namespace of a subgraph's subgraph is found only among all of them.
  for (const auto& [name, subgraph] : graph_.get_subgraphs(recurse || !ns.empty())) {
    if (ns.empty() || name == ns) found.set(name, schemas_of(subgraph));
  }
  return std::move(found).build();
}

Value HostedGraph::drawing(Xray xray) const {
  const Value json = graph_.get_graph(xray).to_json();
  ListBuilder nodes;
  for (const Value& node : json["nodes"]) nodes.push_back(without_class(node));
  return json.set("nodes", std::move(nodes).build());
}

Value HostedGraph::run_context(const Value& context) const {
  if (context_schema_.is_null() || !context.is_object()) return context;
  const Value& known = context_schema_["properties"];
  ObjectBuilder kept;
  for (auto [key, value] : context.items()) {
    if (known.contains(key)) kept.set(key, value);
  }
  return std::move(kept).build();
}

// All of them -----------------------------------------------------------------

void GraphRegistry::add(const std::string& name, const GraphFactory& factory,
                        std::string description) {
  CompileOptions options = options_;
  options.name = name;
  put(std::make_shared<HostedGraph>(name, std::move(description), factory(options)));
}

void GraphRegistry::put(std::shared_ptr<const HostedGraph> graph) {
  const std::lock_guard lock(mutex_);
  const auto same_name = [&](const auto& other) { return other->name() == graph->name(); };
  const auto found = std::find_if(graphs_.begin(), graphs_.end(), same_name);
  if (found == graphs_.end()) {
    graphs_.push_back(std::move(graph));
  } else {
    // What it replaces may have the last hold on a library: let go without the lock.
    found->swap(graph);
  }
}

std::shared_ptr<const HostedGraph> GraphRegistry::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                  [&](const auto& graph) { return graph->name() == name; });
  return found == graphs_.end() ? nullptr : *found;
}

std::vector<std::shared_ptr<const HostedGraph>> GraphRegistry::all() const {
  const std::lock_guard lock(mutex_);
  return graphs_;
}

std::vector<std::string> GraphRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& graph : all()) names.push_back(graph->name());
  return names;
}

// Libraries -------------------------------------------------------------------

std::optional<GraphRegistry::FileLook> GraphRegistry::look_at(const fs::path& file) {
  std::error_code error;
  FileLook look;
  look.time = fs::last_write_time(file, error);
  if (!error) look.size = fs::file_size(file, error);
  if (error) return std::nullopt;
  return look;
}

std::vector<GraphProblem> GraphRegistry::load(const std::vector<GraphConfig>& graphs,
                                              const PluginOptions& plugins) {
  const std::lock_guard lock(reload_mutex_);
  plugins_ = plugins;
  Reload result;
  std::map<fs::path, Opened> opened;
  for (const GraphConfig& graph : graphs) {
    if (graph.library.empty()) {
      describe(graph, result);
      continue;
    }
    Library& library = libraries_[graph.library];
    library.graphs.push_back(graph);
    if (!opened.contains(graph.library)) {
      // First the look: what is written while we load is seen as a change later.
      library.loaded = library.seen = look_at(graph.library).value_or(FileLook());
      opened.emplace(graph.library, open(graph.library));
    }
    add_from(opened.at(graph.library), graph, result);
  }
  return result.problems;
}

GraphRegistry::Opened GraphRegistry::open(const fs::path& file) const {
  try {
    return {Plugin::open(file, plugins_), {}};
  } catch (const std::exception& error) {
    return {nullptr, error.what()};
  }
}

void GraphRegistry::add_from(const Opened& library, const GraphConfig& graph, Reload& result) {
  if (!library.plugin) {
    result.problems.push_back({graph.name, library.reason});
    return;
  }
  try {
    add(graph.name, library.plugin->factory(graph.function), graph.description);
    result.graphs.push_back(graph.name);
  } catch (const std::exception& error) {
    result.problems.push_back({graph.name, error.what()});
  }
}

void GraphRegistry::describe(const GraphConfig& linked_in, Reload& result) {
  const std::shared_ptr<const HostedGraph> graph = find(linked_in.function);
  if (!graph) {
    result.problems.push_back({linked_in.name, "no graph '" + linked_in.function +
                                                   "' is linked into this program; name a library: "
                                                   "\"./libagent.so:make_graph\""});
    return;
  }
  put(std::make_shared<HostedGraph>(linked_in.name, linked_in.description, graph->graph()));
}

GraphRegistry::Reload GraphRegistry::reload_changed() {
  const std::lock_guard lock(reload_mutex_);
  Reload result;
  for (auto& [file, library] : libraries_) {
    const std::optional<FileLook> now = look_at(file);
    if (!now) continue;  // a linker is about to write it
    // A file that still changes is not whole yet.
    const bool is_settled = *now == library.seen;
    library.seen = *now;
    if (!is_settled || *now == library.loaded) continue;
    library.loaded = *now;
    const Opened opened = open(file);
    for (const GraphConfig& graph : library.graphs) add_from(opened, graph, result);
  }
  return result;
}

}  // namespace clew::server

// The graphs that a server offers, by name.
//
//   GraphRegistry graphs({.checkpointer = saver, .store = store});
//   graphs.add("echo", make_echo);                     // linked in
//   graphs.load(config.graphs, {.is_reloadable = true}); // from libraries
//   if (auto hosted = graphs.find("echo")) hosted->graph().invoke(input, thread);
//
// A graph is compiled with the server's checkpointer, store and cache. Whoever
// found one may use it as long as he likes, also if it was replaced meanwhile.
// All methods may be called from any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/graph_factory.hpp>

#include "server/config.hpp"
#include "server/plugins.hpp"

namespace clew::server {

// A graph with what the API tells about it.
class HostedGraph {
 public:
  HostedGraph(std::string name, std::string description, CompiledGraph graph);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  const CompiledGraph& graph() const { return graph_; }

  // {"graph_id", "input_schema", "output_schema", "state_schema", "config_schema", "context_schema"}
  Value schemas() const;
  // The same without graph_id, by namespace; of `ns` alone if it is not empty.
  // An empty object if there are none.
  Value subgraph_schemas(std::string_view ns, bool recurse) const;
  // {"nodes": [...], "edges": [...]}
  Value drawing(Xray xray) const;

  // What a run's nodes see as context: of a graph with a context schema only what is in it.
  Value run_context(const Value& context) const;

 private:
  std::string name_;
  std::string description_;
  CompiledGraph graph_;
  Value context_schema_;
};

// A graph that could not be loaded, and why.
struct GraphProblem {
  std::string name;
  std::string reason;
};

class GraphRegistry {
 public:
  // `options` are those of every graph; the name is the graph's own.
  explicit GraphRegistry(CompileOptions options) : options_(std::move(options)) {}
  GraphRegistry(const GraphRegistry&) = delete;
  GraphRegistry& operator=(const GraphRegistry&) = delete;

  // Makes a graph now, in place of one of the same name. Throws what the factory throws.
  void add(const std::string& name, const GraphFactory& factory, std::string description = {});

  // Loads graphs from their libraries. Those that cannot be loaded are returned
  // and the others serve. An entry without a library is a graph that was added
  // before, and takes over its description.
  std::vector<GraphProblem> load(const std::vector<GraphConfig>& graphs,
                                 const PluginOptions& plugins = {});

  // Loads the libraries anew whose files have changed since. Until a new version
  // is whole and works the old one serves.
  struct Reload {
    std::vector<std::string> graphs;  // that were replaced
    std::vector<GraphProblem> problems;
  };
  Reload reload_changed();

  // The graph, or null if there is none of that name.
  std::shared_ptr<const HostedGraph> find(std::string_view name) const;
  // In the order in which they were first added.
  std::vector<std::shared_ptr<const HostedGraph>> all() const;
  std::vector<std::string> names() const;

 private:
  // What a file looked like; another look means that it was written.
  struct FileLook {
    std::filesystem::file_time_type time = {};
    std::uintmax_t size = 0;
    friend bool operator==(const FileLook&, const FileLook&) = default;
  };
  struct Library {
    std::vector<GraphConfig> graphs;
    FileLook loaded;
    FileLook seen;  // when it was last looked at
  };

  // A library, or why there is none.
  struct Opened {
    std::shared_ptr<const Plugin> plugin;
    std::string reason;
  };

  static std::optional<FileLook> look_at(const std::filesystem::path& file);
  Opened open(const std::filesystem::path& file) const;
  void add_from(const Opened& library, const GraphConfig& graph, Reload& result);
  void describe(const GraphConfig& linked_in, Reload& result);
  void put(std::shared_ptr<const HostedGraph> graph);

  const CompileOptions options_;
  PluginOptions plugins_;

  std::mutex reload_mutex_;  // held while libraries are loaded
  std::map<std::filesystem::path, Library> libraries_;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const HostedGraph>> graphs_;
};

}  // namespace clew::server

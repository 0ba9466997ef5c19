// The graphs that a server offers, by name. They are compiled with the server's
// checkpointer and store.
//
// All methods may be called from any thread. What find() returned stays usable
// when the graph is replaced by another one of its name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <clew/compiled_graph.hpp>

namespace clew::server {

// JSON Schemas of a graph, as GET /assistants/{id}/schemas shows them.
struct GraphSchemas {
  Value input_schema = {};
  Value output_schema = {};
  Value state_schema = {};
  Value config_schema = object();
  Value context_schema = {};  // null: the graph takes any context
};

struct HostedGraph {
  CompiledGraph graph;
  GraphSchemas schemas = {};
  std::map<std::string, GraphSchemas> subgraph_schemas =
      {};  // by namespace: "child", "child|inner"
};

class Graphs {
 public:
  Graphs() = default;
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;
  virtual ~Graphs() = default;

  // In the order in which they are offered.
  virtual std::vector<std::string> names() const = 0;

  // Null if there is none.
  virtual std::shared_ptr<const HostedGraph> find(std::string_view name) const = 0;
};

}  // namespace clew::server

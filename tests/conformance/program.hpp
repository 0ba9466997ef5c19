// The graphs of a scenario, built on the engine.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <clew/cache.hpp>
#include <clew/checkpointer.hpp>
#include <clew/functional.hpp>
#include <clew/graph.hpp>
#include <clew/store.hpp>

#include "body.hpp"
#include "ledger.hpp"

namespace clew::conformance {

// What outlives a program: a scenario may build its graphs again on the same.
struct Resources {
  std::shared_ptr<Checkpointer> saver;
  std::shared_ptr<Store> store;  // null: none
  std::shared_ptr<Cache> cache;  // null: none
  Ledger* ledger = nullptr;
  bool jitter = false;  // delay bodies at random
};

class Program {
 public:
  // Builds `root` and the graphs it reaches. Throws GraphError if the engine
  // refuses one, ScenarioError if the scenario is malformed.
  Program(const Value& graphs, const std::string& root, Resources resources);

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const CompiledGraph& root() const { return graph(root_); }
  const CompiledGraph& graph(const std::string& name) const;
  const TaskFunction& task(const std::string& graph, const std::string& name) const;

  Ledger& ledger() const { return *resources_.ledger; }
  bool has_jitter() const { return resources_.jitter; }

 private:
  const CompiledGraph& reach(const std::string& name);
  CompiledGraph build_state_graph(const std::string& name, const Value& spec);
  CompiledGraph build_entrypoint(const std::string& name, const Value& spec);

  void add_node(GraphBuilder& builder, const std::string& graph, const Value& node,
                const std::string& pointer);
  void add_branch(GraphBuilder& builder, const std::string& graph, const Value& branch,
                  std::size_t index);
  void add_task(const std::string& graph, const Value& task, const std::string& pointer);

  // A function of the engine's shape that runs the body of these statements.
  RouterBody function_of(const std::string& graph, const std::string& name, const Value& statements,
                         std::string pointer) const;
  CompileOptions compile_options(const std::string& name, const Value& spec) const;
  void add_calls(NodeOptions& options, const Value& spec);

  Value specs_;
  std::string root_;
  Resources resources_;
  std::map<std::string, CompiledGraph> graphs_;
  std::map<std::pair<std::string, std::string>, TaskFunction> tasks_;
  std::set<std::string> under_construction_;
};

}  // namespace clew::conformance

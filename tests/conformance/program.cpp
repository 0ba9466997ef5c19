#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <clew/errors.hpp>

#include "channel_kinds.hpp"
#include "python.hpp"
#include "scenario.hpp"

namespace clew::conformance {
namespace {

// A step of a JSON pointer.
std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string graph_pointer(const std::string& name) { return "/graphs" + pointer_step(name); }

// Adds the channels of a graph in the order in which LangGraph's schemas make
// them known: private ones come with the first node or branch that reads them.
class ChannelList {
 public:
  ChannelList(GraphBuilder& builder, const Value& spec)
      : builder_(builder), specs_(spec["channels"]) {
    const std::vector<std::string> hidden =
        spec.contains("private") ? string_list(spec["private"]) : std::vector<std::string>();
    for (const auto& [name, channel] : specs_.items()) {
      if (std::find(hidden.begin(), hidden.end(), name) != hidden.end()) continue;
      add(std::string(name));
      builder_.schema.emplace_back(name);
    }
  }

  // The channels under `key` of `owner`, all of them known from now on.
  std::vector<std::string> listed(const Value& owner, std::string_view key) {
    const Value* names = owner.find(key);
    if (!names) return {};
    std::vector<std::string> result = string_list(*names);
    for (const std::string& name : result) add(name);
    return result;
  }

 private:
  void add(const std::string& name) {
    if (!known_.insert(name).second) return;
    const Value* spec = specs_.find(name);
    if (!spec) throw ScenarioError("there is no channel '" + name + "'");
    builder_.add_channel(name, make_channel(*spec));
  }

  GraphBuilder& builder_;
  const Value& specs_;
  std::set<std::string> known_;
};

RetryPolicy make_retry_policy(const Value& spec) {
  RetryPolicy policy;
  policy.initial_interval = std::chrono::milliseconds(0);
  policy.jitter = false;
  if (const Value* attempts = spec.find("max_attempts")) policy.max_attempts = attempts->get<int>();
  if (const Value* kinds = spec.find("on")) {
    policy.retry_on = [kinds = string_list(*kinds)](const std::exception& error) {
      const auto* node_error = dynamic_cast<const NodeError*>(&error);
      return node_error && std::find(kinds.begin(), kinds.end(), node_error->kind()) != kinds.end();
    };
  }
  return policy;
}

// Retry and cache policies, for anything that can have them.
template <class Options>
void add_policies(Options& options, const Value& spec) {
  if (const Value* retry = spec.find("retry")) {
    if (retry->is_list()) {
      for (const Value& policy : *retry) options.retry_policy.push_back(make_retry_policy(policy));
    } else {
      options.retry_policy.push_back(make_retry_policy(*retry));
    }
  }
  if (is_true(spec["cache"])) options.cache_policy = CachePolicy{};
}

std::vector<std::string> breakpoints(const Value& spec, std::string_view key) {
  const Value* nodes = spec.find(key);
  if (!nodes) return {};
  return nodes->is_string() ? std::vector{nodes->get<std::string>()} : string_list(*nodes);
}

std::optional<std::map<std::string, std::string>> path_map(const Value& branch) {
  const Value* map = branch.find("map");
  if (!map || map->is_null()) return std::nullopt;
  std::map<std::string, std::string> result;
  if (map->is_list()) {
    for (const std::string& node : engine_names(*map)) result[node] = node;
  } else {
    for (const auto& [label, node] : map->items()) {
      result[std::string(label)] = engine_name(node.get<std::string>());
    }
  }
  return result;
}

// Without a path map a branch returns nodes, and END is one.
Value engine_destination(const Value& destination) {
  if (destination == Value("END")) return END;
  if (!destination.is_list()) return destination;
  ListBuilder result;
  for (const Value& element : destination) {
    result.push_back(element == Value("END") ? Value(END) : element);
  }
  return std::move(result).build();
}

void add_edges(GraphBuilder& builder, const Value& edges) {
  for (const Value& edge : edges) {
    const Value& source = edge.at(0);
    const std::string target = engine_name(edge.get<std::string>(1));
    if (source.is_list()) {
      builder.add_edge(engine_names(source), /*is_join=*/true, target);
    } else {
      builder.add_edge({engine_name(source.get<std::string>())}, /*is_join=*/false, target);
    }
  }
}

}  // namespace

Program::Program(const Value& graphs, const std::string& root, Resources resources)
    : specs_(graphs), root_(root), resources_(std::move(resources)) {
  reach(root_);
}

const CompiledGraph& Program::graph(const std::string& name) const {
  const auto found = graphs_.find(name);
  if (found == graphs_.end()) {
    throw ScenarioError("graph '" + name + "' is called but not listed in 'calls'");
  }
  return found->second;
}

const TaskFunction& Program::task(const std::string& graph, const std::string& name) const {
  const auto found = tasks_.find({graph, name});
  if (found == tasks_.end()) {
    throw ScenarioError("graph '" + graph + "' has no task '" + name + "'");
  }
  return found->second;
}

const CompiledGraph& Program::reach(const std::string& name) {
  if (const auto found = graphs_.find(name); found != graphs_.end()) return found->second;
  const Value* spec = specs_.find(name);
  if (!spec) throw ScenarioError("there is no graph '" + name + "'");
  if (!under_construction_.insert(name).second) {
    throw ScenarioError("graph '" + name + "' contains itself");
  }
  CompiledGraph graph = (*spec)["kind"] == Value("entrypoint") ? build_entrypoint(name, *spec)
                                                               : build_state_graph(name, *spec);
  return graphs_.emplace(name, std::move(graph)).first->second;
}

CompiledGraph Program::build_state_graph(const std::string& name, const Value& spec) {
  GraphBuilder builder;
  ChannelList channels(builder, spec);
  builder.input = channels.listed(spec, "input");
  builder.output = channels.listed(spec, "output");

  const Value& nodes = spec["nodes"];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    channels.listed(nodes[i], "reads");
    add_node(builder, name, nodes[i], graph_pointer(name) + "/nodes/" + std::to_string(i));
  }
  add_edges(builder, spec["edges"]);
  const Value& branches = spec["branches"];
  for (std::size_t i = 0; i < branches.size(); ++i) {
    channels.listed(branches[i], "reads");
    add_branch(builder, name, branches[i], i);
  }
  return builder.compile(compile_options(name, spec));
}

void Program::add_node(GraphBuilder& builder, const std::string& graph, const Value& node,
                       const std::string& pointer) {
  const std::string name = node.get<std::string>("name");
  NodeOptions options;
  add_policies(options, node);
  if (const Value* reads = node.find("reads")) options.reads = string_list(*reads);
  options.defer = is_true(node["defer"]);
  if (const Value* targets = node.find("destinations")) {
    for (const std::string& target : engine_names(*targets)) {
      options.destinations.emplace_back(target);
    }
  }
  if (const Value* handler = node.find("error_handler")) {
    options.error_handler =
        function_of(graph, name + ".error_handler", *handler, pointer + "/error_handler");
  }
  add_calls(options, node);

  NodeBody body;
  if (const Value* child = node.find("graph")) {
    body.subgraph = reach(child->get<std::string>());
  } else {
    body.function = function_of(graph, name, node["body"], pointer + "/body");
  }
  builder.add_node(name, std::move(body), std::move(options));
}

void Program::add_branch(GraphBuilder& builder, const std::string& graph, const Value& branch,
                         std::size_t index) {
  const std::string from = branch.get<std::string>("from");
  const std::string name = "branch" + std::to_string(index);
  const std::string pointer = graph_pointer(graph) + "/branches/" + std::to_string(index) + "/body";
  RouterBody router = function_of(graph, from + "." + name, branch["body"], pointer);

  GraphBuilder::Branch result;
  result.from = engine_name(from);
  result.name = name;
  result.path_map = path_map(branch);
  if (const Value* reads = branch.find("reads")) result.reads = string_list(*reads);
  if (branch.contains("map")) {
    result.router = std::move(router);
  } else {
    result.router = [router = std::move(router)](const Value& state, Runtime& runtime) {
      return engine_destination(router(state, runtime));
    };
  }
  builder.add_branch(std::move(result));
}

CompiledGraph Program::build_entrypoint(const std::string& name, const Value& spec) {
  const Value& tasks = spec["tasks"];
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    add_task(name, tasks[i], graph_pointer(name) + "/tasks/" + std::to_string(i));
  }
  NodeOptions options;
  add_policies(options, spec);
  add_calls(options, spec);
  NodeBody body;
  body.function = function_of(name, name, spec["body"], graph_pointer(name) + "/body");
  return make_entrypoint(name, std::move(body), std::move(options), compile_options(name, spec));
}

void Program::add_task(const std::string& graph, const Value& task, const std::string& pointer) {
  const std::string name = task.get<std::string>("name");
  TaskOptions options;
  add_policies(options, task);
  NodeBody body;
  body.function = function_of(graph, name, task["body"], pointer + "/body");
  tasks_.insert_or_assign({graph, name}, TaskFunction(name, std::move(body), std::move(options)));
}

RouterBody Program::function_of(const std::string& graph, const std::string& name,
                                const Value& statements, std::string pointer) const {
  Body body{.graph = graph,
            .name = graph + "." + name,
            .statements = statements,
            .pointer = std::move(pointer)};
  return [this, body = std::move(body)](const Value& input, Runtime& runtime) {
    return run_body(*this, body, input, runtime);
  };
}

// Absent means the saver for the root and the parent's for a child; null and
// false mean none for the root.
CompileOptions Program::compile_options(const std::string& name, const Value& spec) const {
  CompileOptions options;
  options.name = name;
  options.interrupt_before = breakpoints(spec, "interrupt_before");
  options.interrupt_after = breakpoints(spec, "interrupt_after");

  const bool is_root = name == root_;
  const Value* checkpointer = spec.find("checkpointer");
  if (is_root) {
    if (!checkpointer) options.checkpointer = resources_.saver;
    options.store = resources_.store;
    options.cache = resources_.cache;
  }
  const bool is_state_graph = spec["kind"] != Value("entrypoint");
  if (checkpointer && checkpointer->is_bool() && is_state_graph) {
    options.subgraph_persistence =
        checkpointer->as_bool() ? SubgraphPersistence::own : SubgraphPersistence::off;
  }
  return options;
}

void Program::add_calls(NodeOptions& options, const Value& spec) {
  bool is_first = true;
  for (const Value& name : spec["calls"]) {
    const CompiledGraph& graph = reach(name.get<std::string>());
    // State inspection shows one child per node.
    if (is_first) options.calls.push_back(graph);
    is_first = false;
  }
}

}  // namespace clew::conformance

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

// Recorded graphs --------------------------------------------------------------

Value load(const std::string& name) {
  std::ifstream file(std::string(CLEW_TEST_DATA_DIR) + "/drawing/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return parse_json(text.str());
}

std::vector<std::string> names(const Value& spec) {
  if (spec.is_string()) return {spec.get<std::string>()};
  return spec.is_null() ? std::vector<std::string>() : spec.get<std::vector<std::string>>();
}

// Builds the graphs of a description as tests/interop/drawings.py does in Python.
class Graphs {
 public:
  explicit Graphs(Value descriptions) : descriptions_(std::move(descriptions)) {}

  CompiledGraph build(const std::string& name) const {
    const Value& description = descriptions_.at(name);
    return description.contains("entrypoint") ? workflow(description) : state_graph(description);
  }

 private:
  CompiledGraph workflow(const Value& description) const {
    NodeOptions options;
    if (description.contains("calls")) {
      options.calls.push_back(build(description.get<std::string>("calls")));
    }
    return make_entrypoint(description.get<std::string>("entrypoint"), nothing(), options, {});
  }

  CompiledGraph state_graph(const Value& description) const {
    GraphBuilder builder;
    builder.add_channel("foo", reduced(append, list()));
    builder.schema = {"foo"};
    for (const Value& node : description["nodes"]) add_node(builder, node);
    for (const Value& edge : description["edges"]) {
      builder.add_edge(names(edge[0]), edge[0].is_list(), edge.get<std::string>(1));
    }
    for (const Value& branch : description["branches"]) add_branch(builder, branch);
    CompileOptions options;
    options.interrupt_before = names(description["interrupt_before"]);
    options.interrupt_after = names(description["interrupt_after"]);
    if (description["checkpointer"] == Value(false)) {
      options.subgraph_persistence = SubgraphPersistence::off;
    }
    return builder.compile(options);
  }

  void add_node(GraphBuilder& builder, const Value& description) const {
    NodeBody body = nothing();
    NodeOptions options;
    if (description.contains("graph")) {
      body = {.function = {},
              .coroutine = {},
              .subgraph = build(description.get<std::string>("graph"))};
    }
    if (description.contains("calls")) {
      options.calls.push_back(build(description.get<std::string>("calls")));
    }
    options.defer = description["defer"] == Value(true);
    options.metadata = description["metadata"];
    if (description.contains("error_handler")) {
      options.error_handler = [](const Value&, Runtime&) { return Value(); };
    }
    const Value& destinations = description["destinations"];
    if (destinations.is_list()) {
      for (const std::string& node : names(destinations)) options.destinations.emplace_back(node);
    } else if (destinations.is_object()) {
      for (auto [node, label] : destinations.items()) {
        options.destinations.emplace_back(std::string(node), label.get<std::string>());
      }
    }
    builder.add_node(description.get<std::string>("name"), std::move(body), std::move(options));
  }

  static void add_branch(GraphBuilder& builder, const Value& description) {
    GraphBuilder::Branch branch;
    branch.from = description.get<std::string>("from");
    branch.router = [](const Value&, Runtime&) { return Value(); };
    const Value& path_map = description["path_map"];
    if (!path_map.is_null()) branch.path_map.emplace();
    if (path_map.is_list()) {
      for (const std::string& node : names(path_map)) branch.path_map->emplace(node, node);
    } else if (path_map.is_object()) {
      for (auto [label, node] : path_map.items()) {
        branch.path_map->emplace(label, node.get<std::string>());
      }
    }
    builder.add_branch(std::move(branch));
  }

  static NodeBody nothing() {
    NodeBody body;
    body.function = [](const Value&, Runtime&) { return Value(); };
    return body;
  }

  Value descriptions_;
};

TEST(Drawing, IsLangGraphs) {
  const Value cases = load("graphs.json");
  const Value recorded = load("drawn.json");
  ASSERT_EQ(cases.size(), recorded.size());
  for (auto [name, description] : cases.items()) {
    const CompiledGraph graph = Graphs(description["graphs"]).build("main");
    for (const Value& drawing : recorded[name]) {
      SCOPED_TRACE(std::string(name) + " with xray " + to_json(drawing["xray"]));
      const Value& xray = drawing["xray"];
      const DrawableGraph drawn =
          graph.get_graph(xray.is_bool() ? Xray(xray.as_bool()) : Xray(xray.get<int>()));
      std::string mermaid;
      for (const std::string& line : names(drawing["mermaid"])) mermaid += line + "\n";
      mermaid.pop_back();
      EXPECT_EQ(drawn.draw_mermaid(), mermaid);
      EXPECT_EQ(to_json(drawn.to_json()), to_json(drawing["json"]));
    }
  }
}

// What a program sees ----------------------------------------------------------

struct State {
  std::string foo;
};
CLEW_STATE(State, foo)

void do_nothing(const State&) {}

std::string edges_of(const DrawableGraph& drawing) {
  std::string text;
  for (const DrawableGraph::Edge& edge : drawing.edges) {
    text += edge.source + (edge.conditional ? " ..> " : " --> ") + edge.target;
    if (edge.data) text += " (" + *edge.data + ")";
    text += "\n";
  }
  return text;
}

TEST(Drawing, DestinationsMayHaveLabels) {
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node("ask", do_nothing, {.destinations = {"search", {END, "nothing to look for"}}})
          .add_node("search", do_nothing, {.destinations = {"ask"}})
          .add_edge(START, "ask")
          .compile();
  EXPECT_EQ(edges_of(graph.get_graph()),
            "__start__ --> ask\n"
            "ask ..> __end__ (nothing to look for)\n"
            "ask ..> search\n"
            "search ..> ask\n");
}

TEST(Drawing, DestinationsMustBeNodes) {
  StateGraph<State> graph;
  graph.add_node("ask", do_nothing, {.destinations = {"serach"}}).add_edge(START, "ask");
  try {
    graph.compile();
    FAIL() << "compiled";
  } catch (const GraphError& error) {
    EXPECT_STREQ(error.what(), "a destination of 'ask' is 'serach', which is not a node");
  }
}

TEST(Drawing, RunsNothing) {
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node("a", [](const State&) -> Update { throw std::runtime_error("ran"); })
          .add_edge(START, "a")
          .add_conditional_edges(
              "a", [](const State&) -> std::string { throw std::runtime_error("routed"); },
              std::map<std::string, std::string>{{"again", "a"}, {"done", END}})
          .compile();
  EXPECT_EQ(edges_of(graph.get_graph()),
            "__start__ --> a\n"
            "a ..> __end__ (done)\n"
            "a ..> a (again)\n");
}

TEST(Drawing, SaysWhatRunsAtANode) {
  const CompiledGraph child =
      StateGraph<State>().add_node("a", do_nothing).add_edge(START, "a").compile();
  const CompiledGraph workflow = entrypoint("flow", [](const Value& input) { return input; });
  const DrawableGraph drawing = StateGraph<State>()
                                    .add_node("function", do_nothing)
                                    .add_node("child", child)
                                    .add_node("workflow", workflow)
                                    .add_edge(START, "function")
                                    .compile()
                                    .get_graph();
  using Kind = DrawableGraph::NodeKind;
  std::vector<std::pair<std::string, Kind>> kinds;
  for (const DrawableGraph::Node& node : drawing.nodes) kinds.emplace_back(node.id, node.kind);
  const std::vector<std::pair<std::string, Kind>> expected = {{START, Kind::function},
                                                              {"function", Kind::function},
                                                              {"child", Kind::subgraph},
                                                              {"workflow", Kind::entrypoint},
                                                              {END, Kind::nothing}};
  EXPECT_EQ(kinds, expected);
}

TEST(Drawing, FindsTheFirstAndTheLastNode) {
  DrawableGraph drawing{.nodes = {{"a", "a"}, {"b", "b"}, {"c", "c"}},
                        .edges = {{"a", "b"}, {"b", "c"}}};
  ASSERT_NE(drawing.first_node(), nullptr);
  EXPECT_EQ(drawing.first_node()->id, "a");
  ASSERT_NE(drawing.last_node(), nullptr);
  EXPECT_EQ(drawing.last_node()->id, "c");
  drawing.edges.pop_back();
  EXPECT_EQ(drawing.first_node(), nullptr);
  EXPECT_EQ(drawing.last_node(), nullptr);
}

}  // namespace
}  // namespace clew

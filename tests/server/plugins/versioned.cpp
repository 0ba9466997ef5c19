// A graph that says which version of the library it is from, and some that cannot be made.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct State {
  std::string version = VERSION;
  std::string name;
};
CLEW_STATE(State, version, name)

namespace {

StateGraph<State> which() {
  return StateGraph<State>()
      .add_node("which", [](const State& state) { return Update{{"version", state.version}}; })
      .add_edge(START, "which");
}

CompiledGraph named(const CompileOptions& options) {
  return StateGraph<State>()
      .add_node("name", [name = options.name](const State&) { return Update{{"name", name}}; })
      .add_edge(START, "name")
      .compile(options);
}

StateGraph<State> throws() { throw NodeError("NoKey", "MODEL_KEY is not set"); }

StateGraph<State> unfinished() { return {}; }

}  // namespace

CLEW_GRAPH(which)
CLEW_GRAPH(named)
CLEW_GRAPH(throws)
CLEW_GRAPH(unfinished)

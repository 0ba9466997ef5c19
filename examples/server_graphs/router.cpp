// router: a node that says by a Command where to go next.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct RouterState {
  std::string kind;
  std::vector<std::string> path;
};
CLEW_STATE(RouterState, kind, reduced(path, append))

namespace {

Command pick(const RouterState& state) {
  return Command{.update = {{"path", list({"pick"})}},
                 .goto_ = {state.kind == "even" ? "even" : "odd"}};
}

StateGraph<RouterState> router() {
  return StateGraph<RouterState>()
      .add_node("pick", pick, {.destinations = {"even", "odd"}})
      .add_node("even", [](const RouterState&) { return Update{{"path", list({"even"})}}; })
      .add_node("odd", [](const RouterState&) { return Update{{"path", list({"odd"})}}; })
      .add_edge(START, "pick")
      .add_edge("even", END)
      .add_edge("odd", END);
}

}  // namespace

CLEW_GRAPH(router)

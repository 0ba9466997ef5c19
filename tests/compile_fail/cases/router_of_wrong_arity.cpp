// expect: a router is a function of the state, .* that returns a node's name, a Send, or a std::vector
#include <clew/graph.hpp>

struct State {
  int n = 0;
};
CLEW_STATE(State, n)

int main() {
  clew::StateGraph<State>().add_conditional_edges("a", [](const State&, int) { return "b"; });
}

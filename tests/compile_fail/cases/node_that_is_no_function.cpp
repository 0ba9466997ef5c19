// expect: a node is a function of the state, or of the state and a Runtime&
#include <clew/graph.hpp>

struct State {
  int n = 0;
};
CLEW_STATE(State, n)

int main() { clew::StateGraph<State>().add_node("a", 3); }

// expect: a node or task returns an Update, a struct, a Command, a std::vector of Commands
#include <clew/graph.hpp>

struct Opaque {};
struct State {
  int n = 0;
};
CLEW_STATE(State, n)

int main() {
  clew::StateGraph<State>().add_node("a", [](const State&) { return Opaque{}; });
}

// expect: a node takes the state, a struct with some of its fields, or a clew::Value; write CLEW_STATE
#include <clew/graph.hpp>

struct Opaque {};
struct State {
  int n = 0;
};
CLEW_STATE(State, n)

int main() {
  clew::StateGraph<State>().add_node("a", [](const Opaque&) { return clew::Update{}; });
}

// fail: fails unless it is told not to.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct FailState {
  std::string value;
  bool boom = true;
};
CLEW_STATE(FailState, value, boom)

namespace {

Update maybe_boom(const FailState& state) {
  if (state.boom) throw ValueError("boom at maybe_boom");
  return Update{{"value", state.value + "+survived"}};
}

StateGraph<FailState> fail() {
  return StateGraph<FailState>()
      .add_node("ok_step",
                [](const FailState& state) { return Update{{"value", state.value + "ok"}}; })
      .add_node("maybe_boom", maybe_boom)
      .add_edge(START, "ok_step")
      .add_edge("ok_step", "maybe_boom")
      .add_edge("maybe_boom", END);
}

}  // namespace

CLEW_GRAPH(fail)

// loop: goes round until it has counted far enough.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct LoopState {
  int count = 0;
  int until = 3;
};
CLEW_STATE(LoopState, reduced(count, add), until)

namespace {

std::string again(const LoopState& state) { return state.count < state.until ? "step" : END; }

StateGraph<LoopState> loop() {
  return StateGraph<LoopState>()
      .add_node("step", [](const LoopState&) { return Update{{"count", 1}}; })
      .add_edge(START, "step")
      .add_conditional_edges("step", again, {{{"step", "step"}, {END, END}}});
}

}  // namespace

CLEW_GRAPH(loop)

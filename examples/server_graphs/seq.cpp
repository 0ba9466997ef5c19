// seq: three nodes in a row, each of which adds its letter.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct SeqState {
  std::string value;
  std::vector<std::string> log;
};
CLEW_STATE(SeqState, value, reduced(log, append))

namespace {

auto letter(std::string text) {
  return [text](const SeqState& state) {
    return Update{{"value", state.value + text}, {"log", list({text})}};
  };
}

StateGraph<SeqState> seq() {
  return StateGraph<SeqState>()
      .add_node("a", letter("a"))
      .add_node("b", letter("b"))
      .add_node("c", letter("c"))
      .add_edge(START, "a")
      .add_edge("a", "b")
      .add_edge("b", "c")
      .add_edge("c", END);
}

}  // namespace

CLEW_GRAPH(seq)

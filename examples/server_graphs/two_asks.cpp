// two_asks: two nodes of one step, each with a question of its own.
#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct TwoAskState {
  std::vector<std::string> got;
};
CLEW_STATE(TwoAskState, reduced(got, append))

namespace {

auto asker(std::string who) {
  return [who](const TwoAskState&, Runtime& runtime) {
    const Value answer = runtime.interrupt({{"who", who}});
    const std::string text = answer.is_string() ? answer.get<std::string>() : to_json(answer);
    return Update{{"got", list({who + "=" + text})}};
  };
}

StateGraph<TwoAskState> two_asks() {
  return StateGraph<TwoAskState>()
      .add_node("left", asker("left"))
      .add_node("right", asker("right"))
      .add_edge(START, "left")
      .add_edge(START, "right")
      .add_edge("left", END)
      .add_edge("right", END);
}

}  // namespace

CLEW_GRAPH(two_asks)

// fanout: one task per item, all at once, and a node that adds up what they found.
#include <numeric>

#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct FanState {
  std::vector<int> items;
  std::vector<int> squares;
  int total = 0;
};
CLEW_STATE(FanState, items, reduced(squares, append), total)

// What a task is sent, in place of the state.
struct FanItem {
  int n = 0;
};
CLEW_STATE(FanItem, n)

namespace {

std::vector<Send> spread(const FanState& state) {
  std::vector<Send> tasks;
  for (const int item : state.items) tasks.push_back({"square", FanItem{item}});
  return tasks;
}

Update square(const FanItem& item) { return Update{{"squares", list({item.n * item.n})}}; }

Update gather(const FanState& state) {
  return Update{{"total", std::accumulate(state.squares.begin(), state.squares.end(), 0)}};
}

StateGraph<FanState> fanout() {
  return StateGraph<FanState>()
      .add_node("plan", [](const FanState&) { return Update{{"total", 0}}; })
      .add_node("square", square)
      .add_node("gather", gather)
      .add_edge(START, "plan")
      .add_conditional_edges("plan", spread, {{{"square", "square"}}})
      .add_edge("square", "gather")
      .add_edge("gather", END);
}

}  // namespace

CLEW_GRAPH(fanout)

// slow: takes its time, tells how far it is, and can be cancelled while it sleeps.
#include <chrono>

#include <clew/clew.hpp>
#include <clew/plugin.hpp>

using namespace clew;

struct SlowState {
  int ticks = 3;
  double delay = 0.1;
  std::vector<std::string> done;
};
CLEW_STATE(SlowState, ticks, delay, reduced(done, append))

namespace {

Task<Update> work(const SlowState& state, Runtime& runtime) {
  const auto delay = std::chrono::nanoseconds(static_cast<std::int64_t>(state.delay * 1e9));
  for (int i = 0; i < state.ticks; ++i) {
    co_await runtime.sleep(delay);
    runtime.stream_writer(object({{"tick", i}}));
  }
  co_return Update{{"done", list({"work:" + std::to_string(state.ticks)})}};
}

StateGraph<SlowState> slow() {
  return StateGraph<SlowState>()
      .add_node("work", work)
      .add_node("end", [](const SlowState&) { return Update{{"done", list({"end"})}}; })
      .add_edge(START, "work")
      .add_edge("work", "end")
      .add_edge("end", END);
}

}  // namespace

CLEW_GRAPH(slow)

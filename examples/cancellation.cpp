// Stop a run from outside, and continue the thread later.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  std::vector<std::string> done;
};
CLEW_STATE(State, reduced(done, append))

int main() {
  // [snippet cancel]
  std::stop_source stop;
  auto graph = StateGraph<State>()
                   .add_node("first",
                             [&stop](const State&) {
                               stop.request_stop();  // as another thread would
                               return Update{{"done", {"first"}}};
                             })
                   .add_node("second", [](const State&) { return Update{{"done", {"second"}}}; })
                   .add_edge(START, "first")
                   .add_edge("first", "second")
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  try {
    graph.invoke({{"done", list()}}, {.thread_id = "1", .stop = stop.get_token()});
  } catch (const Cancelled& error) {
    std::cout << error.what() << '\n';
  }
  Config thread{.thread_id = "1"};
  std::cout << Value(graph.get_state(thread).next) << '\n';  // ["second"]
  std::cout << graph.invoke(nullptr, thread) << '\n';        // {"done":["first","second"]}
  // [/snippet cancel]
}

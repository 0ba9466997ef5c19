// A graph with a checkpointer: every super-step is saved as a checkpoint of the thread.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

// [snippet state]
struct State {
  std::string foo;
  std::vector<std::string> bar;
};
CLEW_STATE(State, foo, reduced(bar, append))
// [/snippet state]

int main() {
  // [snippet graph]
  auto graph =
      StateGraph<State>()
          .add_node("node_a", [](const State&) { return Update{{"foo", "a"}, {"bar", {"a"}}}; })
          .add_node("node_b", [](const State&) { return Update{{"foo", "b"}, {"bar", {"b"}}}; })
          .add_edge(START, "node_a")
          .add_edge("node_a", "node_b")
          .add_edge("node_b", END)
          .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  Config thread{.thread_id = "1"};
  Value result = graph.invoke({{"foo", ""}}, thread);
  std::cout << result << '\n';  // {"foo":"b","bar":["a","b"]}
  // [/snippet graph]

  // [snippet history]
  for (const StateSnapshot& snapshot : graph.get_state_history(thread)) {  // newest first
    std::cout << '\n' << snapshot << '\n';
  }
  // StateSnapshot(values={"foo":"b","bar":["a","b"]}, next=[], config=... and three more
  // [/snippet history]

  std::cout << '\n';
  // [snippet get_state]
  StateSnapshot now = graph.get_state(thread);                 // the newest checkpoint
  StateSnapshot before = graph.get_state(*now.parent_config);  // the one it followed
  std::cout << now.values << " after " << before.values << '\n';
  // {"foo":"b","bar":["a","b"]} after {"foo":"a","bar":["a"]}

  Config by_id{.thread_id = "1", .checkpoint_id = before.config.checkpoint_id};
  std::cout << Value(graph.get_state(by_id).next) << '\n';  // ["node_b"]
  // [/snippet get_state]
}

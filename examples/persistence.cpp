// A graph whose every super-step is saved: run it, look at its states, replay
// from one of them, and fork it.
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

namespace {

void print_history(const CompiledGraph& graph, const Config& thread) {
  for (const StateSnapshot& s : graph.get_state_history(thread)) {
    std::cout << "step " << s.metadata["step"] << "  " << s.metadata["source"].as_string() << "  "
              << s.values << "  next=" << Value(s.next) << '\n';
  }
}

}  // namespace

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
  for (const StateSnapshot& s : graph.get_state_history(thread)) {  // newest first
    std::cout << "step " << s.metadata["step"] << ": " << s.values << '\n';
  }
  // step 2: {"foo":"b","bar":["a","b"]}
  // step 1: {"foo":"a","bar":["a"]}
  // step 0: {"foo":"","bar":[]}
  // step -1: {"bar":[]}
  // [/snippet history]

  // [snippet replay]
  Config before_node_b;
  for (const StateSnapshot& s : graph.get_state_history(thread)) {
    if (s.next == std::vector<std::string>{"node_b"}) before_node_b = s.config;
  }
  graph.invoke(nullptr, before_node_b);  // runs node_b again, as a new branch
  // [/snippet replay]

  // [snippet update]
  graph.update_state(thread, {{"foo", "2"}, {"bar", {"c"}}}, as_node("node_a"));
  StateSnapshot now = graph.get_state(thread);
  std::cout << now.values << " next=" << Value(now.next) << '\n';
  // {"foo":"2","bar":["a","b","c"]} next=["node_b"]
  // [/snippet update]

  std::cout << "\nThe whole thread:\n";
  print_history(graph, thread);
}

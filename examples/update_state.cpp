// Edit the state of a thread: reducers apply, and as_node says what runs next.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  int foo = 0;
  std::vector<std::string> bar;
};
CLEW_STATE(State, foo, reduced(bar, append))

int main() {
  auto graph =
      StateGraph<State>()
          .add_node("node_a", [](const State&) { return Update{{"foo", 1}, {"bar", {"a"}}}; })
          .add_node("node_b", [](const State& s) { return Update{{"foo", s.foo * 10}}; })
          .add_edge(START, "node_a")
          .add_edge("node_a", "node_b")
          .add_edge("node_b", END)
          .compile(
              {.checkpointer = std::make_shared<InMemorySaver>(), .interrupt_before = {"node_b"}});
  Config thread{.thread_id = "1"};
  graph.invoke({{"foo", 0}}, thread);

  // [snippet update]
  std::cout << graph.get_state(thread).values << '\n';  // {"foo":1,"bar":["a"]}
  graph.update_state(thread, {{"foo", 2}, {"bar", {"b"}}});
  std::cout << graph.get_state(thread).values << '\n';  // {"foo":2,"bar":["a","b"]}
  // [/snippet update]

  // [snippet continue]
  std::cout << graph.invoke(nullptr, thread) << '\n';  // {"foo":20,"bar":["a","b"]}
  // [/snippet continue]

  // [snippet as_node]
  graph.update_state(thread, {{"foo", 3}}, as_node("node_a"));
  std::cout << Value(graph.get_state(thread).next) << '\n';  // ["node_b"]
  graph.update_state(thread, {{"foo", 4}}, as_node("node_b"));
  std::cout << Value(graph.get_state(thread).next) << '\n';  // []
  // [/snippet as_node]

  // [snippet fork]
  Config past;
  for (const StateSnapshot& s : graph.get_state_history(thread)) {
    if (s.metadata["step"] == 1) past = s.config;  // after node_a
  }
  Config fork = graph.update_state(past, {{"foo", 7}});
  std::cout << graph.invoke(nullptr, fork) << '\n';  // {"foo":70,"bar":["a"]}
  // [/snippet fork]

  // [snippet overwrite]
  graph.update_state(thread, {{"bar", Overwrite{list({"c"})}}});
  std::cout << graph.get_state(thread).values << '\n';  // {"foo":70,"bar":["c"]}
  // [/snippet overwrite]

  // [snippet unknown]
  try {
    graph.update_state(thread, {{"foo", 1}}, as_node("node_c"));
  } catch (const UnknownNodeError& error) {
    std::cout << error.what() << '\n';  // node 'node_c' does not exist
  }
  // [/snippet unknown]
}

// When checkpoints are stored: before the next step, while it runs, or at the end.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  std::vector<std::string> log;
};
CLEW_STATE(State, reduced(log, append))

int main() {
  // [snippet durability]
  auto saver = std::make_shared<InMemorySaver>();
  auto count = [saver](const State&, Runtime& runtime) {
    const std::string& thread_id = runtime.config().thread_id;
    std::cout << "  stored so far: " << saver->thread_size(thread_id).checkpoints << '\n';
  };
  auto graph = StateGraph<State>()
                   .add_node("node_a", count)
                   .add_node("node_b", count)
                   .add_edge(START, "node_a")
                   .add_edge("node_a", "node_b")
                   .compile({.checkpointer = saver});

  for (Durability durability : {Durability::sync, Durability::async, Durability::exit}) {
    Config thread{.thread_id = Value(durability).get<std::string>(), .durability = durability};
    std::cout << thread.thread_id << '\n';
    graph.invoke({{"log", list()}}, thread);
    std::cout << "  stored at the end: " << saver->thread_size(thread.thread_id).checkpoints
              << '\n';
  }
  // sync: 2 and 3 while it runs, 4 at the end; exit: 0 and 0, 1 at the end
  // [/snippet durability]
}

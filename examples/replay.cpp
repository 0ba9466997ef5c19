// Replay: go back to a checkpoint and run again what came after it.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  std::string foo;
  std::vector<std::string> bar;
};
CLEW_STATE(State, foo, reduced(bar, append))

namespace {

auto says(const std::string& name) {
  return [name](const State&) {
    std::cout << name << " runs\n";
    return Update{{"foo", name}, {"bar", list({name})}};
  };
}

}  // namespace

int main() {
  auto graph = StateGraph<State>()
                   .add_node("node_a", says("node_a"))
                   .add_node("node_b", says("node_b"))
                   .add_edge(START, "node_a")
                   .add_edge("node_a", "node_b")
                   .add_edge("node_b", END)
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  Config thread{.thread_id = "1"};
  graph.invoke({{"foo", ""}}, thread);

  std::cout << "replay\n";
  // [snippet replay]
  std::string checkpoint_id;
  for (const StateSnapshot& s : graph.get_state_history(thread)) {
    if (s.next == std::vector<std::string>{"node_b"}) checkpoint_id = s.config.checkpoint_id;
  }

  Config config{.thread_id = "1", .checkpoint_id = checkpoint_id};
  std::cout << graph.invoke(nullptr, config) << '\n';
  // node_b runs
  // {"foo":"node_b","bar":["node_a","node_b"]}
  // [/snippet replay]

  // [snippet branches]
  for (const StateSnapshot& s : graph.get_state_history(thread)) {
    std::cout << "step " << s.metadata["step"] << ' ' << s.metadata["source"].as_string()
              << " next=" << Value(s.next) << '\n';
  }
  // step 3 loop next=[]
  // step 2 fork next=["node_b"]
  // step 2 loop next=[]
  // step 1 loop next=["node_b"]
  // step 0 loop next=["node_a"]
  // step -1 input next=["__start__"]
  // [/snippet branches]

  // [snippet finished]
  graph.invoke(nullptr, thread);  // the newest checkpoint has nothing to run: nothing runs
  // [/snippet finished]
}

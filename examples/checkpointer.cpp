// What a checkpointer holds of a thread, and how to manage threads.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  std::string foo;
  std::vector<std::string> bar;
};
CLEW_STATE(State, foo, reduced(bar, append))

int main() {
  auto saver = std::make_shared<InMemorySaver>();
  auto graph = StateGraph<State>()
                   .add_node("node_a", [](const State&) { return Update{{"bar", {"a"}}}; })
                   .add_node("node_b", [](const State&) { return Update{{"bar", {"b"}}}; })
                   .add_edge(START, "node_a")
                   .add_edge("node_a", "node_b")
                   .compile({.checkpointer = saver});
  graph.invoke({{"foo", "x"}}, {.thread_id = "1", .metadata = {{"user", "ada"}}});

  // [snippet tuple]
  CheckpointTuple newest = *saver->get_tuple({.thread_id = "1"});
  CheckpointTuple parent = *saver->get_tuple({.thread_id = "1", .checkpoint_id = newest.parent_id});
  std::cout << newest.metadata << '\n';
  // {"source":"loop","step":2,"parents":{},"user":"ada"}

  const auto same_version = [&](std::string_view channel) {
    return newest.checkpoint.channel_versions[channel] ==
           parent.checkpoint.channel_versions[channel];
  };
  std::cout << same_version("foo") << same_version("bar") << '\n';  // 10: only bar is new
  // [/snippet tuple]

  // [snippet writes]
  for (const PendingWrite& write : parent.pending_writes) {  // what node_b wrote
    std::cout << write.channel << " <- " << write.value << '\n';
  }
  // [/snippet writes]

  // [snippet list]
  ListOptions options{.filter = {{"source", "loop"}}, .limit = 2};
  for (const CheckpointTuple& tuple : saver->list("1", "", options)) {
    std::cout << tuple.metadata["step"] << ' ' << tuple.checkpoint.channel_values["bar"] << '\n';
  }
  // 2 ["a","b"]
  // 1 ["a"]
  // [/snippet list]

  // [snippet manage]
  saver->copy_thread("1", "2");
  saver->prune("1", {.keep = 1});
  for (const ThreadInfo& thread : saver->list_threads({.filter = {{"user", "ada"}}})) {
    std::cout << thread.thread_id << ": " << thread.checkpoints << '\n';
  }
  // 1: 1
  // 2: 4
  saver->delete_thread("2");
  std::cout << graph.get_state({.thread_id = "2"}).values << '\n';  // {}
  // [/snippet manage]
}

// A node fails; what its sibling finished is not done again.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Work {
  std::vector<std::string> done;
};
CLEW_STATE(Work, reduced(done, append))

int main() {
  // [snippet failure]
  int attempts = 0;
  auto graph = StateGraph<Work>()
                   .add_node("steady",
                             [](const Work&) {
                               std::cout << "steady runs\n";  // once
                               return Update{{"done", {"steady"}}};
                             })
                   .add_node("shaky",
                             [&attempts](const Work&) {
                               if (++attempts == 1) throw std::runtime_error("the network is down");
                               return Update{{"done", {"shaky"}}};
                             })
                   .add_edge(START, "steady")
                   .add_edge(START, "shaky")
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  Config thread{.thread_id = "1"};
  try {
    graph.invoke({{"done", list()}}, thread);
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << '\n';  // the network is down
  }
  // [/snippet failure]

  // [snippet pending]
  StateSnapshot failed = graph.get_state(thread);
  for (const SnapshotTask& task : failed.tasks) {
    std::cout << task.name << ": " << task.error.value_or(task.result.value_or(nullptr)) << '\n';
  }
  // steady: {"done":["steady"]}
  // shaky: "RuntimeError('the network is down')"
  std::cout << Value(failed.next) << '\n';  // ["shaky"]
  // [/snippet pending]

  // [snippet continue]
  std::cout << graph.invoke(nullptr, thread) << '\n';  // {"done":["shaky","steady"]}
  // [/snippet continue]
}

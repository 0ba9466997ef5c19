// Stop before a node, look at the state, change it, and go on.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Mail {
  std::string text;
  bool sent = false;
};
CLEW_STATE(Mail, text, sent)

int main() {
  // [snippet breakpoint]
  auto graph = StateGraph<Mail>()
                   .add_node("write", [](const Mail&) { return Update{{"text", "Dear reade"}}; })
                   .add_node("send", [](const Mail&) { return Update{{"sent", true}}; })
                   .add_edge(START, "write")
                   .add_edge("write", "send")
                   .compile({.checkpointer = std::make_shared<InMemorySaver>(),
                             .interrupt_before = {"send"}});

  Config thread{.thread_id = "1"};
  graph.invoke({{"text", ""}}, thread);
  StateSnapshot waiting = graph.get_state(thread);
  std::cout << waiting.values << " next=" << Value(waiting.next) << '\n';
  // {"text":"Dear reade"} next=["send"]

  graph.update_state(thread, {{"text", "Dear reader"}});
  std::cout << graph.invoke(nullptr, thread) << '\n';  // {"text":"Dear reader","sent":true}
  // [/snippet breakpoint]

  // [snippet this_run]
  Config stepwise{.thread_id = "2", .interrupt_after = {"*"}};
  graph.invoke({{"text", ""}}, stepwise);
  std::cout << Value(graph.get_state(stepwise).next) << '\n';  // ["send"]
  // [/snippet this_run]
}

// A node asks a question, the run stops, and goes on when it is answered.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Draft {
  std::string text;
  bool approved = false;
};
CLEW_STATE(Draft, text, approved)

int main() {
  // [snippet interrupt]
  auto graph = StateGraph<Draft>()
                   .add_node("write", [](const Draft&) { return Update{{"text", "Dear reader"}}; })
                   .add_node("review",
                             [](const Draft& draft, Runtime& runtime) {
                               Value answer = runtime.interrupt({{"approve?", draft.text}});
                               return Update{{"approved", answer}};
                             })
                   .add_edge(START, "write")
                   .add_edge("write", "review")
                   .add_edge("review", END)
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  Config thread{.thread_id = "letter"};
  Value stopped = graph.invoke({{"text", ""}}, thread);
  for (const Value& question : stopped["__interrupt__"]) {
    std::cout << question.get<Interrupt>().value << '\n';  // {"approve?":"Dear reader"}
  }

  Value done = graph.invoke(Command{.resume = true}, thread);
  std::cout << done << '\n';  // {"text":"Dear reader","approved":true}
  // [/snippet interrupt]
}

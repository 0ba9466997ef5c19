// Nodes that wait without holding a thread, and calls for coroutines.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  std::vector<std::string> questions;
  std::vector<std::string> answers;
};
CLEW_STATE(State, questions, reduced(answers, append))

struct Question {
  std::string text;
};
CLEW_STATE(Question, text)

// [snippet node]
// Stands for a call to a model: while it waits, the thread does something else.
Task<Update> ask(Question question, Runtime& runtime) {
  co_await runtime.sleep(std::chrono::milliseconds(5));
  Update update;
  update.set("answers", list({question.text + "!"}));
  co_return update;
}

std::vector<Send> ask_all(const State& state) {
  std::vector<Send> sends;
  for (const std::string& question : state.questions) {
    sends.emplace_back("ask", Value{{"text", question}});
  }
  return sends;
}
// [/snippet node]

// [snippet calls]
Task<Value> serve(CompiledGraph graph) {
  // Named first: see below.
  Config thread{.thread_id = "1", .max_concurrency = 2};
  Value input{{"questions", {"who", "what", "where"}}};
  Value result = co_await graph.async_invoke(input, thread);
  StateSnapshot state = co_await graph.async_get_state(thread);
  co_return list({result["answers"], state.next.size()});
}
// [/snippet calls]

int main() {
  // [snippet wait]
  auto graph = StateGraph<State>()
                   .add_node("ask", ask)
                   .add_conditional_edges(START, ask_all)
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  std::cout << wait(serve(graph)) << '\n';  // [["who!","what!","where!"],0]
  // [/snippet wait]
}

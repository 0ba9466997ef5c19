// Several questions: two in one node, and two nodes that ask at the same time.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Form {
  std::string name;
  std::string city;
};
CLEW_STATE(Form, name, city)

int main() {
  // [snippet one_node]
  auto fill = [](const Form&, Runtime& runtime) {
    std::cout << "fill runs\n";  // three times: it starts anew with every answer
    Value name = runtime.interrupt("Name?");
    Value city = runtime.interrupt("City?");
    return Update{{"name", name}, {"city", city}};
  };
  auto in_turn = StateGraph<Form>()
                     .add_node("fill", fill)
                     .add_edge(START, "fill")
                     .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  Config thread{.thread_id = "1"};
  in_turn.invoke({{"name", ""}}, thread);
  in_turn.invoke(Command{.resume = "Ada"}, thread);
  std::cout << in_turn.invoke(Command{.resume = "London"}, thread) << '\n';
  // {"name":"Ada","city":"London"}
  // [/snippet one_node]

  // [snippet parallel]
  auto ask = [](const std::string& key) {
    return [key](const Form&, Runtime& runtime) {
      return Update{{key, runtime.interrupt(key + "?")}};
    };
  };
  auto at_once = StateGraph<Form>()
                     .add_node("ask_name", ask("name"))
                     .add_node("ask_city", ask("city"))
                     .add_edge(START, "ask_name")
                     .add_edge(START, "ask_city")
                     .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  at_once.invoke({{"name", ""}}, thread);

  try {
    at_once.invoke(Command{.resume = "Ada"}, thread);
  } catch (const AmbiguousResumeError& error) {
    std::cout << error.what() << '\n';
    // several interrupts are pending; resume with an object from interrupt id to answer
  }
  Value answers = object();
  for (const Interrupt& question : at_once.get_state(thread).interrupts) {
    answers = answers.set(question.id, question.value == "name?" ? "Ada" : "London");
  }
  std::cout << at_once.invoke(Command{.resume = answers}, thread) << '\n';
  // {"name":"Ada","city":"London"}
  // [/snippet parallel]
}

// A conversation: each turn is a run on the same thread, which remembers the turns before.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

// [snippet state]
struct Chat {
  Value messages = list();
};
CLEW_STATE(Chat, reduced(messages, add_messages))
// [/snippet state]

namespace {

Value last(const Value& messages) { return messages[messages.size() - 1]; }

// Stands in for a language model: it knows what was said on this thread.
Update call_model(const Chat& chat) {
  std::string reply = "I do not know your name.";
  for (const Value& message : chat.messages) {
    const std::string text = message_text(message);
    if (text.starts_with("I am ")) reply = "Your name is " + text.substr(5);
  }
  return Update{{"messages", AIMessage{.content = reply}}};
}

}  // namespace

int main() {
  // [snippet turns]
  auto graph = StateGraph<Chat>()
                   .add_node("call_model", call_model)
                   .add_edge(START, "call_model")
                   .add_edge("call_model", END)
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  const auto say = [&graph](const std::string& text, const Config& thread) {
    Value state = graph.invoke({{"messages", HumanMessage{.content = text}}}, thread);
    std::cout << message_text(last(state["messages"])) << '\n';
  };
  Config ada{.thread_id = "ada"};
  say("I am Ada", ada);          // Your name is Ada
  say("What is my name?", ada);  // Your name is Ada
  Config bob{.thread_id = "bob"};
  say("What is my name?", bob);  // I do not know your name.
  // [/snippet turns]

  // [snippet transcript]
  for (const Value& message : graph.get_state(ada).values["messages"]) {
    std::cout << message_type(message) << ": " << message_text(message) << '\n';
  }
  // human: I am Ada
  // ai: Your name is Ada
  // human: What is my name?
  // ai: Your name is Ada
  // [/snippet transcript]
}

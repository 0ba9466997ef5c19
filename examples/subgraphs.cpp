// A graph as a node of another, with a question inside it.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Order {
  std::string item;
  std::string size;
};
CLEW_STATE(Order, item, size)

int main() {
  // [snippet subgraph]
  auto choose_size =
      StateGraph<Order>()
          .add_node(
              "ask",
              [](const Order& order, Runtime& runtime) {
                return Update{{"size", runtime.interrupt("Which size of " + order.item + "?")}};
              })
          .add_edge(START, "ask")
          .compile();

  auto shop = StateGraph<Order>()
                  .add_node("choose", choose_size)
                  .add_edge(START, "choose")
                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  Config thread{.thread_id = "1"};
  shop.invoke({{"item", "tea"}}, thread);
  StateSnapshot waiting = shop.get_state(thread, true);
  std::cout << waiting.tasks[0].state->interrupts[0].value << '\n';  // "Which size of tea?"
  std::cout << shop.invoke(Command{.resume = "large"}, thread) << '\n';
  // {"item":"tea","size":"large"}
  // [/snippet subgraph]
}

// A graph as a node of another: questions inside it, its state, its history.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Order {
  std::string item;
  std::string size;
};
CLEW_STATE(Order, item, size)

struct Visits {
  int count = 0;
};
CLEW_STATE(Visits, reduced(count, add))

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

  // [snippet update]
  Config second{.thread_id = "2"};
  shop.invoke({{"item", "tea"}}, second);
  Config inside = shop.get_state(second, true).tasks[0].state->config;
  shop.update_state(inside, {{"item", "coffee"}});
  Value asked = shop.invoke(nullptr, second);
  std::cout << asked["__interrupt__"][0].get<Interrupt>().value << '\n';  // "Which size of coffee?"
  // [/snippet update]

  // [snippet namespace]
  auto show = [](const Order&, Runtime& runtime) {
    std::cout << '"' << runtime.config().checkpoint_ns << "\"\n";
  };
  auto inner = StateGraph<Order>().add_node("show", show).add_edge(START, "show").compile();
  auto outer = StateGraph<Order>()
                   .add_node("before", show)
                   .add_node("inside", inner)
                   .add_edge(START, "before")
                   .add_edge("before", "inside")
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  outer.invoke({{"item", "tea"}}, thread);
  // ""
  // "inside:" and the id of the task
  // [/snippet namespace]

  // [snippet call]
  auto count = StateGraph<Visits>()
                   .add_node("add", [](const Visits&) { return Update{{"count", 1}}; })
                   .add_edge(START, "add")
                   .compile({.subgraph_persistence = SubgraphPersistence::own});

  auto visit = [count](const Order&, Runtime& runtime) {
    Value visits = count.invoke({{"count", 0}}, runtime);
    return Update{{"item", "visit " + std::to_string(visits.get<int>("count"))}};
  };
  auto door = StateGraph<Order>()
                  .add_node("visit", visit, {.calls = {count}})
                  .add_edge(START, "visit")
                  .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  std::cout << door.invoke({{"item", ""}}, thread)["item"] << '\n';  // "visit 1"
  std::cout << door.invoke({{"item", ""}}, thread)["item"] << '\n';  // "visit 2"
  // [/snippet call]

  // [snippet parent]
  auto hand_over = [](const Order&) {
    return Command{
        .update = {{"size", "chosen inside"}}, .goto_ = {"pay"}, .graph = Command::PARENT};
  };
  auto helper =
      StateGraph<Order>().add_node("hand_over", hand_over).add_edge(START, "hand_over").compile();
  auto till =
      StateGraph<Order>()
          .add_node("helper", helper)
          .add_node("pay", [](const Order& o) { return Update{{"item", o.item + " paid"}}; })
          .add_edge(START, "helper")
          .compile();
  std::cout << till.invoke({{"item", "tea"}}) << '\n';
  // {"item":"tea paid","size":"chosen inside"}
  // [/snippet parent]
}

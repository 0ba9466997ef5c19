// Find a checkpoint in the history of a thread, fork it, and follow the other way.
#include <algorithm>
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Trip {
  std::string place;
  std::string hotel;
  std::string booking;
};
CLEW_STATE(Trip, place, hotel, booking)

int main() {
  auto graph =
      StateGraph<Trip>()
          .add_node("choose", [](const Trip&) { return Update{{"place", "Rome"}}; })
          .add_node("search", [](const Trip& t) { return Update{{"hotel", "Grand " + t.place}}; })
          .add_node("book",
                    [](const Trip& trip, Runtime& runtime) {
                      Value answer = runtime.interrupt("Book " + trip.hotel + "?");
                      return Update{{"booking", answer}};
                    })
          .add_edge(START, "choose")
          .add_edge("choose", "search")
          .add_edge("search", "book")
          .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  Config thread{.thread_id = "1"};
  graph.invoke({{"place", ""}}, thread);
  std::cout << graph.invoke(Command{.resume = "yes"}, thread) << '\n';
  // {"place":"Rome","hotel":"Grand Rome","booking":"yes"}

  // [snippet find]
  std::vector<StateSnapshot> history;
  for (const StateSnapshot& s : graph.get_state_history(thread)) history.push_back(s);

  // The checkpoint before a node ran.
  auto before_search = std::ranges::find_if(
      history, [](const auto& s) { return std::ranges::count(s.next, "search") > 0; });
  // A checkpoint by its step.
  auto step_2 =
      std::ranges::find_if(history, [](const auto& s) { return s.metadata["step"] == 2; });
  // The checkpoint where a question was asked.
  auto asked = std::ranges::find_if(history, [](const auto& s) { return !s.interrupts.empty(); });
  // [/snippet find]
  std::cout << before_search->values << '\n';       // {"place":"Rome"}
  std::cout << Value(step_2->next) << '\n';         // ["book"]
  std::cout << asked->interrupts[0].value << '\n';  // "Book Grand Rome?"

  // [snippet fork]
  Config fork = graph.update_state(before_search->config, {{"place", "Oslo"}});
  Value stopped = graph.invoke(nullptr, fork);
  std::cout << stopped["__interrupt__"][0].get<Interrupt>().value << '\n';  // "Book Grand Oslo?"
  std::cout << graph.invoke(Command{.resume = "no"}, thread) << '\n';
  // {"place":"Oslo","hotel":"Grand Oslo","booking":"no"}
  // [/snippet fork]

  // [snippet replay]
  // Replay: the question is asked again, although it was answered then.
  Value again = graph.invoke(nullptr, asked->config);
  std::cout << again["__interrupt__"][0].get<Interrupt>().value << '\n';  // "Book Grand Rome?"
  // [/snippet replay]

  // [snippet forks]
  HistoryOptions updates{.filter = {{"source", "update"}}};
  for (const StateSnapshot& s : graph.get_state_history(thread, updates)) {
    std::cout << "forked at step " << s.metadata["step"] << ": " << s.values << '\n';
  }
  // forked at step 2: {"place":"Oslo"}
  // [/snippet forks]
}

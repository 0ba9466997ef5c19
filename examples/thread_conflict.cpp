// Two writers on one thread: one wins the step, the other is told.
#include <iostream>
#include <optional>

#include <clew/clew.hpp>

using namespace clew;

struct Ticket {
  std::string owner;
  std::string answer;
};
CLEW_STATE(Ticket, owner, answer)

int main() {
  // [snippet conflict]
  std::optional<CompiledGraph> graph;
  Config thread{.thread_id = "ticket"};
  bool is_edited = false;
  const auto write_answer = [&](const Ticket& ticket) {
    // Somebody edits the ticket while this node works on it.
    if (!std::exchange(is_edited, true)) graph->update_state(thread, {{"owner", "Bob"}});
    return Update{{"answer", "Dear " + ticket.owner}};
  };
  graph = StateGraph<Ticket>()
              .add_node("write_answer", write_answer)
              .add_edge(START, "write_answer")
              .compile({.checkpointer = std::make_shared<InMemorySaver>()});

  try {
    graph->invoke({{"owner", "Ada"}}, thread);
  } catch (const ThreadConflict& error) {
    std::cout << error.what() << '\n';
  }
  std::cout << graph->get_state(thread).values << '\n';  // {"owner":"Bob"}
  std::cout << graph->invoke(nullptr, thread) << '\n';   // {"owner":"Bob","answer":"Dear Bob"}
  // [/snippet conflict]
}

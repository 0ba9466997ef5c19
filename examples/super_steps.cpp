// Which nodes run together, and how a graph goes round in a cycle.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Report {
  std::vector<std::string> notes;
  int drafts = 0;
};
CLEW_STATE(Report, reduced(notes, append), drafts)

namespace {

auto note(const std::string& text) {
  return [text](const Report&) { return Update{{"notes", list({text})}}; };
}

}  // namespace

int main() {
  // [snippet steps]
  auto graph = StateGraph<Report>()
                   .add_node("plan", note("plan"))
                   .add_node("search", note("search"))
                   .add_node("read", note("read"))
                   .add_node("write", note("write"))
                   .add_edge(START, "plan")
                   .add_edge("plan", "search")
                   .add_edge("plan", "read")
                   .add_edge({"search", "read"}, "write")  // waits for both
                   .add_edge("write", END)
                   .compile({.checkpointer = std::make_shared<InMemorySaver>()});
  Config thread{.thread_id = "1"};
  graph.invoke({{"notes", list()}}, thread);

  for (const StateSnapshot& s : graph.get_state_history(thread)) {
    std::cout << "step " << s.metadata["step"] << ' ' << s.values["notes"]
              << " next=" << Value(s.next) << '\n';
  }
  // step 3 ["plan","read","search","write"] next=[]
  // step 2 ["plan","read","search"] next=["write"]
  // step 1 ["plan"] next=["search","read"]
  // step 0 [] next=["plan"]
  // step -1 [] next=["__start__"]
  // [/snippet steps]

  // [snippet cycle]
  auto good_enough = [](const Report& report) { return report.drafts < 3 ? "draft" : END; };
  auto cycle =
      StateGraph<Report>()
          .add_node("draft", [](const Report& r) { return Update{{"drafts", r.drafts + 1}}; })
          .add_edge(START, "draft")
          .add_conditional_edges("draft", good_enough)
          .compile();
  std::cout << cycle.invoke({{"drafts", 0}})["drafts"] << '\n';  // 3
  // [/snippet cycle]

  // [snippet limit]
  try {
    cycle.invoke({{"drafts", 0}}, {.recursion_limit = 2});
  } catch (const GraphRecursionError& error) {
    std::cout << error.what() << '\n';
    // the run did not end within 2 steps; raise Config::recursion_limit or end the cycle
  }
  // [/snippet limit]

  // [snippet goto]
  auto decide = [](const Report& report) {
    if (report.drafts >= 2) return Command{.update = {{"notes", {"done"}}}};
    return Command{.update = {{"drafts", report.drafts + 1}}, .goto_ = {"decide"}};
  };
  auto command =
      StateGraph<Report>().add_node("decide", decide).add_edge(START, "decide").compile();
  std::cout << command.invoke({{"drafts", 0}}) << '\n';  // {"notes":["done"],"drafts":2}
  // [/snippet goto]
}

// One task per item, decided while the graph runs, and a node that gathers them.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Survey {
  std::vector<std::string> topics;
  std::vector<std::string> notes;
  int count = 0;
};
CLEW_STATE(Survey, topics, reduced(notes, append), count)

int main() {
  // [snippet send]
  auto fan_out = [](const Survey& survey) {
    std::vector<Send> sends;
    for (const std::string& topic : survey.topics) sends.push_back({"study", {{"topic", topic}}});
    return sends;
  };
  auto graph =
      StateGraph<Survey>()
          .add_node("study",
                    [](const Value& item) {
                      return Update{{"notes", list({item.get<std::string>("topic") + " studied"})}};
                    })
          .add_node("gather", [](const Survey& s) { return Update{{"count", s.notes.size()}}; })
          .add_conditional_edges(START, fan_out, {{{"study", "study"}}})
          .add_edge("study", "gather")
          .add_edge("gather", END)
          .compile();

  std::cout << graph.invoke({{"topics", {"tides", "moons"}}}) << '\n';
  // {"topics":["tides","moons"],"notes":["tides studied","moons studied"],"count":2}
  // [/snippet send]
}

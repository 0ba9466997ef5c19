// How a graph looks: in a terminal, as Mermaid text, as JSON.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct Essay {
  std::string topic;
  std::string text;
};
CLEW_STATE(Essay, topic, text)

int main() {
  auto do_nothing = [](const Essay&) {};

  auto research = StateGraph<Essay>()
                      .add_node("search", do_nothing)
                      .add_node("read", do_nothing)
                      .add_edge(START, "search")
                      .add_edge("search", "read")
                      .compile();

  // [snippet graph]
  auto graph = StateGraph<Essay>()
                   .add_node("plan", do_nothing, {.destinations = {"research", {END, "no topic"}}})
                   .add_node("research", research)
                   .add_node("write", do_nothing)
                   .add_node("review", do_nothing)
                   .add_edge(START, "plan")
                   .add_edge("research", "write")
                   .add_edge("write", "review")
                   .add_conditional_edges(
                       "review", [](const Essay&) { return "good"; },
                       std::map<std::string, std::string>{{"good", END}, {"weak", "write"}})
                   .compile({.interrupt_before = {"review"}});
  // [/snippet graph]

  // [snippet draw]
  DrawableGraph drawing = graph.get_graph();
  std::cout << drawing.draw_ascii() << '\n';
  std::cout << drawing.draw_mermaid() << '\n';
  std::cout << drawing.to_json()["edges"][1] << '\n';
  // {"source":"plan","target":"__end__","data":"no topic","conditional":true}
  // [/snippet draw]

  // [snippet xray]
  DrawableGraph inside = graph.get_graph(true);  // with all subgraphs; get_graph(1): one level
  for (const DrawableGraph::Node& node : inside.nodes) std::cout << node.id << '\n';
  // __start__, plan, write, review, __end__, research:search, research:read
  // [/snippet xray]
}

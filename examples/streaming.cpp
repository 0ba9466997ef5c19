// What a run tells while it runs.
#include <iostream>

#include <clew/clew.hpp>

using namespace clew;

struct State {
  std::string topic;
  std::string joke;
};
CLEW_STATE(State, topic, joke)

int main() {
  // [snippet stream]
  auto graph =
      StateGraph<State>()
          .add_node("refine",
                    [](const State& s, Runtime& runtime) {
                      runtime.stream_writer({{"progress", 0.5}});
                      return Update{{"topic", s.topic + " and cats"}};
                    })
          .add_node("tell", [](const State& s) { return Update{{"joke", "About " + s.topic}}; })
          .add_edge(START, "refine")
          .add_edge("refine", "tell")
          .add_edge("tell", END)
          .compile();

  StreamOptions options{.modes = {StreamMode::updates, StreamMode::custom}};
  for (const StreamEvent& event : graph.stream({{"topic", "ice"}}, {}, options)) {
    std::cout << event.data << '\n';
  }
  // {"progress":0.5}
  // {"refine":{"topic":"ice and cats"}}
  // {"tell":{"joke":"About ice and cats"}}
  // [/snippet stream]

  // [snippet values]
  for (const StreamEvent& event : graph.stream({{"topic", "ice"}})) {  // StreamMode::values
    std::cout << event.data << '\n';
  }
  // {"topic":"ice"}
  // {"topic":"ice and cats"}
  // {"topic":"ice and cats","joke":"About ice and cats"}
  // [/snippet values]

  // [snippet subgraphs]
  auto show = StateGraph<State>().add_node("act", graph).add_edge(START, "act").compile();
  StreamOptions inside{.modes = {StreamMode::updates}, .subgraphs = true};
  for (const StreamEvent& event : show.stream({{"topic", "ice"}}, {}, inside)) {
    std::cout << event.ns.size() << ' ' << event.data << '\n';
  }
  // 1 {"refine":{"topic":"ice and cats"}}
  // 1 {"tell":{"joke":"About ice and cats"}}
  // 0 {"act":{"topic":"ice and cats","joke":"About ice and cats"}}
  // [/snippet subgraphs]

  // [snippet error]
  auto broken = StateGraph<State>()
                    .add_node("fine", [](const State&) { return Update{{"joke", "none"}}; })
                    .add_node("fail", [](const State&) { throw NodeError("TooSad", "no joke"); })
                    .add_edge(START, "fine")
                    .add_edge("fine", "fail")
                    .compile();
  try {
    for (const StreamEvent& event :
         broken.stream({{"topic", "rain"}}, {}, {.modes = {StreamMode::updates}})) {
      std::cout << event.data << '\n';  // {"fine":{"joke":"none"}}
    }
  } catch (const NodeError& error) {
    std::cout << error.kind() << ": " << error.message() << '\n';  // TooSad: no joke
  }
  // [/snippet error]
}

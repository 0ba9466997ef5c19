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
}

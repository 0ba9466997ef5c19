// A program that serves a graph of its own: what `clew dev` does for libraries.
#include <filesystem>
#include <iostream>

#include <clew/clew.hpp>
#include <clew/server.hpp>

using namespace clew;

// [snippet graph]
struct State {
  std::string name;
  std::string greeting;
};
CLEW_STATE(State, name, greeting)

StateGraph<State> make_greeter() {
  return StateGraph<State>()
      .add_node("greet",
                [](const State& state) { return Update{{"greeting", "hello " + state.name}}; })
      .add_edge(START, "greet")
      .add_edge("greet", END);
}
// [/snippet graph]

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "clew-example-serve";
  std::stop_source stop;
  // [snippet serve]
  ServerOptions options;
  options.data = folder;  // everything is kept in clew.db there
  options.port = 0;       // any free one
  options.stop = stop.get_token();
  options.on_ready = [&](const ServerInfo& info) {
    for (const std::string& graph : info.graphs) std::cout << "serving " << graph << '\n';
    stop.request_stop();  // a real server goes on until SIGTERM
  };
  serve({{"greeter", make_greeter}}, options);
  // [/snippet serve]
  std::cout << "ended\n";
  std::filesystem::remove_all(folder);
}

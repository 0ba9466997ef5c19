// Threads in a file: they are there when the program runs again.
#include <filesystem>
#include <iostream>

#include <clew/clew.hpp>
#include <clew/sqlite_saver.hpp>

using namespace clew;

struct State {
  std::vector<std::string> messages;
};
CLEW_STATE(State, reduced(messages, append))

CompiledGraph make_graph(std::shared_ptr<Checkpointer> saver) {
  return StateGraph<State>()
      .add_node("answer",
                [](const State& state) {
                  const std::string count = std::to_string(state.messages.size());
                  return Update{{"messages", {"that was message " + count}}};
                })
      .add_edge(START, "answer")
      .add_edge("answer", END)
      .compile({.checkpointer = std::move(saver)});
}

int main() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "clew-example";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "threads.db").string();

  // [snippet open]
  auto graph = make_graph(SqliteSaver::open(path));
  graph.invoke({{"messages", {"hello"}}}, {.thread_id = "ada", .metadata = {{"user", "ada"}}});
  // [/snippet open]

  // [snippet again]
  auto saver = SqliteSaver::open(path);  // later, or in another process
  graph = make_graph(saver);
  std::cout << graph.invoke({{"messages", {"are you there?"}}}, {.thread_id = "ada"}) << '\n';
  // {"messages":["hello","that was message 1","are you there?","that was message 3"]}
  // [/snippet again]

  // [snippet query]
  const Value rows = saver->query(
      "SELECT node, COUNT(*) AS writes FROM checkpoint_writes GROUP BY node ORDER BY node");
  std::cout << rows << '\n';
  // [{"node":"__start__","writes":4},{"node":"answer","writes":2}]
  // [/snippet query]

  // [snippet care]
  for (const ThreadInfo& thread : saver->list_threads({.status = ThreadStatus::idle})) {
    std::cout << thread.thread_id << ": " << thread.checkpoints << " checkpoints\n";
  }
  saver->prune("ada", {.keep = 1});
  std::cout << saver->thread_size("ada").checkpoints << '\n';  // 1

  sweep_threads(*saver, {.ttl = std::chrono::hours(24 * 30)});  // what nobody used for a month

  InMemorySaver other;
  std::cout << copy_threads(*saver, other).threads << '\n';  // 1
  // [/snippet care]

  saver.reset();
  graph = make_graph(nullptr);
  std::filesystem::remove_all(folder);
}

#include "trial.hpp"

namespace clew::fault {

std::string text_of(const Kind& kind) {
  return std::string(Value(kind.shape).as_string()) + ", " +
         std::string(Value(kind.durability).as_string()) +
         (kind.layout == SqliteLayout::native ? ", native" : ", langgraph");
}

Trial::Trial(const std::filesystem::path& folder, const Kind& kind, const Behaviour& behaviour)
    : kind_(kind),
      behaviour_(behaviour),
      path_((folder / "threads.db").string()),
      sink_((folder / "sink").string()) {
  thread_.thread_id = "thread";
  thread_.durability = kind_.durability;
}

std::shared_ptr<SqliteSaver> Trial::open() const {
  return SqliteSaver::open(path_, {.layout = kind_.layout, .synchronous = kind_.synchronous});
}

void Trial::run_to_end(std::shared_ptr<SqliteSaver> saver) {
  fault::run_to_end(build_graph(kind_.shape, std::move(saver), sink_, behaviour_), thread_, sink_);
}

void Trial::check() {
  check_file(path_);
  const std::vector<Sink::Line> lines = sink_.lines();
  const Aftermath after{{lines.begin() + static_cast<std::ptrdiff_t>(lines_checked_), lines.end()},
                        look(*open(), thread_.thread_id)};
  lines_checked_ = lines.size();
  check_acknowledged(after);
  if (kind_.durability == Durability::sync) check_steps_are_stored(after);
  // Only under `sync` results in a subgraph are never stored before what it runs in.
  const bool by_token = kind_.durability == Durability::sync;
  for (const Stored& stored : stored_) check_nothing_repeated(stored, after.lines, by_token);
  stored_.push_back(after.stored);
}

Value Trial::check_end() {
  check();
  const auto saver = open();
  const CompiledGraph graph = build_graph(kind_.shape, saver, sink_, behaviour_);
  check_lineage(graph, *saver, thread_);
  const StateSnapshot end = graph.get_state(thread_);
  if (!end.tasks.empty()) throw Error("the thread is not at its end");
  return end.values;
}

std::string Trial::story() const {
  std::string text;
  for (const Sink::Line& line : sink_.lines()) {
    text += "   ";
    for (const std::string& word : line) text += ' ' + word;
    text += '\n';
  }
  return text;
}

}  // namespace clew::fault

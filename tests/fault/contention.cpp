#include "contention.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "checks.hpp"
#include "process.hpp"
#include "temporary_folder.hpp"

namespace clew::fault {
namespace {

Value tokens(const std::string& token) {
  const Value all = list({token});
  return object({{"log", all}, {"deltas", all}});
}

Value fold_lists(const Value& current, std::span<const Value> writes) {
  Value folded = current;
  for (const Value& write : writes) folded = folded.concat(write);
  return folded;
}

// A node that takes its time and adds the call's token with its own name.
auto step(const std::string& name) {
  return [name](const Value&, Runtime& runtime) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    return Update(tokens(std::string(runtime.context().as_string()) + "/" + name));
  };
}

CompiledGraph two_steps(std::shared_ptr<Checkpointer> saver) {
  return StateGraph<Value>(
             {{"log", reduced(append, list())}, {"deltas", delta(fold_lists, list(), 5)}})
      .add_node("first", step("first"))
      .add_node("second", step("second"))
      .add_edge(START, "first")
      .add_edge("first", "second")
      .compile({.checkpointer = std::move(saver)});
}

// What an acknowledged call leaves in the log, in a row.
std::vector<std::string> marks_of(const std::string& call, const std::string& token) {
  if (call == "update") return {token};
  return {token, token + "/first", token + "/second"};
}

class Contention {
 public:
  Contention(const std::filesystem::path& folder, SqliteLayout layout)
      : path_((folder / "threads.db").string()),
        layout_(layout),
        sink_((folder / "sink").string()) {
    thread_.thread_id = "contended";
    thread_.durability = Durability::sync;
  }

  void run(std::size_t calls) {
    Process left([&] { make_calls("left", calls / 2); });
    Process right([&] { make_calls("right", calls - calls / 2); });
    const Ending left_ending = left.wait();
    const Ending right_ending = right.wait();
    if (!left_ending.is_success() || !right_ending.is_success()) throw Error("a process failed");
    check_file(path_);
    const auto saver = open();
    const CompiledGraph graph = two_steps(saver);
    check_lineage(graph, *saver, thread_);
    check_log(graph.get_state(thread_).values["log"]);
  }

  std::size_t successes() const { return count("ok"); }
  std::size_t conflicts() const { return count("conflict"); }

 private:
  std::shared_ptr<SqliteSaver> open() const {
    return SqliteSaver::open(path_, {.layout = layout_});
  }

  void make_calls(const std::string& name, std::size_t calls) {
    const CompiledGraph graph = two_steps(open());
    std::minstd_rand random(std::random_device{}());
    for (std::size_t i = 0; i < calls; ++i) {
      const std::string token = name + std::to_string(i);
      const std::string call = random() % 4 == 0 ? "update" : "invoke";
      try {
        make_call(graph, call, token);
        sink_.note({"ok", call, token});
      } catch (const ThreadConflict&) {
        sink_.note({"conflict", call, token});
      }
    }
  }

  void make_call(const CompiledGraph& graph, const std::string& call, const std::string& token) {
    Config config = thread_;
    config.context = token;
    if (call == "update") {
      graph.update_state(config, tokens(token), as_node("second"));
    } else {
      graph.invoke(tokens(token), config);
    }
  }

  // Nobody gets between the checkpoints of a call that succeeded, and nothing is
  // done twice.
  void check_log(const Value& log) const {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < log.size(); ++i) {
      if (!places.emplace(log[i].as_string(), i).second) {
        throw Error(std::string(log[i].as_string()) + " was done twice");
      }
    }
    for (const Sink::Line& line : sink_.lines()) {
      if (line[0] != "ok") continue;
      const std::vector<std::string> marks = marks_of(line[1], line[2]);
      for (std::size_t i = 0; i < marks.size(); ++i) {
        const auto place = places.find(marks[i]);
        if (place == places.end()) throw Error(marks[i] + " was acknowledged and is lost");
        if (place->second != places.at(marks[0]) + i) {
          throw Error("somebody came between " + marks[0] + " and " + marks[i]);
        }
      }
    }
  }

  std::size_t count(const std::string& word) const {
    const std::vector<Sink::Line> lines = sink_.lines();
    return static_cast<std::size_t>(std::count_if(
        lines.begin(), lines.end(), [&](const Sink::Line& line) { return line[0] == word; }));
  }

  std::string path_;
  SqliteLayout layout_;
  Sink sink_;
  Config thread_;
};

}  // namespace

void test_contention(SqliteLayout layout, std::size_t calls, std::size_t files) {
  std::size_t successes = 0;
  std::size_t conflicts = 0;
  for (std::size_t i = 0; i < files; ++i) {
    const TemporaryFolder folder;
    Contention contention(folder.path, layout);
    contention.run(calls / files);
    successes += contention.successes();
    conflicts += contention.conflicts();
  }
  std::cout << (layout == SqliteLayout::native ? "native: " : "langgraph: ") << successes
            << " calls succeeded, " << conflicts << " met a ThreadConflict, on " << files
            << " threads\n";
  if (successes == 0 || conflicts == 0) throw Error("the processes never met");
}

}  // namespace clew::fault

#include "handoff.hpp"

#include <unistd.h>

#include <iostream>

#include <clew/clew.hpp>
#include <clew/json.hpp>
#include <clew/sqlite_saver.hpp>

#include "sink.hpp"

namespace clew::fault {
namespace {

auto node(Sink& sink, const std::string& name, bool hangs = false) {
  return [&sink, name, hangs](const Value&) {
    sink.note({"begin", name});
    while (hangs) ::pause();
    sink.note({"effect", name});
    return Update{{"log", list({name})}};
  };
}

CompiledGraph build(const std::string& file, Sink& sink, bool slow_hangs) {
  return StateGraph<Value>({{"log", reduced(append, list())}})
      .add_node("fast", node(sink, "fast"))
      .add_node("slow", node(sink, "slow", slow_hangs))
      .add_node("joined", node(sink, "joined"))
      .add_edge(START, "fast")
      .add_edge(START, "slow")
      .add_edge(std::vector<std::string>{"fast", "slow"}, "joined")
      .compile({.checkpointer = SqliteSaver::open(file, {.layout = SqliteLayout::langgraph})});
}

Config handoff_thread() {
  Config thread;
  thread.thread_id = "handoff";
  thread.durability = Durability::sync;
  return thread;
}

}  // namespace

void start_handoff(const std::string& file, const std::string& sink) {
  Sink notes(sink);
  build(file, notes, true).invoke(object({{"log", list()}}), handoff_thread());
}

void finish_handoff(const std::string& file, const std::string& sink) {
  Sink notes(sink);
  std::cout << to_json(build(file, notes, false).invoke(nullptr, handoff_thread())) << '\n';
}

}  // namespace clew::fault

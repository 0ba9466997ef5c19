#include "graphs.hpp"

#include <chrono>
#include <random>
#include <thread>

#include <clew/json.hpp>

namespace clew::fault {
namespace {

Value fold_lists(const Value& current, std::span<const Value> writes) {
  Value folded = current;
  for (const Value& write : writes) folded = folded.concat(write);
  return folded;
}

// What a node is made of: its name, and how it notes and waits.
class Nodes {
 public:
  Nodes(Sink& sink, const Behaviour& behaviour) : sink_(sink), behaviour_(behaviour) {}

  auto plain(std::string name) const {
    return [this_copy = *this, name](const Value&, Runtime& runtime) {
      this_copy.begin(runtime, name);
      return this_copy.complete(runtime, name);
    };
  }

  auto waiting(std::string name) const {
    return [this_copy = *this, name](const Value&, Runtime& runtime) {
      return this_copy.wait_and_complete(runtime, name);
    };
  }

  auto worker() const {
    return [this_copy = *this](const Value& argument, Runtime& runtime) {
      const std::string name = "worker" + to_json(argument["number"]);
      this_copy.begin(runtime, name);
      return this_copy.complete(runtime, name);
    };
  }

  auto asking(std::string name) const {
    return [this_copy = *this, name](const Value&, Runtime& runtime) {
      this_copy.begin(runtime, name);
      const Value answer = runtime.interrupt("go on?");
      if (answer != Value("yes")) throw Error("the answer is lost");
      return this_copy.complete(runtime, name);
    };
  }

  // Fails until its failure is on record in the sink.
  auto failing(std::string name) const {
    return [this_copy = *this, name](const Value&, Runtime& runtime) {
      this_copy.begin(runtime, name);
      for (const Sink::Line& line : this_copy.sink_.lines()) {
        if (line.front() == "failed") return this_copy.complete(runtime, name);
      }
      this_copy.sink_.note({"failed", name});
      throw NodeError("Unlucky", name);
    };
  }

 private:
  void begin(Runtime& runtime, const std::string& token) const {
    const ExecutionInfo& info = runtime.execution_info();
    sink_.note({"begin", token, info.task_id, info.checkpoint_id});
    const auto pause = pause_of(token);
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }

  Update complete(Runtime& runtime, const std::string& token) const {
    sink_.note({"effect", token, runtime.execution_info().task_id});
    const Value tokens = list({token});
    return Update{{"log", tokens}, {"deltas", tokens}};
  }

  Task<Update> wait_and_complete(Runtime& runtime, std::string token) const {
    begin(runtime, token);
    Task<void> pause = runtime.sleep(std::chrono::microseconds(200) + pause_of(token));
    co_await std::move(pause);
    co_return complete(runtime, token);
  }

  std::chrono::microseconds pause_of(const std::string& token) const {
    if (behaviour_.longest_us == 0) return {};
    std::minstd_rand random(
        static_cast<std::uint32_t>(behaviour_.seed + std::hash<std::string>()(token)));
    return std::chrono::microseconds(random() % behaviour_.longest_us);
  }

  Sink& sink_;
  Behaviour behaviour_;
};

StateGraph<Value> new_graph() {
  return StateGraph<Value>(
      {{"log", reduced(append, list())}, {"deltas", delta(fold_lists, list(), 3)}});
}

StateGraph<Value> chain(const Nodes& nodes) {
  StateGraph<Value> graph = new_graph();
  graph.add_node("a", nodes.plain("a"))
      .add_node("b", nodes.waiting("b"))
      .add_node("c", nodes.plain("c"))
      .add_edge(START, "a")
      .add_edge("a", "b")
      .add_edge("b", "c");
  return graph;
}

// `first` is the one whose results others must not wait for.
StateGraph<Value> fan_out(const Nodes& nodes, const std::string& prefix) {
  StateGraph<Value> graph = new_graph();
  const std::vector<std::string> parallel{"first", "second", "third", "fourth"};
  for (const std::string& name : parallel) {
    const bool waits = name == "second" || name == "fourth";
    if (waits) {
      graph.add_node(name, nodes.waiting(prefix + name));
    } else {
      graph.add_node(name, nodes.plain(prefix + name));
    }
    graph.add_edge(START, name);
  }
  graph.add_node("joined", nodes.plain(prefix + "joined")).add_edge(parallel, "joined");
  return graph;
}

StateGraph<Value> send(const Nodes& nodes) {
  StateGraph<Value> graph = new_graph();
  graph.add_node("split", nodes.plain("split"))
      .add_node("worker", nodes.worker())
      .add_node("collect", nodes.plain("collect"))
      .add_edge(START, "split")
      .add_conditional_edges("split",
                             [](const Value&) {
                               return std::vector<Value>{Send{"worker", object({{"number", 1}})},
                                                         Send{"worker", object({{"number", 2}})},
                                                         Send{"worker", object({{"number", 3}})}};
                             })
      .add_edge("worker", "collect");
  return graph;
}

// A subgraph at the very start, and another one with parallel nodes.
StateGraph<Value> subgraph(const Nodes& nodes) {
  StateGraph<Value> graph = new_graph();
  graph.add_node("opening", chain(nodes).compile())
      .add_node("between", nodes.plain("between"))
      .add_node("closing", fan_out(nodes, "inner-").compile())
      .add_edge(START, "opening")
      .add_edge("opening", "between")
      .add_edge("between", "closing");
  return graph;
}

// One node goes wrong in its way while others beside it succeed.
template <class Body>
StateGraph<Value> troubled(const Nodes& nodes, Body body) {
  StateGraph<Value> graph = new_graph();
  graph.add_node("before", nodes.plain("before"))
      .add_node("troubled", std::move(body))
      .add_node("beside", nodes.plain("beside"))
      .add_node("after", nodes.plain("after"))
      .add_edge(START, "before")
      .add_edge("before", "troubled")
      .add_edge("before", "beside")
      .add_edge(std::vector<std::string>{"troubled", "beside"}, "after");
  return graph;
}

StateGraph<Value> choose(Shape shape, const Nodes& nodes) {
  switch (shape) {
    case Shape::chain: return chain(nodes);
    case Shape::fan_out: return fan_out(nodes, "");
    case Shape::send: return send(nodes);
    case Shape::subgraph: return subgraph(nodes);
    case Shape::interrupt: return troubled(nodes, nodes.asking("troubled"));
    case Shape::error: return troubled(nodes, nodes.failing("troubled"));
  }
  throw Error("an unknown Shape");
}

// What the thread needs next; nothing if it is at its end. A step whose tasks have
// all finished still has to be completed, though none of them is `next`.
std::optional<Value> next_input(const StateSnapshot& now) {
  if (now.config.checkpoint_id.empty()) return object();
  if (!now.interrupts.empty()) return Value(Command{.resume = "yes"});
  if (!now.tasks.empty()) return Value();
  return std::nullopt;
}

}  // namespace

CompiledGraph build_graph(Shape shape, std::shared_ptr<Checkpointer> saver, Sink& sink,
                          const Behaviour& behaviour) {
  return choose(shape, Nodes(sink, behaviour)).compile({.checkpointer = std::move(saver)});
}

void run_to_end(const CompiledGraph& graph, const Config& thread, Sink& sink) {
  while (const std::optional<Value> input = next_input(graph.get_state(thread))) {
    try {
      graph.invoke(*input, thread);
      sink.note({"returned"});
    } catch (const NodeError&) {
      sink.note({"returned"});
    }
  }
}

}  // namespace clew::fault

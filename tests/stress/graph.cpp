#include "graph.hpp"

#include <chrono>
#include <random>

namespace clew::stress {
namespace {

using namespace std::chrono_literals;

std::size_t random_below(std::size_t limit) {
  thread_local std::minstd_rand random(std::random_device{}());
  return random() % limit;
}

Value fold_lists(const Value& current, std::span<const Value> writes) {
  Value folded = current;
  for (const Value& write : writes) folded = folded.concat(write);
  return folded;
}

const std::string& task_of(Runtime& runtime) { return runtime.execution_info().task_id; }

void maybe_fail(Runtime& runtime) {
  const auto percent = static_cast<std::size_t>(runtime.context()["fail"].as_int());
  if (random_below(100) < percent) throw NodeError("Unlucky", task_of(runtime));
}

// Whether a task asks is the same each time it runs.
void maybe_ask(Runtime& runtime) {
  if (xxh3_128_hex(task_of(runtime))[0] < '4') runtime.interrupt("go on?");
}

void note(Ledger& ledger, Runtime& runtime) {
  const auto run = static_cast<std::size_t>(runtime.context()["run"].as_int());
  const bool is_in_subgraph = runtime.checkpoint_ns().find('|') != std::string::npos;
  ledger.add(Completion{run, task_of(runtime), is_in_subgraph});
}

clew::Update complete(Ledger& ledger, Runtime& runtime) {
  note(ledger, runtime);
  const Value token = list({task_of(runtime)});
  return clew::Update{{"log", token}, {"deltas", token}};
}

Task<clew::Update> sleep_and_complete(Ledger& ledger, Runtime& runtime) {
  Task<void> pause = runtime.sleep(std::chrono::microseconds(random_below(200)));
  co_await std::move(pause);
  maybe_fail(runtime);
  co_return complete(ledger, runtime);
}

// Two steps whose state nobody outside sees; the second may fail or ask.
CompiledGraph build_subgraph(Ledger& ledger) {
  return StateGraph<Value>({{"inner", reduced(append, list())}})
      .add_node("first",
                [&ledger](const Value&, Runtime& runtime) {
                  note(ledger, runtime);
                  return clew::Update{{"inner", list({task_of(runtime)})}};
                })
      .add_node("second",
                [&ledger](const Value& state, Runtime& runtime) {
                  maybe_ask(runtime);
                  maybe_fail(runtime);
                  if (state["inner"].size() != 1) throw Error("the subgraph lost its first step");
                  note(ledger, runtime);
                })
      .add_edge(START, "first")
      .add_edge("first", "second")
      .compile();
}

}  // namespace

Value run_context(std::size_t run, int failure_percent) {
  return object({{"run", run}, {"fail", failure_percent}});
}

CompiledGraph build_graph(Ledger& ledger, std::shared_ptr<Checkpointer> saver) {
  const auto plain = [&ledger](const Value&, Runtime& runtime) {
    maybe_fail(runtime);
    return complete(ledger, runtime);
  };
  StateGraph<Value> graph(
      {{"log", reduced(append, list())}, {"deltas", delta(fold_lists, list(), 5)}});
  graph.add_node("plain", plain)
      .add_node(
          "waits",
          [&ledger](const Value&, Runtime& runtime) { return sleep_and_complete(ledger, runtime); })
      .add_node("asks",
                [&ledger](const Value&, Runtime& runtime) {
                  maybe_ask(runtime);
                  maybe_fail(runtime);
                  return complete(ledger, runtime);
                })
      .add_node("nested", build_subgraph(ledger))
      .add_node("joined", plain)
      .add_node("worker", plain)
      .add_edge(START, "plain")
      .add_edge(START, "waits")
      .add_edge(START, "asks")
      .add_edge(START, "nested")
      .add_edge(std::vector<std::string>{"plain", "waits", "asks", "nested"}, "joined")
      .add_conditional_edges("joined", [](const Value&) {
        return std::vector<Value>{Send{"worker", object()}, Send{"worker", object()}};
      });
  CompileOptions options;
  options.checkpointer = std::move(saver);
  return graph.compile(std::move(options));
}

}  // namespace clew::stress

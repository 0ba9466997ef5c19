// The async_ twins: the same results as the blocking calls, for coroutines.
#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/graph.hpp>
#include <clew/memory_saver.hpp>
#include <clew/store.hpp>

namespace clew {
namespace {

CompiledGraph counting_graph() {
  StateGraph<Value> graph({{"n", last_value()}, {"log", reduced(append, list())}});
  graph.add_node("wait", [](const Value& state, Runtime& runtime) -> Task<Update> {
    co_await runtime.sleep(std::chrono::milliseconds(1));
    Update update{{"n", state["n"].as_int() + 1}, {"log", list({"waited"})}};
    co_return update;
  });
  graph.add_node("check", [](const Value& state) {
    if (state["n"].as_int() < 0) throw Error("n is negative");
    return Update{{"log", list({"checked"})}};
  });
  graph.add_edge(START, "wait").add_edge("wait", "check").add_edge("check", END);
  return graph.compile({.checkpointer = std::make_shared<InMemorySaver>()});
}

Config thread(std::string id) { return {.thread_id = std::move(id)}; }

TEST(Async, CallsDoWhatTheirTwinsDo) {
  const CompiledGraph graph = counting_graph();
  EXPECT_EQ(wait(graph.async_invoke({{"n", 1}}, thread("1")))["n"], Value(2));
  EXPECT_EQ(wait(graph.async_get_state(thread("1"))).values, graph.get_state(thread("1")).values);

  const Config updated = wait(graph.async_update_state(thread("1"), {{"n", 7}}, as_node("wait")));
  EXPECT_EQ(graph.get_state(thread("1")).config.checkpoint_id, updated.checkpoint_id);
  EXPECT_EQ(graph.get_state(thread("1")).next, std::vector<std::string>{"check"});

  std::vector<std::vector<StateUpdate>> supersteps{{{{{"n", 8}}, "wait"}}, {{{{"n", 9}}, "wait"}}};
  wait(graph.async_bulk_update_state(thread("1"), supersteps));
  EXPECT_EQ(graph.get_state(thread("1")).values["n"], Value(9));
}

// All of these in one coroutine, as a user would write them.
Task<Value> call_all(CompiledGraph graph, std::shared_ptr<Store> store) {
  Config one = thread("1");
  Value input{{"n", 1}};
  Value result = co_await graph.async_invoke(input, one);
  Value update{{"n", 5}};
  co_await graph.async_update_state(one, update);
  StateSnapshot state = co_await graph.async_get_state(one);
  StoreNamespace ns{"ada"};
  co_await store->async_put(ns, "state", state.values);
  std::vector<SearchItem> found = co_await store->async_search(ns);
  std::vector<StoreNamespace> namespaces = co_await store->async_list_namespaces();
  co_return list({result["n"], found.front().value["n"], namespaces.size()});
}

TEST(Async, ArgumentsMayBeLeftOutWhereTheyMayElsewhere) {
  EXPECT_EQ(wait(call_all(counting_graph(), std::make_shared<InMemoryStore>())), list({2, 5, 1}));
}

Task<Value> call_without_config(CompiledGraph graph) {
  Value input{{"n", 1}};
  Value result = co_await graph.async_invoke(input);
  co_return result["n"];
}

TEST(Async, AGraphWithoutAThreadNeedsNoConfig) {
  StateGraph<Value> graph({{"n", last_value()}});
  graph.add_node("same", [](const Value&) { return Update(); }).add_edge(START, "same");
  EXPECT_EQ(wait(call_without_config(graph.compile())), Value(1));
}

TEST(Async, ANodeAwaitsAGraphInsideIt) {
  StateGraph<Value> graph({{"n", last_value()}});
  graph.add_node("outer", [inner = counting_graph()](Value state, Runtime& runtime) -> Task<Value> {
    Value result = co_await inner.async_invoke(state, runtime);
    co_return result;
  });
  graph.add_edge(START, "outer");
  EXPECT_EQ(graph.compile().invoke({{"n", 1}})["n"], Value(2));
}

TEST(Async, BatchKeepsTheOrder) {
  const CompiledGraph graph = counting_graph();
  std::vector<Value> inputs;
  std::vector<Config> configs;
  for (int i = 0; i < 20; ++i) {
    inputs.push_back({{"n", i}});
    configs.push_back(thread(std::to_string(i)));
  }
  const std::vector<Value> results = wait(graph.async_batch(inputs, configs));
  ASSERT_EQ(results.size(), inputs.size());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)]["n"], Value(i + 1));
}

TEST(Async, ErrorsReachTheAwaiter) {
  const CompiledGraph graph = counting_graph();
  EXPECT_THROW(wait(graph.async_invoke({{"n", -5}}, thread("1"))), Error);
  EXPECT_THROW(wait(graph.async_get_state(Config())), MissingThreadError);
}

Task<std::vector<std::string>> collect(Stream stream) {
  std::vector<std::string> modes;
  while (true) {
    const std::optional<StreamEvent> event = co_await stream.async_next();
    if (!event) break;
    modes.push_back(event->data.items()[0].key == "wait" ? "wait" : "check");
  }
  co_return modes;
}

TEST(Async, StreamIsAwaitedEventByEvent) {
  const CompiledGraph graph = counting_graph();
  const StreamOptions updates{.modes = {StreamMode::updates}};
  EXPECT_EQ(wait(collect(graph.stream({{"n", 1}}, thread("1"), updates))),
            (std::vector<std::string>{"wait", "check"}));
  EXPECT_THROW(wait(collect(graph.stream({{"n", -5}}, thread("2"), updates))), Error);
}

Task<std::vector<std::int64_t>> steps(CompiledGraph::History history) {
  std::vector<std::int64_t> found;
  while (true) {
    const std::optional<StateSnapshot> snapshot = co_await history.async_next();
    if (!snapshot) break;
    found.push_back(snapshot->metadata["step"].as_int());
  }
  co_return found;
}

TEST(Async, HistoryIsAwaitedOneByOne) {
  const CompiledGraph graph = counting_graph();
  graph.invoke({{"n", 1}}, thread("1"));
  EXPECT_EQ(wait(steps(graph.get_state_history(thread("1")))),
            (std::vector<std::int64_t>{2, 1, 0, -1}));
}

TEST(Async, WaitTakesATaskWithoutResult) {
  bool has_run = false;
  const auto run = [](bool& flag) -> Task<void> {
    flag = true;
    co_return;
  };
  wait(run(has_run));
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace clew

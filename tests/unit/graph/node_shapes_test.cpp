// What can be a node, and what it may return.
#include <functional>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

#include "unit/error_text.hpp"

namespace clew {
namespace {

struct State {
  int n = 0;
  std::vector<std::string> log;
};
CLEW_STATE(State, n, reduced(log, append))

struct Part {
  int n = 0;
};
CLEW_STATE(Part, n)

struct Private {
  std::string secret;
};
CLEW_STATE(Private, secret)

// What a graph of this one node makes of {"n": 1}.
template <class Node>
Value run(Node node, NodeOptions options = {}) {
  return StateGraph<State>()
      .add_node("node", std::move(node), std::move(options))
      .add_node("other", [](const State&) { return Update{{"log", {"other"}}}; })
      .add_edge(START, "node")
      .compile()
      .invoke({{"n", 1}});
}

Update by_function(const State& state) { return Update{{"n", state.n + 1}}; }

struct Adder {
  int by = 0;
  Update operator()(const State& state, Runtime&) const { return Update{{"n", state.n + by}}; }
};

TEST(NodeShapes, IsAnythingThatCanBeCalled) {
  EXPECT_EQ(run(by_function)["n"], 2);
  EXPECT_EQ(run(&by_function)["n"], 2);
  EXPECT_EQ(run(Adder{5})["n"], 6);
  EXPECT_EQ(run(std::function<Update(const State&)>(by_function))["n"], 2);
  EXPECT_EQ(run([](State state) { return Update{{"n", state.n + 2}}; })["n"], 3);
  EXPECT_EQ(run([](const auto& state) { return Update{{"n", state.n + 3}}; })["n"], 4);
  EXPECT_EQ(run([calls = 0](const State&) mutable { return Update{{"n", ++calls}}; })["n"], 1);
  EXPECT_EQ(run([](const State&) noexcept {})["n"], 1);
}

TEST(NodeShapes, TakesTheStateAPartOfItOrAValue) {
  EXPECT_EQ(run([](const Part& part) { return Update{{"n", part.n + 1}}; })["n"], 2);
  EXPECT_EQ(run([](const Part& part) noexcept { return Update{{"n", part.n + 1}}; })["n"], 2);
  EXPECT_EQ(run([](const Value& state) { return Update{{"n", state["n"].as_int() + 1}}; })["n"], 2);
  const auto show = [](const Value& state) { return Update{{"log", {to_json(state)}}}; };
  EXPECT_EQ(run(show)["log"], list({R"({"n":1,"log":[]})"}));
  EXPECT_EQ(run(show, {.reads = {"n"}})["log"], list({R"({"n":1})"}));
}

TEST(NodeShapes, ReturnsAnUpdateAStructOrAValue) {
  EXPECT_EQ(run([](const State&) { return Update{{"n", 2}, {"unknown", 3}}; }),
            object({{"n", 2}, {"log", list()}}));
  EXPECT_EQ(run([](const State&) { return Part{7}; })["n"], 7);
  EXPECT_EQ(run([](const State&) { return State{8, {"a"}}; }),
            object({{"n", 8}, {"log", list({"a"})}}));
  EXPECT_EQ(run([](const State&) { return object({{"n", 9}}); })["n"], 9);
  EXPECT_EQ(run([](const State&) -> std::map<std::string, int> { return {{"n", 10}}; })["n"], 10);
  EXPECT_EQ(run([](const State&) {})["n"], 1);
  EXPECT_EQ(run([](const State&) { return Value(); })["n"], 1);
  EXPECT_EQ(run([](const State&) { return std::optional<Part>(); })["n"], 1);
}

TEST(NodeShapes, ReturnsACommandOrSeveral) {
  EXPECT_EQ(run([](const State&) { return Command{.update = {{"n", 2}}, .goto_ = {"other"}}; }),
            object({{"n", 2}, {"log", list({"other"})}}));
  EXPECT_EQ(run([](const State&) {
              return std::vector<Command>{{.update = {{"n", 2}}},
                                          {.update = {{"log", {"a"}}}, .goto_ = {"other"}}};
            }),
            object({{"n", 2}, {"log", list({"a", "other"})}}));
}

Task<Update> wait_and_add(const State& state, Runtime& runtime) {
  Task<void> pause = runtime.sleep(std::chrono::microseconds(1));
  co_await std::move(pause);
  Update update;
  update.set("n", state.n + 1);
  co_return update;
}

Task<void> only_wait(const State&, Runtime& runtime) {
  Task<void> pause = runtime.sleep(std::chrono::microseconds(1));
  co_await std::move(pause);
}

Task<Command> wait_and_go(const Part&) {
  Command command;
  command.goto_.emplace_back("other");
  co_return command;
}

TEST(NodeShapes, IsACoroutine) {
  EXPECT_EQ(run(wait_and_add)["n"], 2);
  EXPECT_EQ(run(only_wait)["n"], 1);
  EXPECT_EQ(run(wait_and_go)["log"], list({"other"}));
}

TEST(NodeShapes, AnythingElseItReturnsIsRefused) {
  EXPECT_EQ(error_text<InvalidUpdateError>([] { run([](const State&) { return 5; }); }),
            "node 'node' returned int; return an object of updates, a Command, a list of Commands, "
            "or nothing");
}

TEST(NodeShapes, AStructThatIsNotPartOfTheStateIsPrivate) {
  const CompiledGraph graph =
      StateGraph<State>()
          .add_node("write", [](const State&) { return Private{"s3cret"}; })
          .add_node("read", [](const Private& known) { return Update{{"log", {known.secret}}}; })
          .add_edge(START, "write")
          .add_edge("write", "read")
          .compile();
  EXPECT_EQ(graph.invoke({{"n", 1}}), object({{"n", 1}, {"log", list({"s3cret"})}}));
}

TEST(NodeShapes, AStateThatDoesNotFitIsAnErrorOfTheNode) {
  const CompiledGraph graph =
      StateGraph<State>().add_node("node", by_function).add_edge(START, "node").compile();
  EXPECT_EQ(error_text<ValueError>([&] { graph.invoke({{"n", "one"}}); }),
            "$.n: expected int, found string");
}

}  // namespace
}  // namespace clew

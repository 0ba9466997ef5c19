// Results that are kept for the same input.
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

using namespace std::chrono_literals;

struct State {
  std::string question;
  std::string user;
  int runs = 0;
};
CLEW_STATE(State, question, user, runs)

// Two nodes that count their runs; only the first is cached.
class CachedGraph {
 public:
  explicit CachedGraph(CachePolicy policy = {})
      : graph_(StateGraph<State>()
                   .add_node("slow", [this](const State&) { return Update{{"runs", ++runs_}}; },
                             {.cache_policy = std::move(policy)})
                   .add_edge(START, "slow")
                   .compile({.cache = std::make_shared<InMemoryCache>()})) {}

  // The number of the execution whose result this question gets.
  int ask(const std::string& question, const std::string& user = "ada") {
    return graph_.invoke({{"question", question}, {"user", user}}).get<int>("runs");
  }
  void clear(const std::vector<std::string>& nodes) { graph_.clear_cache(nodes); }

 private:
  int runs_ = 0;
  CompiledGraph graph_;
};

TEST(NodeCache, KnowsTheSameInput) {
  CachedGraph graph;
  EXPECT_EQ(graph.ask("a"), 1);
  EXPECT_EQ(graph.ask("b"), 2);
  EXPECT_EQ(graph.ask("a"), 1);
  EXPECT_EQ(graph.ask("a", "bob"), 3);
}

TEST(NodeCache, AKeyFunctionSaysWhatMatters) {
  CachePolicy policy;
  policy.key_func = [](const Value& input) { return input.get<std::string>("question"); };
  CachedGraph graph(policy);
  EXPECT_EQ(graph.ask("a"), 1);
  EXPECT_EQ(graph.ask("a", "bob"), 1);
}

TEST(NodeCache, IsClearedByNodeOrAltogether) {
  CachedGraph graph;
  EXPECT_EQ(graph.ask("a"), 1);
  graph.clear({"another"});
  EXPECT_EQ(graph.ask("a"), 1);
  graph.clear({"slow"});
  EXPECT_EQ(graph.ask("a"), 2);
  graph.clear({});
  EXPECT_EQ(graph.ask("a"), 3);
}

TEST(NodeCache, WithoutACacheThereIsNothingToClear) {
  const CompiledGraph graph =
      StateGraph<State>().add_node("a", [](const State&) {}).add_edge(START, "a").compile();
  EXPECT_NO_THROW(graph.clear_cache());
}

TEST(InMemoryCache, ForgetsWhatIsOld) {
  InMemoryCache cache;
  cache.set("node", "gone", {{"x", 1}}, 0s);
  cache.set("node", "good", {{"x", 2}}, 60s);
  cache.set("node", "for ever", {{"x", 3}}, std::nullopt);
  EXPECT_FALSE(cache.get("node", "gone"));
  EXPECT_EQ(cache.get("node", "good")->front().value, 2);
  EXPECT_EQ(cache.get("node", "for ever")->front().value, 3);
  EXPECT_FALSE(cache.get("other", "good"));

  cache.set("node", "good", {{"x", 4}}, 60s);
  EXPECT_EQ(cache.get("node", "good")->front().value, 4);
  cache.clear("node");
  EXPECT_FALSE(cache.get("node", "good"));
}

}  // namespace
}  // namespace clew

// Values that the engine computes: read like channels, never written or stored.
#include <gtest/gtest.h>

#include <clew/clew.hpp>

namespace clew {
namespace {

TEST(Managed, SaysHowManyStepsAreLeft) {
  std::vector<std::pair<Value, Value>> seen;
  const CompiledGraph graph =
      StateGraph<Value>({{"left", remaining_steps()}, {"is_last", is_last_step()}})
          .add_node("loop",
                    [&](const Value& state) -> Value {
                      seen.emplace_back(state["left"], state["is_last"]);
                      if (state["is_last"] == Value(true)) return object({{"left", 99}});
                      return Command{.goto_ = {"loop"}};
                    })
          .add_edge(START, "loop")
          .compile();
  Config config;
  config.recursion_limit = 4;
  graph.invoke(object(), config);
  EXPECT_EQ(seen, (std::vector<std::pair<Value, Value>>{{3, false}, {2, false}, {1, true}}));
}

}  // namespace
}  // namespace clew

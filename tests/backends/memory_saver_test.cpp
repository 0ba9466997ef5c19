#include <clew/memory_saver.hpp>

#include <gtest/gtest.h>

#include "checkpointer_pieces.hpp"

namespace clew {
namespace {

TEST(InMemorySaver, SharesValuesInsteadOfCopyingThem) {
  InMemorySaver saver;
  const CheckpointPut one = make_put("t", 1, 0, {{"messages", {1, 2, 3}}, {"n", 1}});
  put(saver, one);
  EXPECT_TRUE(
      same(saver.get_tuple({"t"})->checkpoint.channel_values, one.checkpoint.channel_values));
}

TEST(InMemorySaver, ListsNamespacesInTheOrderInWhichTheyAppeared) {
  InMemorySaver saver;
  for (const auto& [ns, n] : {std::pair("z", 1), std::pair("", 2), std::pair("a", 3)}) {
    CheckpointPut made = make_put("t", n, 0);
    made.key.checkpoint_ns = ns;
    put(saver, made);
  }
  EXPECT_EQ(render(saver.list("t", std::nullopt, {})), "z: 1 {}\n2 {}\na: 3 {}\n");
}

// Versions that a writer without random tails would reuse on two branches.
TEST(InMemorySaver, BranchesThatUseTheSameVersionsDoNotSeeEachOther) {
  InMemorySaver saver;
  const auto put_versioned = [&](int n, int parent, Value values, Value new_versions,
                                 Value versions) {
    CheckpointPut made = make_put("t", n, parent, std::move(values));
    made.new_versions = std::move(new_versions);
    made.checkpoint.channel_versions = std::move(versions);
    put(saver, made);
  };
  put_versioned(1, 0, {{"a", 1}}, {{"a", 1}}, {{"a", 1}});
  put_versioned(2, 1, {{"a", "left"}}, {{"a", 2}}, {{"a", 2}});
  put_versioned(3, 2, {{"b", "left"}}, {{"b", 3}}, {{"a", 2}, {"b", 3}});
  put_versioned(4, 1, {{"a", "right"}}, {{"a", 2}}, {{"a", 2}});
  put_versioned(5, 4, {{"b", "right"}}, {{"b", 3}}, {{"a", 2}, {"b", 3}});
  const std::string expected =
      "5 <4 {\"a\":\"right\",\"b\":\"right\"}\n"
      "4 <1 {\"a\":\"right\"}\n"
      "3 <2 {\"a\":\"left\",\"b\":\"left\"}\n"
      "2 <1 {\"a\":\"left\"}\n"
      "1 {\"a\":1}\n";
  EXPECT_EQ(render(saver.list("t", "", {})), expected);

  saver.prune("t", {});
  EXPECT_EQ(render(saver.list("t", "", {})),
            "5 {\"a\":\"right\",\"b\":\"right\"}\n3 {\"a\":\"left\",\"b\":\"left\"}\n");
}

}  // namespace
}  // namespace clew

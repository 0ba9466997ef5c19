#include "pregel/watch.hpp"

#include <array>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include "pregel/graph.hpp"
#include "pregel/recycled.hpp"
#include "unit/pregel/manual_executor.hpp"

namespace clew::pregel {
namespace {

using namespace std::chrono_literals;

class Watching : public testing::Test {
 protected:
  // Looks as often as told.
  Watch::Look looking(int& looks, int times) {
    return [&looks, times] { return ++looks < times; };
  }

  ManualExecutor executor_;
  const std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
};

TEST_F(Watching, LooksAgainUntilItIsTold) {
  int looks = 0;
  watch_->add(executor_, looking(looks, 3));
  for (int i = 1; i <= 3; ++i) {
    executor_.go_off();
    EXPECT_EQ(looks, i);
  }
  EXPECT_TRUE(executor_.timers.empty());
}

TEST_F(Watching, ManyShareATimer) {
  std::array<int, 3> looks = {};
  for (int& each : looks) watch_->add(executor_, looking(each, 1));
  EXPECT_EQ(executor_.timers.size(), 1U);
  executor_.go_off();
  EXPECT_EQ(executor_.timers.size(), 1U);
  executor_.go_off();
  EXPECT_EQ(looks, (std::array{1, 1, 1}));
  EXPECT_TRUE(executor_.timers.empty());
}

TEST_F(Watching, WhatIsAddedWhileThereIsATimerWaitsForTheNext) {
  int first = 0;
  int second = 0;
  watch_->add(executor_, looking(first, 1));
  watch_->add(executor_, looking(second, 1));
  executor_.go_off();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);  // it may have been added just now
  executor_.go_off();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST_F(Watching, WhatIsAddedMeanwhileIsNotLost) {
  int looks = 0;
  watch_->add(executor_, [&] {
    watch_->add(executor_, looking(looks, 1));
    return false;
  });
  for (int i = 0; i < 3; ++i) executor_.go_off();
  EXPECT_EQ(looks, 1);
  EXPECT_TRUE(executor_.timers.empty());
  watch_->add(executor_, looking(looks, 1));
  EXPECT_EQ(executor_.timers.size(), 1U);
}

TEST_F(Watching, ATimerThatCannotBeSetIsNotWaitedFor) {
  int looks = 0;
  executor_.refuses = true;
  EXPECT_THROW(watch_->add(executor_, looking(looks, 1)), std::bad_alloc);
  executor_.refuses = false;
  watch_->add(executor_, looking(looks, 1));
  EXPECT_EQ(executor_.timers.size(), 1U);
}

TEST(Graph, ANodeThatWasLateTwiceInARowIsNotQuick) {
  Graph graph;
  graph.nodes.resize(2);
  graph.selections.resize(1);
  graph.finish();
  const Node& node = graph.nodes[1];
  EXPECT_FALSE(graph.is_quick(node));  // not known yet
  graph.note_duration(node, 1us);
  EXPECT_TRUE(graph.is_quick(node));
  graph.note_duration(node, 1ms);
  EXPECT_TRUE(graph.is_quick(node));
  graph.note_duration(node, 1us);
  graph.note_duration(node, 1ms);
  graph.note_duration(node, 1ms);
  EXPECT_FALSE(graph.is_quick(node));
  EXPECT_FALSE(graph.is_quick(graph.nodes[0]));
}

TEST(RecycledBlocks, AnyNumberCanBeTakenAndGivenBack) {
  using Blocks = RecycledBlocks<3000>;
  for (int round = 0; round < 3; ++round) {
    std::array<void*, 10> blocks;
    for (void*& block : blocks) block = Blocks::take();
    EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), blocks.size());
    for (void* block : blocks) {
      std::memset(block, round, 3000);
      Blocks::give(block);
    }
  }
}

TEST(FewAllocator, AVectorMayHoldFewManyAndMore) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::string, FewAllocator<std::string, 2>> texts;
    for (int i = 0; i < 20; ++i) texts.push_back(std::to_string(i));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(texts[static_cast<std::size_t>(i)], std::to_string(i));
  }
}

#if !CLEW_HAS_ADDRESS_SANITIZER
TEST(RecycledBlocks, TheLastThatWasGivenBackIsTakenNext) {
  using Blocks = RecycledBlocks<3001>;
  void* const block = Blocks::take();
  Blocks::give(block);
  EXPECT_EQ(Blocks::take(), block);
  Blocks::give(block);
}
#endif

}  // namespace
}  // namespace clew::pregel

#include "pregel/deadlines.hpp"

#include <gtest/gtest.h>

#include "unit/pregel/manual_executor.hpp"

namespace clew::pregel {
namespace {

using namespace std::chrono_literals;
using Deadline = Deadlines::Deadline;

class DeadlinesTest : public testing::Test {
 protected:
  using Stop = std::shared_ptr<std::stop_source>;

  static Stop stop() { return std::make_shared<std::stop_source>(); }

  ManualExecutor executor_;
  const std::shared_ptr<Deadlines> all_ = std::make_shared<Deadlines>();
  const Deadlines::Clock::time_point now_ = Deadlines::Clock::now();
};

TEST_F(DeadlinesTest, AStopIsRequestedWhenItsTimeHasCome) {
  const Stop first = stop();
  const Stop second = stop();
  const Deadline early(all_, executor_, now_ + 1s, first);
  const Deadline late(all_, executor_, now_ + 2s, second);
  EXPECT_EQ(executor_.timers.size(), 1U);
  executor_.go_off();
  EXPECT_TRUE(first->stop_requested());
  EXPECT_FALSE(second->stop_requested());
  executor_.go_off();
  EXPECT_TRUE(second->stop_requested());
  EXPECT_TRUE(executor_.timers.empty());
}

TEST_F(DeadlinesTest, AnEarlierOneGetsATimerOfItsOwn) {
  const Stop first = stop();
  const Stop second = stop();
  const Deadline late(all_, executor_, now_ + 2s, second);
  const Deadline early(all_, executor_, now_ + 1s, first);
  EXPECT_EQ(executor_.timers.size(), 2U);
  const auto timer = executor_.timers.back();
  executor_.timers.pop_back();
  timer();
  EXPECT_TRUE(first->stop_requested());
  EXPECT_FALSE(second->stop_requested());
  EXPECT_EQ(executor_.timers.size(), 1U);  // that of the late one is still to come
}

TEST_F(DeadlinesTest, NothingIsKeptOfWhatEndsInTime) {
  const Stop kept = stop();
  for (int i = 0; i < 100; ++i) {
    const Deadline deadline(all_, executor_, now_ + 1h, kept);
    EXPECT_EQ(kept.use_count(), 3);
  }
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(executor_.timers.size(), 1U);
  executor_.go_off();
  EXPECT_FALSE(kept->stop_requested());
  EXPECT_TRUE(executor_.timers.empty());
}

TEST_F(DeadlinesTest, ATimerThatCannotBeSetIsNotWaitedFor) {
  const Stop refused = stop();
  executor_.refuses = true;
  EXPECT_THROW(Deadline(all_, executor_, now_ + 1s, refused), std::bad_alloc);
  EXPECT_EQ(refused.use_count(), 1);
  executor_.refuses = false;
  const Stop next = stop();
  const Deadline deadline(all_, executor_, now_ + 2s, next);
  executor_.go_off();
  EXPECT_TRUE(next->stop_requested());
}

TEST_F(DeadlinesTest, OfSeveralAtOneTimeEachForgetsItsOwn) {
  const Stop first = stop();
  const Stop second = stop();
  const Deadline stays(all_, executor_, now_ + 1s, first);
  {
    const Deadline goes(all_, executor_, now_ + 1s, second);
  }
  executor_.go_off();
  EXPECT_TRUE(first->stop_requested());
  EXPECT_FALSE(second->stop_requested());
}

}  // namespace
}  // namespace clew::pregel

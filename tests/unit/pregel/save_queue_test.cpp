#include "pregel/save_queue.hpp"

#include <gtest/gtest.h>

#include "unit/pregel/forwarding_saver.hpp"
#include "unit/pregel/manual_executor.hpp"

namespace clew::pregel {
namespace {

// Notes how many checkpoints, or tasks, come with each call.
class NotingSaver final : public ForwardingSaver {
 public:
  std::string calls;

  void put(std::span<const CheckpointPut> puts) override {
    calls += std::to_string(puts.size()) + " checkpoints\n";
    ForwardingSaver::put(puts);
  }
  void put_writes(std::span<const WritesPut> puts) override {
    calls += std::to_string(puts.size()) + " tasks\n";
    ForwardingSaver::put_writes(puts);
  }
};

class SaveQueueTest : public testing::Test {
 protected:
  SaveQueue queue(Durability durability) {
    return {saver_, executor_, *watch_, durability, nullptr};
  }

  static CheckpointPut next_checkpoint() {
    static int step = 0;
    CheckpointPut put;
    put.key.thread_id = "t";
    put.checkpoint.id = checkpoint_id(step++);
    put.checkpoint.channel_values = put.checkpoint.channel_versions = object();
    put.checkpoint.versions_seen = put.metadata = put.new_versions = object();
    return put;
  }

  static WritesPut writes_of(std::string task_id) {
    return {.key = {"t", "", "1"}, .task_id = std::move(task_id), .writes = {{"a", 1}}};
  }

  // A look is due when the timer has gone off a second time.
  void wait_for_the_timer() {
    executor_.go_off();
    executor_.go_off();
  }

  ManualExecutor executor_;
  const std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
  const std::shared_ptr<NotingSaver> saver_ = std::make_shared<NotingSaver>();
};

TEST_F(SaveQueueTest, QuickStepsUnderAsyncAreStoredTogether) {
  SaveQueue saves = queue(Durability::async);
  for (int i = 0; i < 3; ++i) saves.put(next_checkpoint());
  saves.put_writes(writes_of("a"), true);
  EXPECT_EQ(saver_->calls, "");
  wait_for_the_timer();
  EXPECT_EQ(saver_->calls, "3 checkpoints\n1 tasks\n");
  saves.put(next_checkpoint());
  wait_for_the_timer();
  EXPECT_EQ(saver_->calls, "3 checkpoints\n1 tasks\n1 checkpoints\n");
}

TEST_F(SaveQueueTest, WhoeverFlushesWaitsForNoTimer) {
  SaveQueue saves = queue(Durability::async);
  for (int i = 0; i < 3; ++i) saves.put(next_checkpoint());
  saves.flush();
  EXPECT_EQ(saver_->calls, "3 checkpoints\n");
  wait_for_the_timer();
  EXPECT_EQ(saver_->calls, "3 checkpoints\n");
}

TEST_F(SaveQueueTest, UnderSyncWhatQuickTasksWroteGoesWithTheirCheckpoint) {
  SaveQueue saves = queue(Durability::sync);
  for (const char* task : {"a", "b", "c"}) saves.put_writes(writes_of(task), true);
  CheckpointPut put = next_checkpoint();
  put.key.checkpoint_id = "1";
  saves.put(std::move(put));
  saves.flush();
  EXPECT_EQ(saver_->calls, "1 checkpoints\n");
  EXPECT_EQ(saver_->thread_size("t").writes, 3U);
  wait_for_the_timer();
  EXPECT_EQ(saver_->calls, "1 checkpoints\n");
}

TEST_F(SaveQueueTest, WhatATaskWroteIsStoredSoonIfTheStepMayTakeLong) {
  for (const Durability durability : {Durability::sync, Durability::async}) {
    saver_->calls.clear();
    SaveQueue saves = queue(durability);
    saves.put_writes(writes_of("a"), false);
    wait_for_the_timer();
    EXPECT_EQ(saver_->calls, "");
    saves.put_writes(writes_of("b"), true);
    EXPECT_EQ(saver_->calls, "");
    wait_for_the_timer();
    EXPECT_EQ(saver_->calls, "2 tasks\n");
    saves.put(next_checkpoint());
    saves.flush();
    EXPECT_EQ(saver_->calls, "2 tasks\n1 checkpoints\n");
  }
}

}  // namespace
}  // namespace clew::pregel

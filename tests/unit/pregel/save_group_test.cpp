#include "pregel/save_group.hpp"

#include <gtest/gtest.h>

#include <clew/errors.hpp>

#include "unit/pregel/forwarding_saver.hpp"
#include "unit/pregel/manual_executor.hpp"

namespace clew::pregel {
namespace {

// Notes how many checkpoints come with each call; something may happen during the first.
class NotingSaver final : public ForwardingSaver {
 public:
  std::function<void()> during_first_put;
  std::vector<std::size_t> calls;

  void put(std::span<const CheckpointPut> puts) override {
    calls.push_back(puts.size());
    if (during_first_put) std::exchange(during_first_put, nullptr)();
    ForwardingSaver::put(puts);
  }
};

class SaveGroupTest : public testing::Test {
 protected:
  static CheckpointPut first_of(const std::string& thread_id) {
    CheckpointPut put;
    put.key.thread_id = thread_id;
    put.checkpoint.id = checkpoint_id(-1);
    put.checkpoint.channel_values = put.checkpoint.channel_versions = object();
    put.checkpoint.versions_seen = put.metadata = put.new_versions = object();
    put.expected_head = "";
    return put;
  }

  void store(CheckpointPut put) {
    const std::string thread_id = put.key.thread_id;
    group_->store({.puts = {std::move(put)}, .writes = {}},
                  [this, thread_id](std::exception_ptr error) {
                    outcomes_ += thread_id + (error ? " refused\n" : " stored\n");
                  });
  }

  bool is_stored(const std::string& thread_id) {
    return saver_->get_tuple({thread_id}).has_value();
  }

  ManualExecutor executor_;
  const std::shared_ptr<NotingSaver> saver_ = std::make_shared<NotingSaver>();
  const std::shared_ptr<SaveGroup> group_ = std::make_shared<SaveGroup>(saver_, executor_);
  std::string outcomes_;
};

TEST_F(SaveGroupTest, WhoIsAloneStoresAtOnce) {
  store(first_of("a"));
  EXPECT_EQ(outcomes_, "a stored\n");
  store(first_of("b"));
  EXPECT_EQ(saver_->calls, (std::vector<std::size_t>{1, 1}));
}

TEST_F(SaveGroupTest, WhatComesMeanwhileGoesTogether) {
  saver_->during_first_put = [this] {
    for (const char* thread_id : {"b", "c", "d"}) store(first_of(thread_id));
    EXPECT_EQ(outcomes_, "");
  };
  store(first_of("a"));
  EXPECT_EQ(saver_->calls, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(outcomes_, "b stored\nc stored\nd stored\na stored\n");
}

TEST_F(SaveGroupTest, AConflictConcernsNobodyElse) {
  saver_->during_first_put = [this] {
    CheckpointPut late = first_of("b");
    late.expected_head = "another";
    store(std::move(late));
    store(first_of("c"));
    store(first_of("b"));
  };
  store(first_of("a"));
  EXPECT_EQ(outcomes_, "b refused\nc stored\nb stored\na stored\n");
  EXPECT_TRUE(is_stored("b"));
  EXPECT_TRUE(is_stored("c"));
}

}  // namespace
}  // namespace clew::pregel

// Finding threads by what they wait for, letting old ones go, moving them.
#include <thread>

#include <clew/errors.hpp>
#include <clew/memory_saver.hpp>
#include <clew/thread_care.hpp>
#include <clew/time.hpp>

#include "checkpointer_suite.hpp"
#include "unit/pregel/forwarding_saver.hpp"

namespace clew {
namespace {

using std::chrono::hours;

std::vector<std::string> ids(const std::vector<ThreadInfo>& threads) {
  std::vector<std::string> found;
  for (const ThreadInfo& thread : threads) found.push_back(thread.thread_id);
  return found;
}

CheckpointPut aged(CheckpointPut put, std::chrono::system_clock::duration age) {
  put.checkpoint.ts = format_time(std::chrono::system_clock::now() - age);
  return put;
}

TEST_P(CheckpointerSuite, ThreadsAreFoundByWhatTheyWaitFor) {
  for (const char* thread : {"asks", "fails", "idle", "moved"})
    put(*saver_, make_put(thread, 1, 0));
  put_writes(*saver_, "asks", 1, {{"__interrupt__", "Go on?"}}, "t1");
  put_writes(*saver_, "asks", 1, {{"__error__", "too"}}, "t2");
  put_writes(*saver_, "fails", 1, {{"__error__", "boom"}}, "t1");
  put_writes(*saver_, "idle", 1, {{"a", 1}}, "t1");
  put_writes(*saver_, "moved", 1, {{"__interrupt__", "Go on?"}}, "t1");
  put(*saver_, make_put("moved", 2, 1));

  const auto of = [&](ThreadStatus status) {
    return ids(saver_->list_threads({.status = status}));
  };
  EXPECT_EQ(of(ThreadStatus::interrupted), std::vector<std::string>{"asks"});
  EXPECT_EQ(of(ThreadStatus::error), std::vector<std::string>{"fails"});
  EXPECT_EQ(of(ThreadStatus::idle), (std::vector<std::string>{"idle", "moved"}));
  EXPECT_EQ(saver_->list_threads({})[0].status, ThreadStatus::interrupted);
  EXPECT_EQ(count_threads(*saver_, {.status = ThreadStatus::idle}), 2U);
}

TEST_P(CheckpointerSuite, PruneLeavesWhatIsYoung) {
  put(*saver_, aged(make_put("t", 1, 0), hours(3)));
  put(*saver_, aged(make_put("t", 2, 1), hours(2)));
  put(*saver_, aged(make_put("t", 3, 2), hours(0)));
  put(*saver_, aged(make_put("t", 4, 3), hours(0)));
  saver_->prune("t", {.older_than = std::chrono::system_clock::now() - hours(1)});
  EXPECT_EQ(history(*saver_, "t"), "4 <3 {}\n3 {}\n");
}

TEST_P(CheckpointerSuite, ASweepTakesThreadsThatNobodyUsed) {
  put(*saver_, aged(make_put("old", 1, 0), hours(3)));
  put(*saver_, aged(make_put("old", 2, 1), hours(2)));
  put(*saver_, aged(make_put("young", 1, 0), hours(2)));
  put(*saver_, aged(make_put("young", 2, 1), hours(0)));

  EXPECT_EQ(sweep_threads(*saver_, {.ttl = hours(1), .strategy = TtlStrategy::keep_latest}), 1U);
  EXPECT_EQ(history(*saver_, "old"), "2 {}\n");
  EXPECT_EQ(sweep_threads(*saver_, {.ttl = hours(1)}), 1U);
  EXPECT_EQ(ids(saver_->list_threads({})), std::vector<std::string>{"young"});
  EXPECT_EQ(history(*saver_, "young"), "2 <1 {}\n1 {}\n");
}

TEST_P(CheckpointerSuite, WhatSomebodyHasGoneOnWithIsNotRemoved) {
  put_chain(*saver_, "t", 3);
  for (const std::size_t keep : {0U, 1U}) {
    EXPECT_THROW(saver_->prune("t", {.keep = keep, .expected_head = test_id(2)}), ThreadConflict);
    EXPECT_THROW(saver_->prune("none", {.keep = keep, .expected_head = test_id(1)}),
                 ThreadConflict);
  }
  EXPECT_EQ(saver_->thread_size("t").checkpoints, 3U);
  saver_->prune("t", {.keep = 1, .expected_head = test_id(3)});
  EXPECT_EQ(saver_->thread_size("t").checkpoints, 1U);
  saver_->prune("t", {.keep = 0, .expected_head = test_id(3)});
  saver_->prune("t", {.keep = 0, .expected_head = ""});
  EXPECT_TRUE(saver_->list_threads({}).empty());
}

// Somebody goes on with two threads of three when the sweep has found that all are too old.
class UsedMeanwhile : public ForwardingSaver {
 public:
  using ForwardingSaver::ForwardingSaver;

  std::vector<ThreadInfo> list_threads(const ThreadQuery& query) override {
    const auto found = ForwardingSaver::list_threads(query);
    for (const char* thread_id : {"a", "c"}) {
      clew::put(*this, aged(make_put(thread_id, 3, 2), hours(0)));
    }
    return found;
  }
};

TEST_P(CheckpointerSuite, ASweepLeavesThreadsThatAreUsedMeanwhile) {
  for (const auto strategy : {TtlStrategy::delete_thread, TtlStrategy::keep_latest}) {
    for (const char* thread_id : {"a", "b", "c"}) {
      saver_->delete_thread(thread_id);
      put(*saver_, aged(make_put(thread_id, 1, 0), hours(3)));
      put(*saver_, aged(make_put(thread_id, 2, 1), hours(2)));
    }
    UsedMeanwhile used(saver_);
    EXPECT_EQ(sweep_threads(used, {.ttl = hours(1), .strategy = strategy}), 1U);
    EXPECT_EQ(saver_->thread_size("a").checkpoints, 3U);
    EXPECT_EQ(saver_->thread_size("c").checkpoints, 3U);
    EXPECT_LE(saver_->thread_size("b").checkpoints, 1U);
  }
}

TEST_P(CheckpointerSuite, ASweeperSweepsByItself) {
  put(*saver_, aged(make_put("old", 1, 0), hours(2)));
  const Sweeper sweeper(saver_, {.ttl = hours(1)});
  while (!saver_->list_threads({}).empty()) std::this_thread::yield();
}

TEST_P(CheckpointerSuite, ThreadsMoveToAnotherCheckpointerAndBack) {
  const CheckpointPut first = make_put("t", 1, 0, {{"a", {1, 2}}, {"b", "text"}});
  put(*saver_, first);
  put(*saver_, inheriting(make_put("t", 2, 1, {{"a", {1, 2, 3}}}), first));
  put(*saver_, inheriting(make_put("t", 3, 1, {{"a", {1, 2, 4}}}), first));
  put_writes(*saver_, "t", 3, {{"a", 5}, {"b", 6}}, "t1", "~p");
  put_writes(*saver_, "t", 3, {{"__interrupt__", "Go on?"}}, "t2", "~q");
  CheckpointPut nested = make_put("t", 4, 0, {{"x", 1}});
  nested.key.checkpoint_ns = "node:1";
  put(*saver_, nested);
  put(*saver_, make_put("u", 1, 0, {{"a", 1}}));
  const std::string before = history(*saver_, "t");

  InMemorySaver other;
  const CopyProgress progress = copy_threads(*saver_, other);
  EXPECT_EQ(progress.threads, 2U);
  EXPECT_EQ(progress.checkpoints, 5U);
  EXPECT_EQ(progress.writes, 3U);
  EXPECT_THROW(copy_threads(other, *saver_), ValueError);
  EXPECT_THROW(copy_threads(other, *saver_, {.thread_ids = {"nobody"}}), ValueError);

  saver_->delete_thread("t");
  copy_threads(other, *saver_, {.thread_ids = {"t"}});
  EXPECT_EQ(history(*saver_, "t"), before);
}

TEST_P(CheckpointerSuite, ACopyThatWasCutShortIsCompleted) {
  InMemorySaver original;
  put_chain(original, "t", 3);
  put_writes(original, "t", 3, {{"a", 1}, {"b", 2}}, "t1");
  put_chain(original, "u", 2);
  put_chain(*saver_, "t", 2);  // as far as it came
  put_chain(*saver_, "u", 3);  // has been continued there

  CopyOptions options{.skips_existing = true};
  EXPECT_EQ(copy_threads(original, *saver_, options).skipped, 1U);
  EXPECT_EQ(history(*saver_, "t"), history(original, "t"));
  EXPECT_EQ(history(*saver_, "u"), "3 <2 {\"n\":3}\n2 <1 {\"n\":2}\n1 {\"n\":1}\n");
  EXPECT_EQ(copy_threads(original, *saver_, options).skipped, 2U);

  options = {.thread_ids = {"t"}, .as = "another"};
  EXPECT_EQ(copy_threads(original, *saver_, options).checkpoints, 3U);
  EXPECT_EQ(history(*saver_, "another"), history(original, "t"));
}

TEST_P(CheckpointerSuite, NothingIsCopiedIfOneThreadIsThere) {
  InMemorySaver original;
  put_chain(original, "a", 1);
  put_chain(original, "b", 1);
  put_chain(*saver_, "b", 1);
  EXPECT_THROW(copy_threads(original, *saver_), ValueError);
  EXPECT_EQ(ids(saver_->list_threads({})), std::vector<std::string>{"b"});
}

// Of LangGraph's files only the first checkpoint of a version has the snapshot.
TEST_P(CheckpointerSuite, DeltaSnapshotsAreCopied) {
  InMemorySaver original;
  put(original, delta_put(1, 0, snapshot({1, 2}), 0));
  std::vector<CheckpointTuple> tuples = original.list("t", std::nullopt, {});
  tuples.push_back(tuples.front());
  tuples.back().key.checkpoint_id = tuples.back().checkpoint.id = test_id(2);
  tuples.back().parent_id = test_id(1);
  tuples.back().checkpoint.channel_values = object();
  EXPECT_TRUE(restore_thread(*saver_, "t", tuples, false));
  EXPECT_EQ(delta_history(*saver_, 2), "seed=[1,2] writes=");
}

TEST_P(CheckpointerSuite, AnythingCanBeAThreadIdOrAValue) {
  const std::string odd("n\0ul \xF0\x9F\xA7\xB5 '%_\"", 14);
  std::string large(10 << 20, 'x');
  large[5] = '\0';
  put(*saver_, make_put(odd, 1, 0, {{"large", large}, {odd, odd}}));
  put_writes(*saver_, odd, 1, {{odd, large}}, odd, odd);
  const auto tuple = saver_->get_tuple({odd});
  ASSERT_TRUE(tuple);
  EXPECT_EQ(tuple->checkpoint.channel_values["large"].as_string(), large);
  EXPECT_EQ(tuple->checkpoint.channel_values[odd].as_string(), odd);
  ASSERT_EQ(tuple->pending_writes.size(), 1U);
  EXPECT_EQ(tuple->pending_writes[0].channel, odd);
  EXPECT_EQ(tuple->pending_writes[0].value.as_string(), large);
  EXPECT_EQ(ids(saver_->list_threads({})), std::vector<std::string>{odd});
}

}  // namespace
}  // namespace clew

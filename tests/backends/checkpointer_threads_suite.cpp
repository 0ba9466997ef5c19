// Delta channels, and what is done to whole threads: delete, copy, prune, look.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <clew/json.hpp>

#include "checkpointer_suite.hpp"
#include "unit/pregel/forwarding_saver.hpp"

namespace clew {

// ---- Delta channels

TEST_P(CheckpointerSuite, DeltaHistoryGoesBackToTheNearestStoredValue) {
  put(*saver_, delta_put(1, 0, snapshot(list({"base"})), 0));
  put_writes(*saver_, "t", 1, {{"d", "b"}}, "t2", "~b");
  put_writes(*saver_, "t", 1, {{"d", "a"}, {"other", 1}}, "t1", "~a");
  put(*saver_, delta_put(2, 1, nullptr, 1));
  put_writes(*saver_, "t", 2, {{"d", "c"}}, "t1");
  put(*saver_, delta_put(3, 2, nullptr, 2));
  put_writes(*saver_, "t", 3, {{"d", "not yet"}}, "t1");

  EXPECT_EQ(delta_history(*saver_, 3), R"(seed=["base"] writes="a""b""c")");
  EXPECT_EQ(delta_history(*saver_, 2), R"(seed=["base"] writes="a""b")");
  EXPECT_EQ(delta_history(*saver_, 1), "no seed writes=");
  EXPECT_EQ(delta_history(*saver_, 9), "no seed writes=");
  EXPECT_EQ(delta_history(*saver_, 0), delta_history(*saver_, 3));  // the newest
}

TEST_P(CheckpointerSuite, DeltaHistoryFollowsTheBranch) {
  put(*saver_, delta_put(1, 0, nullptr, 1));
  put_writes(*saver_, "t", 1, {{"d", "a"}}, "t1");
  put(*saver_, delta_put(2, 1, nullptr, 2));
  put_writes(*saver_, "t", 2, {{"d", "left"}}, "t1");
  put(*saver_, delta_put(3, 2, nullptr, 3));
  put(*saver_, delta_put(4, 1, nullptr, 2));
  EXPECT_EQ(delta_history(*saver_, 3), R"(no seed writes="a""left")");
  EXPECT_EQ(delta_history(*saver_, 4), R"(no seed writes="a")");
}

TEST_P(CheckpointerSuite, DeltaHistoryOfSeveralChannelsEndsForEachOnItsOwn) {
  put(*saver_, make_put("t", 1, 0, {{"x", "x1"}, {"y", "y1"}}));
  put_writes(*saver_, "t", 1, {{"x", 1}, {"y", 1}}, "t1");
  put(*saver_, make_put("t", 2, 1, {{"y", "y2"}}));
  put_writes(*saver_, "t", 2, {{"x", 2}, {"y", 2}}, "t1");
  put(*saver_, make_put("t", 3, 2));
  const std::string channels[] = {"x", "y", "never"};
  const auto histories = saver_->get_delta_channel_history({"t"}, channels);
  ASSERT_EQ(histories.size(), 3U);
  EXPECT_EQ(render(histories[0]), R"(seed="x1" writes=12)");
  EXPECT_EQ(render(histories[1]), R"(seed="y2" writes=2)");
  EXPECT_EQ(render(histories[2]), "no seed writes=");
  EXPECT_TRUE(saver_->get_delta_channel_history({"t"}, {}).empty());
}

TEST_P(CheckpointerSuite, DeltaHistoryEndsWhereParentsFormALoop) {
  put(*saver_, delta_put(1, 0, nullptr, 1));
  put(*saver_, delta_put(2, 1, nullptr, 2));
  put(*saver_, delta_put(1, 2, nullptr, 3));
  put_writes(*saver_, "t", 1, {{"d", "a"}}, "t1");
  put_writes(*saver_, "t", 2, {{"d", "b"}}, "t1");
  EXPECT_NE(delta_history(*saver_, 2).find("\"a\""), std::string::npos);
}

// That of a saver which has only what it must.
TEST_P(CheckpointerSuite, TheDefaultDeltaHistoryIsTheSameAsTheBackends) {
  put(*saver_, delta_put(1, 0, snapshot(list({"base"})), 0));
  put_writes(*saver_, "t", 1, {{"d", "b"}}, "t2", "~b");
  put_writes(*saver_, "t", 1, {{"d", "a"}, {"d", "a2"}}, "t1", "~a");
  put(*saver_, delta_put(2, 1, nullptr, 1));
  put_writes(*saver_, "t", 2, {{"d", "c"}}, "t1");
  put(*saver_, delta_put(3, 2, nullptr, 2));
  put(*saver_, delta_put(4, 1, nullptr, 2));
  ForwardingSaver minimal(saver_);
  for (int n = 0; n <= 5; ++n) EXPECT_EQ(delta_history(minimal, n), delta_history(*saver_, n)) << n;

  put(*saver_, delta_put(1, 3, nullptr, 3));  // a loop
  EXPECT_EQ(delta_history(minimal, 3), delta_history(*saver_, 3));
}

// ---- Threads: delete, copy, prune

TEST_P(CheckpointerSuite, DeletingAThreadLeavesTheOthers) {
  put_chain(*saver_, "t", 2);
  put_chain(*saver_, "u", 1);
  put_writes(*saver_, "t", 2, {{"a", 1}}, "t1");
  saver_->delete_thread("t");
  saver_->delete_thread("never was");
  EXPECT_EQ(history(*saver_, "t", std::nullopt), "");
  EXPECT_EQ(history(*saver_, "u"), "1 {\"n\":1}\n");

  put(*saver_, make_put("t", 2, 0));
  EXPECT_EQ(newest(*saver_, "t"), "2 {}");
}

TEST_P(CheckpointerSuite, ACopyHasEverythingAndGoesItsOwnWay) {
  put_chain(*saver_, "t", 3);
  CheckpointPut sub = make_put("t", 4, 0, {{"n", "sub"}});
  sub.key.checkpoint_ns = "sub:1";
  put(*saver_, sub);
  put_writes(*saver_, "t", 3, {{"a", 1}, {"__interrupt__", "q"}}, "t1", "~p");
  const std::string before = history(*saver_, "t", std::nullopt);

  saver_->copy_thread("t", "copy");
  EXPECT_EQ(history(*saver_, "copy", std::nullopt), before);
  EXPECT_EQ(saver_->get_tuple({"copy"})->key.thread_id, "copy");

  put(*saver_, make_put("copy", 5, 3));
  put_writes(*saver_, "copy", 3, {{"b", 1}}, "t2");
  EXPECT_EQ(history(*saver_, "t", std::nullopt), before);
  saver_->delete_thread("t");
  EXPECT_EQ(newest(*saver_, "copy"), "5 <3 {}");
}

TEST_P(CheckpointerSuite, ACopyDoesNotReplaceAThread) {
  put_chain(*saver_, "t", 2);
  put_chain(*saver_, "u", 1);
  EXPECT_THROW(saver_->copy_thread("t", "u"), ValueError);
  EXPECT_EQ(history(*saver_, "u"), "1 {\"n\":1}\n");
  saver_->copy_thread("never was", "new");
  EXPECT_EQ(history(*saver_, "new"), "");
}

TEST_P(CheckpointerSuite, PruneKeepsTheNewestOfEachNamespace) {
  put_chain(*saver_, "t", 4);
  put_chain(*saver_, "u", 2);
  CheckpointPut sub = make_put("t", 5, 0, {{"n", "old"}});
  sub.key.checkpoint_ns = "sub";
  put(*saver_, sub);
  sub = make_put("t", 6, 5, {{"n", "sub"}});
  sub.key.checkpoint_ns = "sub";
  put(*saver_, sub);
  put_writes(*saver_, "t", 4, {{"a", 1}}, "t1");

  saver_->prune("t", {});
  saver_->prune("never was", {});
  EXPECT_EQ(history(*saver_, "t"), "4 {\"n\":4} [t1.a=1]\n");
  EXPECT_EQ(history(*saver_, "t", "sub"), "sub: 6 {\"n\":\"sub\"}\n");
  EXPECT_EQ(history(*saver_, "u"), "2 <1 {\"n\":2}\n1 {\"n\":1}\n");
}

TEST_P(CheckpointerSuite, PruneKeepsAsManyAsAsked) {
  put_chain(*saver_, "t", 4);
  saver_->prune("t", {.keep = 9});
  EXPECT_EQ(saver_->list("t", "", {}).size(), 4U);
  saver_->prune("t", {.keep = 2});
  EXPECT_EQ(history(*saver_, "t"), "4 <3 {\"n\":4}\n3 {\"n\":3}\n");
  saver_->prune("t", {.keep = 0});
  EXPECT_EQ(history(*saver_, "t"), "");
}

TEST_P(CheckpointerSuite, PruneKeepsValuesThatRemovedCheckpointsBrought) {
  const CheckpointPut first = make_put("t", 1, 0, {{"a", "from the first"}});
  put(*saver_, first);
  const CheckpointPut second = inheriting(make_put("t", 2, 1, {{"b", 2}}), first);
  put(*saver_, second);
  saver_->prune("t", {});
  EXPECT_EQ(history(*saver_, "t"), "2 {\"a\":\"from the first\",\"b\":2}\n");

  put(*saver_, inheriting(make_put("t", 3, 2, {{"b", 3}}), second));
  EXPECT_EQ(newest(*saver_, "t"), R"(3 <2 {"a":"from the first","b":3})");
}

TEST_P(CheckpointerSuite, PruneKeepsWhereBranchesEnd) {
  put_chain(*saver_, "t", 3);
  put(*saver_, make_put("t", 4, 1, {{"n", "fork"}}));
  put(*saver_, make_put("t", 5, 4, {{"n", "fork 2"}}));
  saver_->prune("t", {});
  EXPECT_EQ(history(*saver_, "t"), "5 {\"n\":\"fork 2\"}\n3 {\"n\":3}\n");
  saver_->prune("t", {.keep_branches = false});
  EXPECT_EQ(history(*saver_, "t"), "5 {\"n\":\"fork 2\"}\n");
}

TEST_P(CheckpointerSuite, PruneKeepsOpenQuestions) {
  put_chain(*saver_, "t", 2);
  put_writes(*saver_, "t", 2, {{"__interrupt__", "Go on?"}}, "t1");
  put(*saver_, make_put("t", 3, 1));
  put(*saver_, make_put("t", 4, 1));
  saver_->prune("t", {.keep_branches = false});
  EXPECT_EQ(history(*saver_, "t"),
            "4 {}\n"
            "2 {\"n\":2} [t1.__interrupt__=\"Go on?\"]\n");
}

TEST_P(CheckpointerSuite, PruneKeepsWhatDeltaChannelsAreRebuiltFrom) {
  put(*saver_, delta_put(1, 0, nullptr, 1));
  put_writes(*saver_, "t", 1, {{"d", "gone"}}, "t1");
  put(*saver_, delta_put(2, 1, snapshot(list({"base"})), 0));
  put_writes(*saver_, "t", 2, {{"d", "a"}}, "t1");
  put(*saver_, delta_put(3, 2, nullptr, 1));
  put_writes(*saver_, "t", 3, {{"d", "b"}}, "t1");
  put(*saver_, delta_put(4, 3, nullptr, 2));
  const std::string before = delta_history(*saver_, 4);
  saver_->prune("t", {});
  EXPECT_EQ(delta_history(*saver_, 4), before);
  EXPECT_EQ(saver_->get_tuple({"t", "", test_id(1)}), std::nullopt);

  put(*saver_, delta_put(5, 4, snapshot(list({"all"})), 0));
  saver_->prune("t", {});
  EXPECT_EQ(saver_->list("t", "", {}).size(), 1U);
}

// With two delta channels, of which null ones have no value of their own.
CheckpointPut two_deltas_put(int n, int parent, const Value& d, const Value& e) {
  CheckpointPut made = make_put("t", n, parent, {{"d", d}, {"e", e}});
  Value counters = object();
  for (const char* channel : {"d", "e"}) {
    if (!made.checkpoint.channel_values[channel].is_null()) continue;
    made.checkpoint.channel_values = made.checkpoint.channel_values.erase(channel);
    counters = counters.set(channel, list({1, 1}));
  }
  made.metadata = made.metadata.set("counters_since_delta_snapshot", counters);
  return made;
}

TEST_P(CheckpointerSuite, PruneKeepsWhatKeptAncestorsAreRebuiltFrom) {
  put(*saver_, two_deltas_put(1, 0, nullptr, nullptr));
  put_writes(*saver_, "t", 1, {{"e", "e1"}}, "t1");
  put(*saver_, two_deltas_put(2, 1, snapshot(list({"d2"})), nullptr));
  put_writes(*saver_, "t", 2, {{"d", "d3"}}, "t1");
  put(*saver_, two_deltas_put(3, 2, nullptr, snapshot(list({"e3"}))));
  saver_->prune("t", {});
  // 3 needs the `d` of 2, which is there to be asked for its `e`.
  const std::string channel = "e";
  const auto histories = saver_->get_delta_channel_history({"t", "", test_id(2)}, {&channel, 1});
  EXPECT_EQ(render(histories.front()), R"(no seed writes="e1")");
}

TEST_P(CheckpointerSuite, PruneKeepsTheParentThatHoldsTheSendsOfAnOldLayout) {
  put_chain(*saver_, "t", 2);
  CheckpointPut old = make_put("t", 3, 2);
  old.checkpoint.v = 3;
  put(*saver_, old);
  put_writes(*saver_, "t", 2, {{"__pregel_tasks", "send"}}, "t1");
  saver_->prune("t", {});
  EXPECT_EQ(history(*saver_, "t"),
            "3 <2 {}\n"
            "2 {\"n\":2} [t1.__pregel_tasks=\"send\"]\n");
}

TEST_P(CheckpointerSuite, PruneRemovesSubgraphCallsWithTheCheckpointThatMadeThem) {
  put_chain(*saver_, "t", 2);
  for (int root : {1, 2, 8}) {
    CheckpointPut call = make_put("t", 10 + root, 0, {{"root", root}});
    call.key.checkpoint_ns = "node:task-" + std::to_string(root);
    call.metadata = call.metadata.set("parents", object({{"", test_id(root)}}));
    put(*saver_, call);
  }
  saver_->prune("t", {});
  EXPECT_EQ(newest(*saver_, "t", "node:task-1"), "none");
  EXPECT_EQ(newest(*saver_, "t", "node:task-2"), R"(12 {"root":2})");
  // Its root checkpoint is not stored yet: runs save in the background.
  EXPECT_EQ(newest(*saver_, "t", "node:task-8"), R"(18 {"root":8})");
}

TEST_P(CheckpointerSuite, DeletesTheCheckpointsOfRuns) {
  const auto put_of_run = [this](std::string_view thread_id, int n, int parent, const char* run) {
    CheckpointPut made = make_put(thread_id, n, parent, {{"n", n}});
    made.metadata = made.metadata.set("run_id", run);
    put(*saver_, made);
  };
  put_of_run("t", 1, 0, "r1");
  put_of_run("t", 2, 1, "r2");
  put_of_run("t", 3, 2, "r3");
  put_of_run("u", 1, 0, "r2");
  put_of_run("u", 2, 1, "r1");
  put_writes(*saver_, "t", 2, {{"a", 1}}, "t1");

  const std::string runs[] = {"r2", "never was"};
  saver_->delete_for_runs(runs);
  saver_->delete_for_runs({});
  EXPECT_EQ(history(*saver_, "t"), "3 {\"n\":3}\n1 {\"n\":1}\n");
  EXPECT_EQ(history(*saver_, "u"), "2 {\"n\":2}\n");
}

TEST_P(CheckpointerSuite, AThreadWithoutARootCheckpointHasNoMetadata) {
  CheckpointPut root = make_put("t", 1, 0);
  root.metadata = root.metadata.set("run_id", "r1");
  put(*saver_, root);
  CheckpointPut inside = make_put("t", 2, 0);
  inside.key.checkpoint_ns = "inside";
  put(*saver_, inside);
  const std::string runs[] = {"r1"};
  saver_->delete_for_runs(runs);
  const auto threads = saver_->list_threads({});
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(threads[0].checkpoint_id, "");
  EXPECT_TRUE(threads[0].metadata.is_null());
}

TEST_P(CheckpointerSuite, DeletingAllRunsKeepsWritesThatCameBeforeTheirCheckpoint) {
  CheckpointPut first = make_put("t", 1, 0, {{"n", 1}});
  first.metadata = first.metadata.set("run_id", "r1");
  put(*saver_, first);
  put_writes(*saver_, "t", 1, {{"n", "gone"}}, "t1");
  put_writes(*saver_, "t", 2, {{"n", "awaited"}}, "t2");
  const std::string runs[] = {"r1"};
  saver_->delete_for_runs(runs);
  put(*saver_, make_put("t", 2, 0));
  EXPECT_EQ(history(*saver_, "t"), "2 {} [t2.n=\"awaited\"]\n");
}

// A checkpoint that is stored, or stored again, keeps what tasks have asked already.
TEST_P(CheckpointerSuite, AThreadIsInterruptedWhicheverCameFirst) {
  const auto status = [this] { return saver_->list_threads({}).at(0).status; };
  put_writes(*saver_, "t", 1, {{"__interrupt__", "which?"}}, "t1");
  put(*saver_, make_put("t", 1, 0, {{"branch:to:next", nullptr}}));
  EXPECT_EQ(status(), ThreadStatus::interrupted);
  put(*saver_, make_put("t", 2, 1));
  EXPECT_EQ(status(), ThreadStatus::idle);
  put_writes(*saver_, "t", 2, {{"__error__", "why"}}, "t2");
  put(*saver_, make_put("t", 2, 1, {{"again", 1}}));
  EXPECT_EQ(status(), ThreadStatus::error);
  CheckpointPut older = make_put("t", 1, 0, {{"again", 1}});
  older.writes.push_back(
      {.key = {"t", "", test_id(2)}, .task_id = "t3", .writes = {{"__interrupt__", "which?"}}});
  put(*saver_, older);
  EXPECT_EQ(status(), ThreadStatus::interrupted);
}

TEST_P(CheckpointerSuite, DeletingARunKeepsWhatDeltaChannelsAreRebuiltFrom) {
  CheckpointPut first = delta_put(1, 0, snapshot(list({"base"})), 0);
  first.metadata = first.metadata.set("run_id", "r1");
  put(*saver_, first);
  put_writes(*saver_, "t", 1, {{"d", "a"}}, "t1");
  put(*saver_, delta_put(2, 1, nullptr, 1));
  const std::string runs[] = {"r1"};
  saver_->delete_for_runs(runs);
  EXPECT_EQ(delta_history(*saver_, 2), R"(seed=["base"] writes="a")");
}

// ---- Looking at threads

TEST_P(CheckpointerSuite, ThreadsAreListedById) {
  for (const char* thread_id : {"b", "c", "a"}) put_chain(*saver_, thread_id, 2);
  put_writes(*saver_, "only writes", 1, {{"a", 1}}, "t1");
  const auto threads = saver_->list_threads({});
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_EQ(threads[0].thread_id, "a");
  EXPECT_EQ(threads[0].checkpoints, 2U);
  EXPECT_EQ(threads[0].checkpoint_id, test_id(2));
  EXPECT_EQ(threads[0].updated_at, "2024-01-01T00:00:00+00:00");
  EXPECT_EQ(threads[0].metadata["step"], Value(2));

  const auto page = saver_->list_threads({.after = "a", .limit = 1});
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].thread_id, "b");
}

TEST_P(CheckpointerSuite, ThreadsAreFoundByTheMetadataOfTheirNewestCheckpoint) {
  put_chain(*saver_, "a", 1);
  put_chain(*saver_, "b", 2);
  put_chain(*saver_, "c", 3);
  const auto found = saver_->list_threads({.filter = {{"step", 2}}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].thread_id, "b");
  EXPECT_EQ(saver_->list_threads({.filter = {{"source", "loop"}}, .limit = 2}).size(), 2U);
}

TEST_P(CheckpointerSuite, ASizeCountsSharedValuesOnce) {
  const CheckpointPut first = make_put("t", 1, 0, {{"a", std::string(1000, 'x')}});
  put(*saver_, first);
  put(*saver_, inheriting(make_put("t", 2, 1, {{"b", 1}}), first));
  put_writes(*saver_, "t", 2, {{"a", 1}, {"b", 2}}, "t1");
  const ThreadSize size = saver_->thread_size("t");
  EXPECT_EQ(size.checkpoints, 2U);
  EXPECT_EQ(size.writes, 2U);
  EXPECT_EQ(size.values, 2U);
  const std::uint64_t copies = GetParam().shares_values ? 1 : 2;
  EXPECT_GE(size.bytes, copies * 1000);
  EXPECT_LT(size.bytes, (copies + 1) * 1000);
}

// ---- Against a model

// A thread as full copies: what each checkpoint must return, whatever happens
// to others.
class ModelThread {
 public:
  explicit ModelThread(std::uint32_t seed) : random_(seed) {}

  // Puts a checkpoint under a random one, with some channels changed.
  void grow(Checkpointer& saver) {
    const int parent = expected_.empty() || chance(10) ? 0 : random_live();
    const int n = ++last_;
    CheckpointPut made = make_put("t", n, parent);
    if (parent > 0) made.checkpoint.channel_versions = versions_[parent];
    const Value version = saver.next_version(greatest(made.checkpoint.channel_versions));
    Value values = parent > 0 ? expected_[parent] : object();
    for (int channel = 0; channel < 5; ++channel) {
      const std::string name = "c" + std::to_string(channel);
      if (!chance(40)) continue;
      values = chance(20) ? values.erase(name) : values.set(name, n * 10 + channel);
      made.new_versions = made.new_versions.set(name, version);
    }
    made.checkpoint.channel_versions = made.checkpoint.channel_versions.merge(made.new_versions);
    made.checkpoint.channel_values = values;
    put(saver, made);
    expected_[n] = values;
    versions_[n] = made.checkpoint.channel_versions;
    parents_[n] = parent;
  }

  void prune(Checkpointer& saver) {
    const std::size_t keep = 1 + random_() % 5;
    saver.prune("t", {.keep = keep});
    std::set<int> kept;
    for (const auto& [n, parent] : parents_) kept.insert(n);
    for (const auto& [n, parent] : parents_) kept.erase(parent);
    for (auto entry = expected_.rbegin(); entry != expected_.rend(); ++entry) {
      if (std::distance(expected_.rbegin(), entry) >= static_cast<std::ptrdiff_t>(keep)) break;
      kept.insert(entry->first);
    }
    std::erase_if(expected_, [&](const auto& entry) { return !kept.contains(entry.first); });
    std::erase_if(parents_, [&](const auto& entry) { return !kept.contains(entry.first); });
    for (auto& [n, parent] : parents_) {
      if (!kept.contains(parent)) parent = 0;
    }
  }

  std::string render() const {
    std::string text;
    for (auto entry = expected_.rbegin(); entry != expected_.rend(); ++entry) {
      const int parent = parents_.at(entry->first);
      text += std::to_string(entry->first) + (parent ? " <" + std::to_string(parent) : "") + " " +
              to_json(entry->second, {.sort_keys = true}) + "\n";
    }
    return text;
  }

 private:
  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }

  int random_live() {
    auto entry = expected_.begin();
    std::advance(entry, random_() % expected_.size());
    return entry->first;
  }

  static Value greatest(const Value& versions) {
    Value greatest;
    for (auto [channel, version] : versions.items()) greatest = std::max(greatest, version);
    return greatest;
  }

  std::mt19937 random_;
  int last_ = 0;
  std::map<int, Value> expected_;
  std::map<int, Value> versions_;
  std::map<int, int> parents_;
};

TEST_P(CheckpointerSuite, ForksAndPrunesNeverChangeWhatAnotherCheckpointReturns) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::shared_ptr<Checkpointer> saver = GetParam().make();
    ModelThread model(seed);
    for (int step = 0; step < 40; ++step) {
      model.grow(*saver);
      if (step % 13 == 12) model.prune(*saver);
    }
    ASSERT_EQ(history(*saver, "t"), model.render()) << "seed " << seed;
  }
}

}  // namespace clew

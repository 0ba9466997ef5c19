// Reading, writing, listing, and several runs at once.
#include "checkpointer_suite.hpp"

#include <atomic>
#include <thread>

#include <clew/errors.hpp>

namespace clew {

CheckpointPut CheckpointerSuite::inheriting(CheckpointPut put, const CheckpointPut& before) const {
  const Checkpoint& inherited = before.checkpoint;
  put.checkpoint.channel_versions = inherited.channel_versions.merge(put.new_versions);
  if (saver_->stores_all_values()) {
    put.checkpoint.channel_values = inherited.channel_values.merge(put.checkpoint.channel_values);
  }
  return put;
}

// ---- Reading and writing

TEST_P(CheckpointerSuite, AThreadThatNobodyWroteHasNothing) {
  EXPECT_EQ(newest(*saver_, "t"), "none");
  EXPECT_EQ(history(*saver_, "t", std::nullopt), "");
  EXPECT_EQ(saver_->get_tuple({"t", "", test_id(1)}), std::nullopt);
  EXPECT_EQ(saver_->thread_size("t").checkpoints, 0U);
}

TEST_P(CheckpointerSuite, ReturnsWhatWasPut) {
  CheckpointPut one = make_put("t", 1, 0, {{"a", 1}, {"l", {1, "x", nullptr, 2.5}}});
  one.checkpoint.versions_seen = object({{"node", object({{"a", "1"}})}});
  one.checkpoint.updated_channels = list({"a", "l"});
  one.metadata = one.metadata.set("user", "ada");
  put(*saver_, one);

  const auto tuple = saver_->get_tuple({"t"});
  ASSERT_TRUE(tuple);
  EXPECT_EQ(tuple->key, (CheckpointKey{"t", "", test_id(1)}));
  EXPECT_EQ(tuple->checkpoint.v, 4);
  EXPECT_EQ(tuple->checkpoint.ts, one.checkpoint.ts);
  EXPECT_EQ(tuple->checkpoint.channel_values, one.checkpoint.channel_values);
  EXPECT_EQ(tuple->checkpoint.channel_versions, one.checkpoint.channel_versions);
  EXPECT_EQ(tuple->checkpoint.versions_seen, one.checkpoint.versions_seen);
  EXPECT_EQ(tuple->checkpoint.updated_channels, one.checkpoint.updated_channels);
  EXPECT_EQ(tuple->metadata, one.metadata);
  EXPECT_EQ(tuple->parent_id, "");
}

TEST_P(CheckpointerSuite, TheNewestIsTheGreatestIdWhateverTheOrderOfPuts) {
  put(*saver_, make_put("t", 2, 0, {{"n", 2}}));
  put(*saver_, make_put("t", 1, 0, {{"n", 1}}));
  EXPECT_EQ(newest(*saver_, "t"), R"(2 {"n":2})");
  EXPECT_EQ(history(*saver_, "t"),
            "2 {\"n\":2}\n"
            "1 {\"n\":1}\n");
}

TEST_P(CheckpointerSuite, AnUnchangedChannelKeepsItsValueThroughItsVersion) {
  put(*saver_, make_put("t", 1, 0, {{"a", 1}, {"b", "old"}}));
  CheckpointPut second = make_put("t", 2, 1, {{"b", "new"}});
  second.checkpoint.channel_versions =
      saver_->get_tuple({"t"})->checkpoint.channel_versions.merge(second.new_versions);
  // As a graph that does not know channel "a" any more would put it.
  put(*saver_, second);
  EXPECT_EQ(newest(*saver_, "t"),
            GetParam().shares_values ? R"(2 <1 {"a":1,"b":"new"})" : R"(2 <1 {"b":"new"})");
}

TEST_P(CheckpointerSuite, AConsumedChannelHasAVersionAndNoValue) {
  put(*saver_, make_put("t", 1, 0, {{"a", 1}, {"b", 1}}));
  CheckpointPut second = make_put("t", 2, 1, {{"a", 2}, {"b", 2}});
  second.checkpoint.channel_values = object({{"b", nullptr}});
  put(*saver_, second);
  EXPECT_EQ(newest(*saver_, "t"), R"(2 <1 {"b":null})");
}

TEST_P(CheckpointerSuite, AValueMayComeAfterTheCheckpointThatInheritsIt) {
  const CheckpointPut first = make_put("t", 1, 0, {{"a", 1}});
  CheckpointPut second = make_put("t", 2, 1, {{"b", 2}});
  second.checkpoint.channel_versions = first.new_versions.merge(second.new_versions);
  second.checkpoint.channel_values = object({{"a", 1}, {"b", 2}});
  put(*saver_, second);
  saver_->get_tuple({"t"});
  put(*saver_, first);
  EXPECT_EQ(history(*saver_, "t"),
            "2 <1 {\"a\":1,\"b\":2}\n"
            "1 {\"a\":1}\n");
}

TEST_P(CheckpointerSuite, PuttingACheckpointAgainReplacesItAndKeepsItsWrites) {
  put(*saver_, make_put("t", 1, 0, {{"a", 1}}));
  put_writes(*saver_, "t", 1, {{"a", 7}}, "task");
  CheckpointPut again = make_put("t", 1, 0, {{"b", 5}});
  again.checkpoint.channel_versions = object({{"b", next_version("8", 0.25)}});
  again.new_versions = again.checkpoint.channel_versions;
  put(*saver_, again);
  EXPECT_EQ(history(*saver_, "t"), "1 {\"b\":5} [task.a=7]\n");
}

TEST_P(CheckpointerSuite, WritesGoWithTheirCheckpointOrNotAtAll) {
  put(*saver_, make_put("t", 1, 0, {{"a", 1}}));
  CheckpointPut second = make_put("t", 2, 1, {{"a", 2}});
  second.expected_head = test_id(1);
  second.writes.push_back({.key = second.key, .task_id = "t1", .writes = {{"a", 2}}});
  put(*saver_, second);
  CheckpointPut late = make_put("t", 3, 1, {{"a", 3}});
  late.expected_head = test_id(1);
  late.writes.push_back({.key = late.key, .task_id = "t2", .writes = {{"a", 3}}});
  EXPECT_THROW(put(*saver_, late), ThreadConflict);
  EXPECT_EQ(history(*saver_, "t"), "2 <1 {\"a\":2}\n1 {\"a\":1} [t1.a=2]\n");
}

TEST_P(CheckpointerSuite, SeveralPutsMayGoInOneCall) {
  const CheckpointPut puts[] = {make_put("t", 1, 0, {{"n", 1}}), make_put("u", 5, 0, {{"n", 5}}),
                                make_put("t", 2, 1, {{"n", 2}})};
  saver_->put(puts);
  EXPECT_EQ(history(*saver_, "t"), "2 <1 {\"n\":2}\n1 {\"n\":1}\n");
  EXPECT_EQ(history(*saver_, "u"), "5 {\"n\":5}\n");
}

TEST_P(CheckpointerSuite, NamespacesOfAThreadAreSeparate) {
  put(*saver_, make_put("t", 1, 0, {{"n", "root"}}));
  CheckpointPut sub = make_put("t", 2, 0, {{"n", "sub"}});
  sub.key.checkpoint_ns = "sub:1";
  put(*saver_, sub);
  EXPECT_EQ(newest(*saver_, "t"), R"(1 {"n":"root"})");
  EXPECT_EQ(newest(*saver_, "t", "sub:1"), R"(2 {"n":"sub"})");
  EXPECT_EQ(saver_->get_tuple({"t", "sub:1", test_id(1)}), std::nullopt);
  EXPECT_EQ(saver_->list("t", std::nullopt, {}).size(), 2U);
}

TEST_P(CheckpointerSuite, ValuesOfEveryKindComeBackEqual) {
  const Value values{{"null", nullptr},
                     {"int", 9007199254740993},
                     {"big", Value::integer("9223372036854775808")},
                     {"float", 0.1},
                     {"text", std::string("a\0b", 3)},
                     {"bytes", Value::bytes("\xff\x00")},
                     {"list", {1, {2, {3}}}},
                     {"object", {{"k", {{"z", 0}}}}},
                     {"snapshot", snapshot(list({1}))}};
  put(*saver_, make_put("t", 1, 0, values));
  EXPECT_EQ(saver_->get_tuple({"t"})->checkpoint.channel_values, values);
}

// ---- Pending writes

TEST_P(CheckpointerSuite, WritesAreOrderedByPathThenTaskThenIndex) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {{"m", 1}, {"m", 2}}, "t2", "~b");
  put_writes(*saver_, "t", 1, {{"m", 3}}, "t1", "~c");
  put_writes(*saver_, "t", 1, {{"m", 4}}, "t3", "~a");
  put_writes(*saver_, "t", 1, {{"m", 0}}, "t0", "~b");
  EXPECT_EQ(newest(*saver_, "t"), "1 {} [t3.m=4 t0.m=0 t2.m=1 t2.m=2 t1.m=3]");
}

TEST_P(CheckpointerSuite, WritesKeepTheirTaskPath) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {{"m", 1}}, "t1", "~__pregel_pull, a");
  EXPECT_EQ(saver_->get_tuple({"t"})->pending_writes.front().task_path, "~__pregel_pull, a");
}

TEST_P(CheckpointerSuite, MoreThanTenWritesKeepTheirOrder) {
  put(*saver_, make_put("t", 1, 0));
  std::vector<ChannelWrite> writes;
  for (int i = 0; i < 12; ++i) writes.push_back({"m", i});
  put_writes(*saver_, "t", 1, writes, "t1");
  const auto tuple = saver_->get_tuple({"t"});
  std::vector<Value> stored;
  for (const PendingWrite& write : tuple->pending_writes) stored.push_back(write.value);
  EXPECT_EQ(stored, std::vector<Value>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_P(CheckpointerSuite, ARepeatedWriteKeepsTheFirstValue) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {{"a", 1}}, "t1");
  EXPECT_EQ(newest(*saver_, "t"), "1 {} [t1.a=1]");
  put_writes(*saver_, "t", 1, {{"a", 2}, {"b", 3}}, "t1");
  EXPECT_EQ(newest(*saver_, "t"), "1 {} [t1.a=1 t1.b=3]");
}

TEST_P(CheckpointerSuite, ARepeatedControlWriteTakesTheLastValue) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {{"__interrupt__", "q1"}}, "t1");
  put_writes(*saver_, "t", 1, {{"__interrupt__", "q2"}}, "t1");
  put_writes(*saver_, "t", 1, {{"__resume__", "r"}}, "t1");
  put_writes(*saver_, "t", 1, {{"__error__", "e1"}}, "t2");
  put_writes(*saver_, "t", 1, {{"__error__", "e2"}}, "t2");
  EXPECT_EQ(newest(*saver_, "t"),
            R"(1 {} [t1.__resume__="r" t1.__interrupt__="q2" t2.__error__="e2"])");
}

TEST_P(CheckpointerSuite, AControlWriteMayComeWithOthers) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {{"a", 1}, {"__error__", "e1"}}, "t1");
  put_writes(*saver_, "t", 1, {{"a", 2}, {"__error__", "e2"}, {"b", 3}}, "t1");
  EXPECT_EQ(newest(*saver_, "t"), GetParam().settles_writes_one_by_one
                                      ? R"(1 {} [t1.__error__="e2" t1.a=1 t1.b=3])"
                                      : R"(1 {} [t1.__error__="e1" t1.a=1 t1.b=3])");
}

TEST_P(CheckpointerSuite, WritesMayComeBeforeTheirCheckpoint) {
  put_writes(*saver_, "t", 1, {{"a", 1}}, "t1");
  EXPECT_EQ(newest(*saver_, "t"), "none");
  EXPECT_EQ(history(*saver_, "t"), "");
  put(*saver_, make_put("t", 1, 0));
  EXPECT_EQ(newest(*saver_, "t"), "1 {} [t1.a=1]");
}

TEST_P(CheckpointerSuite, WritesBelongToOneCheckpointAndNamespace) {
  put_chain(*saver_, "t", 2);
  put_writes(*saver_, "t", 1, {{"a", 1}}, "t1");
  put_writes(*saver_, "t", 2, {{"a", 2}}, "t1", "", "sub");
  EXPECT_EQ(history(*saver_, "t"),
            "2 <1 {\"n\":2}\n"
            "1 {\"n\":1} [t1.a=1]\n");
}

TEST_P(CheckpointerSuite, NoWritesAreNoWrites) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {}, "t1");
  EXPECT_EQ(newest(*saver_, "t"), "1 {}");
}

// ---- Listing

TEST_P(CheckpointerSuite, ListTakesBeforeAndLimit) {
  put_chain(*saver_, "t", 4);
  EXPECT_EQ(history(*saver_, "t", "", {.before = test_id(3), .limit = 1}), "2 <1 {\"n\":2}\n");
  EXPECT_EQ(history(*saver_, "t", "", {.before = test_id(1)}), "");
  EXPECT_EQ(history(*saver_, "t", "", {.limit = 0}), "");
  EXPECT_EQ(saver_->list("t", "", {.limit = 3}).size(), 3U);
  EXPECT_EQ(history(*saver_, "t", "other"), "");
}

TEST_P(CheckpointerSuite, WithoutANamespaceAllAreListed) {
  for (const auto& [ns, n] : {std::pair("z", 1), std::pair("", 2), std::pair("z", 3)}) {
    CheckpointPut made = make_put("t", n, 0);
    made.key.checkpoint_ns = ns;
    put(*saver_, made);
  }
  EXPECT_EQ(history(*saver_, "t", std::nullopt), GetParam().lists_by_namespace
                                                     ? "z: 3 {}\nz: 1 {}\n2 {}\n"
                                                     : "z: 3 {}\n2 {}\nz: 1 {}\n");
  EXPECT_EQ(saver_->list("t", std::nullopt, {.before = test_id(3), .limit = 1}).size(), 1U);
}

TEST_P(CheckpointerSuite, ListFiltersByMetadata) {
  put_chain(*saver_, "t", 3);
  CheckpointPut marked = make_put("t", 4, 3);
  marked.metadata = marked.metadata.set("user", "ada").set("source", "update");
  put(*saver_, marked);
  EXPECT_EQ(history(*saver_, "t", "", {.filter = {{"step", 2}}}), "2 <1 {\"n\":2}\n");
  EXPECT_EQ(history(*saver_, "t", "", {.filter = {{"user", "ada"}, {"source", "update"}}}),
            "4 <3 {}\n");
  EXPECT_EQ(history(*saver_, "t", "", {.filter = {{"user", "ada"}, {"source", "loop"}}}), "");
  EXPECT_EQ(saver_->list("t", "", {.filter = {{"source", "loop"}}, .limit = 2}).size(), 2U);
}

TEST_P(CheckpointerSuite, FiltersAsPythonCompares) {
  CheckpointPut made = make_put("t", 1, 0);
  made.metadata = Value{{"one", 1}, {"yes", true}, {"list", {1, {{"k", 0}}}}, {"none", nullptr}};
  put(*saver_, made);
  const auto finds = [&](Value filter) {
    return saver_->list("t", "", {.filter = std::move(filter)}).size() == 1;
  };
  EXPECT_TRUE(finds({{"one", 1.0}}));
  EXPECT_TRUE(finds({{"one", true}}));
  EXPECT_TRUE(finds({{"yes", 1}}));
  EXPECT_TRUE(finds({{"list", {1.0, {{"k", false}}}}}));
  EXPECT_TRUE(finds({{"missing", nullptr}}));
  EXPECT_FALSE(finds({{"one", "1"}}));
  EXPECT_FALSE(finds({{"list", {1}}}));
  EXPECT_FALSE(finds({{"none", 0}}));
}

TEST_P(CheckpointerSuite, AllThreadsCanBeListed) {
  put_chain(*saver_, "b", 2);
  put_chain(*saver_, "a", 1);
  EXPECT_EQ(render(list_checkpoints(*saver_, {})), "1 {\"n\":1}\n2 <1 {\"n\":2}\n1 {\"n\":1}\n");
  EXPECT_EQ(list_checkpoints(*saver_, {.limit = 2}).size(), 2U);
}

// ---- Two runs on one thread

TEST_P(CheckpointerSuite, APutThatExpectsTheHeadGoesThrough) {
  CheckpointPut first = make_put("t", 1, 0);
  first.expected_head = "";
  put(*saver_, first);
  CheckpointPut second = make_put("t", 2, 1);
  second.expected_head = test_id(1);
  put(*saver_, second);
  EXPECT_EQ(newest(*saver_, "t"), "2 <1 {}");
}

TEST_P(CheckpointerSuite, APutThatExpectsFewerWritesThanThereAreIsAConflict) {
  put(*saver_, make_put("t", 1, 0));
  put_writes(*saver_, "t", 1, {{"a", 7}, {"b", 8}}, "task");
  CheckpointPut next = make_put("t", 2, 1);
  next.expected_head = test_id(1);
  next.expected_writes = 1;
  EXPECT_THROW(put(*saver_, next), ThreadConflict);
  EXPECT_EQ(history(*saver_, "t"), "1 {} [task.a=7 task.b=8]\n");
  next.expected_writes = 2;
  put(*saver_, next);
  EXPECT_EQ(newest(*saver_, "t"), "2 <1 {}");
}

TEST_P(CheckpointerSuite, AWriteForTheHeadIsEmptyWhenThereIsANewerOne) {
  put_chain(*saver_, "t", 2);
  for (int checkpoint : {1, 2}) {
    const WritesPut writes{.key = {"t", "", test_id(checkpoint)},
                           .task_id = "task",
                           .writes = {{"a", 7, /*only_at_head=*/true}, {"b", 8}}};
    saver_->put_writes({&writes, 1});
  }
  EXPECT_EQ(history(*saver_, "t"),
            "2 <1 {\"n\":2} [task.a=7 task.b=8]\n1 {\"n\":1} [task.__no_writes__=null task.b=8]\n");
}

TEST_P(CheckpointerSuite, APutThatExpectsAnotherHeadIsAConflictAndStoresNothing) {
  put_chain(*saver_, "t", 2);
  CheckpointPut late = make_put("t", 3, 1, {{"n", "late"}});
  late.expected_head = test_id(1);
  try {
    put(*saver_, late);
    FAIL() << "expected a ThreadConflict";
  } catch (const ThreadConflict& conflict) {
    const std::string message = conflict.what();
    EXPECT_NE(message.find("'t'"), std::string::npos) << message;
    EXPECT_NE(message.find(test_id(1)), std::string::npos) << message;
    EXPECT_NE(message.find(test_id(2)), std::string::npos) << message;
  }
  EXPECT_EQ(history(*saver_, "t"), "2 <1 {\"n\":2}\n1 {\"n\":1}\n");

  CheckpointPut first = make_put("t", 4, 0);
  first.expected_head = "";
  EXPECT_THROW(put(*saver_, first), ThreadConflict);
  EXPECT_EQ(newest(*saver_, "t"), R"(2 <1 {"n":2})");
}

TEST_P(CheckpointerSuite, AConflictDoesNotKeepOtherRunsFromBeingStored) {
  put_chain(*saver_, "t", 2);
  CheckpointPut puts[] = {make_put("t", 3, 1), make_put("t", 4, 3), make_put("u", 1, 0)};
  puts[0].expected_head = test_id(1);
  puts[1].expected_head = test_id(3);
  puts[2].expected_head = "";
  EXPECT_THROW(saver_->put(puts), ThreadConflict);
  EXPECT_EQ(newest(*saver_, "t"), R"(2 <1 {"n":2})");
  EXPECT_EQ(newest(*saver_, "u"), "1 {}");
}

TEST_P(CheckpointerSuite, WhatFollowsAConflictInItsThreadIsNotStored) {
  put_chain(*saver_, "t", 1);
  CheckpointPut puts[] = {make_put("t", 2, 0), make_put("t", 3, 1)};
  puts[0].key.checkpoint_ns = "child";
  puts[0].expected_head = test_id(9);
  puts[1].expected_head = test_id(1);
  EXPECT_THROW(saver_->put(puts), ThreadConflict);
  EXPECT_EQ(newest(*saver_, "t"), R"(1 {"n":1})");
}

TEST_P(CheckpointerSuite, OfRunsThatRaceExactlyOneMovesTheThread) {
  constexpr int kRounds = 50;
  constexpr int kRunners = 4;
  put(*saver_, make_put("t", 1, 0));
  for (int round = 0; round < kRounds; ++round) {
    const std::string head = saver_->get_tuple({"t"})->checkpoint.id;
    std::atomic<int> winners = 0;
    std::vector<std::thread> runners;
    for (int i = 0; i < kRunners; ++i) {
      runners.emplace_back([&, i] {
        CheckpointPut next = make_put("t", 2 + round * kRunners + i, number_of(head));
        next.expected_head = head;
        try {
          put(*saver_, next);
          ++winners;
        } catch (const ThreadConflict&) {
        }
      });
    }
    for (std::thread& runner : runners) runner.join();
    ASSERT_EQ(winners, 1);
  }
  EXPECT_EQ(saver_->list("t", "", {}).size(), 1U + kRounds);
}

TEST_P(CheckpointerSuite, ThreadsMayBeWrittenAndReadAtOnce) {
  constexpr int kSteps = 40;
  std::vector<std::thread> runners;
  for (int i = 0; i < 4; ++i) {
    runners.emplace_back([this, i] {
      const std::string thread_id = "t" + std::to_string(i % 2);
      for (int step = 1; step <= kSteps; ++step) {
        const int n = 2 * step + i / 2;
        put(*saver_, make_put(thread_id, n, 0, {{"n", n}}));
        put_writes(*saver_, thread_id, n, {{"a", n}}, "task");
        saver_->list(thread_id, "", {.limit = 3});
        saver_->list_threads({});
      }
    });
  }
  for (std::thread& runner : runners) runner.join();
  for (const std::string thread_id : {"t0", "t1"}) {
    const auto tuples = saver_->list(thread_id, "", {});
    EXPECT_EQ(tuples.size(), 2U * kSteps);
    for (const CheckpointTuple& tuple : tuples) {
      const std::string n = std::to_string(number_of(tuple.checkpoint.id));
      EXPECT_EQ(render(tuple), n + " {\"n\":" + n + "} [task.a=" + n + "]");
    }
  }
}

// ---- Versions

TEST_P(CheckpointerSuite, VersionsIncrease) {
  Value version = saver_->next_version(nullptr);
  for (int i = 0; i < 20; ++i) {
    const Value next = saver_->next_version(version);
    EXPECT_EQ(next.kind(), version.kind());
    EXPECT_LT(version, next);
    version = next;
  }
}

}  // namespace clew

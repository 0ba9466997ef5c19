// Whatever is done to a file, by two savers and by SQL, it tells of its threads what a saver in
// memory tells to which the same is done: that one keeps everything as it is given.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include <clew/clew.hpp>
#include <clew/encrypted.hpp>
#include <clew/sqlite_saver.hpp>

#include "checkpointer_pieces.hpp"
#include "sql_file.hpp"
#include "temporary_folder.hpp"

namespace clew {
namespace {

const std::string kThreads[] = {"t", "u"};
const std::string kNamespaces[] = {"", "inside", "call:x"};
constexpr const char* kCopy = "copy";

// Ids are some apart, so that there is room for older ones.
constexpr int kApart = 10;

std::vector<std::string> told_of_threads(Checkpointer& saver) {
  std::vector<std::string> lines;
  for (const ThreadInfo& info : saver.list_threads({})) {
    lines.push_back(info.thread_id + " " + std::to_string(info.checkpoints) + " " +
                    info.checkpoint_id + " " + info.updated_at + " " + to_json(info.metadata) +
                    " " + std::string(Value(info.status).as_string()));
  }
  for (const char* thread_id : {"t", "u", kCopy}) {
    const ThreadSize size = saver.thread_size(thread_id);
    lines.push_back(std::to_string(size.checkpoints) + " with " + std::to_string(size.writes));
    for (const std::string& ns : kNamespaces) {
      for (const CheckpointTuple& tuple : saver.list(thread_id, ns, {})) {
        lines.push_back(std::string(thread_id) + " " + ns + " " + render(tuple));
      }
    }
  }
  return lines;
}

std::string first_difference(const std::vector<std::string>& told,
                             const std::vector<std::string>& expected) {
  const auto [a, b] = std::ranges::mismatch(told, expected);
  if (a == told.end() && b == expected.end()) return "";
  return "told: " + (a == told.end() ? "nothing" : *a) +
         "\nexpected: " + (b == expected.end() ? "nothing" : *b) + "\n";
}

class RandomHistory {
 public:
  RandomHistory(unsigned seed, std::shared_ptr<const Serializer> serializer)
      : random_(seed), serializer_(std::move(serializer)) {
    savers_[0] = open();
    savers_[1] = open();
  }

  // Does something; returns what.
  std::string act();

  // What the file tells otherwise than the saver in memory, or wrong.
  std::string mistakes() {
    const auto expected = told_of_threads(expected_);
    std::string found;
    for (const auto& saver : savers_) found += first_difference(told_of_threads(*saver), expected);
    for (const char* thread_id : {"t", "u", kCopy}) {
      for (const StoredProblem& problem : savers_[0]->verify(thread_id).problems) {
        if (problem.kind != StoredProblem::Kind::missing_parent) found += problem.what + "\n";
      }
    }
    return found;
  }

 private:
  // Everything that a checkpoint holds, by thread, namespace and id.
  using Held = std::map<std::string, Checkpoint>;

  std::shared_ptr<SqliteSaver> open() {
    return SqliteSaver::open((folder_.path / "threads.db").string(),
                             {.serializer = serializer_, .synchronous = SqliteSynchronous::off});
  }

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool one_in(int times) { return below(times) == 0; }

  CheckpointKey place() { return {kThreads[one_in(5)], kNamespaces[one_in(2) ? below(3) : 0]}; }

  std::string head_of(const CheckpointKey& place) {
    const auto head = expected_.get_tuple({place.thread_id, place.checkpoint_ns});
    return head ? head->checkpoint.id : "";
  }

  // Empty if there is none.
  std::string any_of(const CheckpointKey& place) {
    const auto all = expected_.list(place.thread_id, place.checkpoint_ns, {});
    return all.empty() ? "" : all[static_cast<std::size_t>(below(int(all.size())))].checkpoint.id;
  }

  static std::string name(const CheckpointKey& place, const std::string& id) {
    return place.thread_id + "/" + place.checkpoint_ns + "/" + id;
  }

  CheckpointPut checkpoint(const CheckpointKey& place, const std::string& parent,
                           const std::string& id);
  WritesPut writes(const CheckpointKey& place, const std::string& id, bool with_control,
                   const Value& shared);

  template <class Act>
  void do_to_both(const Act& act) {
    const auto error_of = [&](Checkpointer& saver) -> std::string {
      try {
        act(saver);
        return "";
      } catch (const Error& error) {
        return error.what();
      }
    };
    EXPECT_EQ(error_of(saver()), error_of(expected_));
  }

  SqliteSaver& saver() { return *savers_[one_in(6) ? 1 : 0]; }
  void put_both(const CheckpointPut& one) {
    do_to_both([&](Checkpointer& saver) { put(saver, one); });
  }

  std::string put_several();
  std::string put_older();
  std::string write();
  std::string remove();
  std::string look_after_the_file();

  std::mt19937 random_;
  std::shared_ptr<const Serializer> serializer_;
  TemporaryFolder folder_;
  std::shared_ptr<SqliteSaver> savers_[2];
  InMemorySaver expected_;
  Held held_;
  int last_id_ = 0;
  int last_version_ = 0;
  int last_task_ = 0;
};

// Some of the channels of its parent change, and a node waits to run or not.
CheckpointPut RandomHistory::checkpoint(const CheckpointKey& place, const std::string& parent,
                                        const std::string& id) {
  CheckpointPut made = make_put(place.thread_id, number_of(id), number_of(parent));
  made.key.checkpoint_ns = place.checkpoint_ns;
  made.checkpoint.ts =
      one_in(20) ? "2026-11-18 23:44:34+01:00"
                 : "2026-11-18T23:44:34." + std::to_string(100'000 + number_of(id)) + "+00:00";
  if (const auto before = held_.find(name(place, parent)); before != held_.end()) {
    made.checkpoint.channel_values = before->second.channel_values.erase("branch:to:next");
    made.checkpoint.channel_versions = before->second.channel_versions;
  }
  const auto change = [&](const char* channel) {
    const Value version(next_version(std::to_string(++last_version_), 0.5));
    made.checkpoint.channel_versions = made.checkpoint.channel_versions.set(channel, version);
    made.new_versions = made.new_versions.set(channel, version);
  };
  const auto set = [&](const char* channel, const Value& value) {
    made.checkpoint.channel_values = made.checkpoint.channel_values.set(channel, value);
    change(channel);
  };
  const Value shared(std::string(static_cast<std::size_t>(8 + below(50)), 's'));
  if (!one_in(6)) set("shared", shared);
  if (one_in(4)) set("text", std::string(static_cast<std::size_t>(one_in(8) ? 70'000 : 30), 'x'));
  if (one_in(2)) {
    const Value& log = made.checkpoint.channel_values["log"];
    set("log", (log.is_list() ? log : list()).append("line " + id));
  }
  if (!one_in(3)) {
    set("branch:to:next", nullptr);
  } else {
    change("branch:to:next");  // nothing waits there any more
  }
  held_[name(place, id)] = made.checkpoint;
  made.metadata = made.metadata.set("run_id", "run" + std::to_string(below(5)));
  if (!place.checkpoint_ns.empty()) {
    const Value root(head_of({place.thread_id}));
    made.metadata = made.metadata.set("parents", object({{"", root}}));
  }
  if (parent.empty() || one_in(4)) return made;
  for (int i = below(2); i >= 0; --i) {
    made.writes.push_back(
        writes(made.key, one_in(10) ? any_of(place) : parent, one_in(20), shared));
  }
  return made;
}

// What a new task wrote, or sometimes one that has written before.
WritesPut RandomHistory::writes(const CheckpointKey& place, const std::string& id,
                                bool with_control, const Value& shared) {
  WritesPut made;
  made.key = {place.thread_id, place.checkpoint_ns, id};
  made.task_id = one_in(8) ? "same" : "task" + std::to_string(++last_task_);
  made.node = "node";
  made.writes = {{"shared", shared},
                 {"text", std::string(static_cast<std::size_t>(below(60)), 'y')}};
  made.writes.resize(static_cast<std::size_t>(below(3)));
  const char* const control[] = {"__interrupt__", "__error__", "__resume__"};
  if (with_control || made.writes.empty()) made.writes.push_back({control[below(3)], last_task_});
  return made;
}

std::string RandomHistory::act() {
  const CheckpointKey here = place();
  const std::string next = test_id(last_id_ += kApart);
  switch (below(20)) {
    case 0: return put_several();
    case 1: return put_older();
    case 2: put_both(checkpoint(here, any_of(here), next)); return "a fork";
    case 3: {
      const std::string replaced = any_of(here);
      if (!replaced.empty()) put_both(checkpoint(here, "", replaced));
      return "a checkpoint again";
    }
    case 4:
    case 5:
    case 6: return write();
    case 7:
    case 8: return remove();
    case 9:
    case 10: return look_after_the_file();
    default: put_both(checkpoint(here, head_of(here), next)); return "a checkpoint";
  }
}

// One of them may be refused, and what is based on it.
std::string RandomHistory::put_several() {
  std::map<std::string, std::string> heads;
  std::vector<CheckpointPut> puts;
  for (int i = below(4); i >= 0; --i) {
    const CheckpointKey here = place();
    std::string& head = heads.try_emplace(name(here, ""), head_of(here)).first->second;
    const std::string id = test_id(last_id_ += kApart);
    puts.push_back(checkpoint(here, head, id));
    if (one_in(10)) {
      puts.back().expected_head = test_id(last_id_);
    } else {
      head = id;
    }
  }
  do_to_both([&](Checkpointer& saver) { saver.put(puts); });
  return "checkpoints";
}

std::string RandomHistory::put_older() {
  const CheckpointKey here = place();
  const int id = number_of(head_of(here)) - 1 - below(kApart - 1);
  if (id > 0) put_both(checkpoint(here, "", test_id(id)));
  return "an older checkpoint";
}

// Perhaps before their checkpoint.
std::string RandomHistory::write() {
  const CheckpointKey here = place();
  const std::string id = one_in(6)   ? test_id(last_id_ + kApart)
                         : one_in(3) ? any_of(here)
                                     : head_of(here);
  if (id.empty()) return "nothing";
  const WritesPut made = writes(here, id, one_in(3), "what was written");
  do_to_both([&](Checkpointer& saver) { saver.put_writes({&made, 1}); });
  return "writes";
}

std::string RandomHistory::remove() {
  const std::string& thread_id = kThreads[below(2)];
  switch (below(5)) {
    case 0: {
      const PruneOptions options{.keep = static_cast<std::size_t>(below(5)),
                                 .keep_branches = one_in(2)};
      do_to_both([&](Checkpointer& saver) { saver.prune(thread_id, options); });
      return "prune";
    }
    case 1: {
      std::vector<std::string> runs;
      for (int i = 0; i < 5; ++i) {
        if (one_in(2)) runs.push_back("run" + std::to_string(i));
      }
      do_to_both([&](Checkpointer& saver) { saver.delete_for_runs(runs); });
      return "delete_for_runs";
    }
    case 2:
      if (one_in(4)) do_to_both([&](Checkpointer& saver) { saver.delete_thread(thread_id); });
      return "delete_thread";
    default:
      do_to_both([&](Checkpointer& saver) { saver.delete_thread(kCopy); });
      do_to_both([&](Checkpointer& saver) { saver.copy_thread(thread_id, kCopy); });
      return "copy_thread";
  }
}

// What changes nothing that is told.
std::string RandomHistory::look_after_the_file() {
  const std::string path = (folder_.path / "threads.db").string();
  const std::string& thread_id = kThreads[below(2)];
  switch (below(7)) {
    case 0: savers_[below(2)] = open(); return "open";
    case 1: savers_[0]->recover_blobs(thread_id); return "recover_blobs";
    case 2: savers_[1]->repair(thread_id); return "repair";
    case 3: savers_[0]->size_after_prune(thread_id, {.keep = 1}); return "size_after_prune";
    case 4: savers_[1]->vacuum(); return "vacuum";
    case 5: execute_sql(path, "UPDATE threads SET gmt_modified = gmt_modified"); return "UPDATE";
    default:
      execute_sql(path,
                  "DELETE FROM clew_packed WHERE checkpoint_id = '" + any_of({thread_id}) + "'");
      return "unpack";
  }
}

void run(unsigned seeds, const std::shared_ptr<const Serializer>& serializer) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    RandomHistory history(seed, serializer);
    for (int n = 0; n < 60; ++n) {
      const std::string done = history.act();
      ASSERT_EQ(history.mistakes(), "") << "seed " << seed << ", after act " << n << ": " << done;
    }
  }
}

TEST(SqliteRandom, WhateverIsDoneTheFileTellsWhatItShould) {
  run(20, std::make_shared<JsonPlusSerializer>());
}

TEST(SqliteRandom, WhateverIsDoneAnEncryptedFileTellsWhatItShould) {
  run(20,
      std::make_shared<EncryptedSerializer>(std::make_shared<AesEaxCipher>(std::string(16, 'k'))));
}

}  // namespace
}  // namespace clew

// What the puts that one caller stores together share: the time, and the row of their thread.
// It is written once for all of a thread; or not at all while a node waits to run, whose
// checkpoint is to follow, which saves a page of each commit: see native_schema.cpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <clew/checkpointer.hpp>
#include <clew/serde.hpp>

#include "checkpoint/sqlite/known_heads.hpp"
#include "checkpoint/sqlite/thread_counts.hpp"

namespace clew::sqlite {

class PutBatch {
 public:
  PutBatch(std::string now, KnownHeads& heads) : now_(std::move(now)), heads_(heads) {}

  // As it stands in columns.
  const std::string& now() const { return now_; }

  // Before anything of a put is stored. `head` is the newest checkpoint of its namespace, without
  // an id if there is none; if `is_known`, head.uncounted is right.
  void begin(Connection& connection, const CheckpointPut& put, const KnownHead& head,
             bool is_known);

  // Before anything is stored that is not one row behind all others: it may change those that the
  // row of the thread leaves out. Afterwards that leaves out nothing.
  void count_all(Connection& connection);

  // What was stored of a put.
  struct Stored {
    const CheckpointPut& put;
    const TypedBytes& metadata;
    const ThreadCounts& counts;
    bool is_head = false;
    std::string_view status;  // of the thread, if it is the head
    bool can_wait = false;    // for its row to be written; the view tells as much meanwhile
  };
  // `put` and `metadata` must live until finish().
  void add(const Stored& stored);

  // Writes what has to be written.
  void finish(Connection& connection);

 private:
  ThreadCounts all() const;
  bool can_wait() const;
  void store_newest(Connection& connection) const;

  std::string now_;
  KnownHeads& heads_;

  // Of the thread of the last put.
  struct Thread {
    const CheckpointPut* last = nullptr;
    bool has_begun_root = false;
    ThreadCounts uncounted = {};  // left out of its row by earlier ones
    ThreadCounts counts = {};
    bool can_wait = true;
    const CheckpointPut* newest = nullptr;  // root checkpoint, if there was one
    const TypedBytes* metadata = nullptr;
    std::string_view status = {};
  } thread_;
};

}  // namespace clew::sqlite

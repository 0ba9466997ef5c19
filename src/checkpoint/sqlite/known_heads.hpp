// The newest checkpoints of the threads and namespaces that were stored last, so that the next
// ones need not look for them in the file.
//
// Only for changes, in the transaction that writes: there nobody else can move a head, and
// what own commits have left still holds (see own_commits.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <clew/checkpointer.hpp>

#include "checkpoint/sqlite/database.hpp"
#include "checkpoint/sqlite/place_cache.hpp"
#include "checkpoint/sqlite/thread_counts.hpp"

namespace clew::sqlite {

// A checkpoint that is the newest of its namespace, and was never replaced.
struct KnownHead {
  std::string checkpoint_id;
  // Whether no task has written in a row of its own, for it or for one to come.
  bool has_no_writes = false;
  // Of the root namespace: what the row of the thread leaves out.
  ThreadCounts uncounted = {};
};

class KnownHeads {
 public:
  explicit KnownHeads(const Database& database) : database_(database) {}

  // Nothing if it is not known.
  std::optional<KnownHead> find(const CheckpointKey& place) {
    const auto known = [this](const std::string& checkpoint_id, const Noted& noted) {
      if (!database_.holds(noted.in)) return std::optional<KnownHead>();
      return std::optional(KnownHead{checkpoint_id, noted.has_no_writes, noted.uncounted});
    };
    return heads_.look_at(place, known).value_or(std::nullopt);
  }

  // The transaction stores a new checkpoint as the head, which the row of the thread counts.
  void note(const CheckpointKey& place, std::string_view checkpoint_id, bool has_no_writes) {
    heads_.remember(place, checkpoint_id, {database_.transaction(), has_no_writes}, 0);
  }

  // The row of the thread leaves out the head, if it is known, and others before it.
  void note_uncounted(const CheckpointKey& place, const ThreadCounts& uncounted) {
    heads_.change_at(place, [&](Noted& noted) { noted.uncounted = uncounted; });
  }

  // The transaction stores something else there: writes, or a checkpoint that is not new.
  void forget(const CheckpointKey& place) { heads_.forget(place); }

 private:
  struct Noted {
    std::uint64_t in = 0;  // the transaction
    bool has_no_writes = false;
    ThreadCounts uncounted = {};
  };

  const Database& database_;
  PlaceCache<Noted> heads_{2 << 20};
};

}  // namespace clew::sqlite

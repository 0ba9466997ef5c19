// Which commits to a file are a Database's own. Between them nobody else has changed anything,
// so what was stored or read in that time is what the file holds, without looking there.
//
// Transactions that write are numbered. Whoever keeps something in memory notes the number of
// the transaction that stored it, or that was the last one when it was read, and forgets what
// a later one changes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "checkpoint/sqlite/connection.hpp"
#include "checkpoint/sqlite/file_state.hpp"

namespace clew::sqlite {

// The file is as it was at `last`, the newest number, and as it was from `first` on but for
// what own transactions have changed.
struct Era {
  std::uint64_t first = 1;
  std::uint64_t last = 0;

  bool contains(std::uint64_t transaction) const {
    return first <= transaction && transaction <= last;
  }
  friend bool operator==(const Era&, const Era&) = default;
};

class OwnCommits {
 public:
  // For the one that writes: after BEGIN IMMEDIATE, and after COMMIT.
  void begin(Connection& writer);
  void commit(const Connection& writer);
  // What was noted so far is not to be relied on: a transaction, or a part of one, was undone,
  // or has changed what nobody keeps track of.
  void forget();

  // In a transaction: its number, and whether what was noted in an earlier one still holds.
  // Nobody but the one that writes changes them.
  std::uint64_t current() const { return current_; }
  bool holds(std::uint64_t transaction) const { return era_.first <= transaction; }

  // The era that is now, from any thread. Nothing if somebody else has committed since, or if
  // that cannot be told. If it is equal before and after a look at the file, the look has
  // shown the file as era.last left it.
  std::optional<Era> era() const;

 private:
  bool is_ours(const std::optional<FileState>& state, bool has_written) const;

  std::uint64_t current_ = 0;
  std::optional<FileState> at_begin_;
  std::int64_t changes_at_begin_ = 0;

  mutable std::mutex mutex_;
  std::optional<FileWatch> watch_;  // from the first transaction on
  std::optional<FileState> left_;   // what the last commit left, if that is known
  Era era_;
};

}  // namespace clew::sqlite

#include "checkpoint/sqlite/own_commits.hpp"

#include <algorithm>

#include "checkpoint/sqlite/log_index.hpp"

namespace clew::sqlite {
namespace {

std::uint32_t commits(const FileState& state) { return state[kCommits]; }

}  // namespace

// Nobody else commits now.
void OwnCommits::begin(Connection& writer) {
  ++current_;
  changes_at_begin_ = writer.total_changes();
  const std::lock_guard lock(mutex_);
  if (!watch_) watch_.emplace(writer);
  at_begin_ = watch_->state();
  if (!at_begin_ || at_begin_ != left_) era_.first = current_;
}

void OwnCommits::commit(const Connection& writer) {
  const bool has_written = writer.total_changes() != changes_at_begin_;
  const std::lock_guard lock(mutex_);
  const std::optional<FileState> state = watch_->state();
  left_ = is_ours(state, has_written) ? state : std::nullopt;
  // What was noted before it was forgotten has numbers below that of what is there now.
  current_ = std::max(current_, era_.first);
  era_.last = current_;
}

// Somebody else may have committed as soon as we had. Of a transaction that counts no rows,
// it is not known whether it was a commit at all.
bool OwnCommits::is_ours(const std::optional<FileState>& state, bool has_written) const {
  if (!state || !at_begin_) return false;
  if (!has_written) return state == at_begin_;
  return commits(*state) == commits(*at_begin_) + 1;
}

void OwnCommits::forget() {
  const std::lock_guard lock(mutex_);
  era_.first = current_ + 1;
}

std::optional<Era> OwnCommits::era() const {
  const std::lock_guard lock(mutex_);
  if (!left_ || watch_->state() != left_) return std::nullopt;
  return era_;
}

}  // namespace clew::sqlite

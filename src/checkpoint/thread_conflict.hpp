// What savers say when a thread is not as the caller thinks.
#pragma once

#include <algorithm>
#include <exception>
#include <memory>
#include <string_view>
#include <vector>

#include <clew/checkpointer.hpp>
#include <clew/errors.hpp>

namespace clew::internal {

// Throws ThreadConflict unless `head`, the newest checkpoint of the namespace or
// empty, is what `put` expects it to be.
void expect_head(const CheckpointPut& put, std::string_view head);

// The same of the root, for what is to be removed.
void expect_head(std::string_view thread_id, const PruneOptions& options, std::string_view head);

// The same for `count`, the number of writes that are stored with that checkpoint.
void expect_writes(const CheckpointPut& put, std::size_t count);

// What is stored of writes that come too late, if that is not all of them; see
// ChannelWrite::only_at_head.
std::shared_ptr<const WritesPut> late_writes(const WritesPut& put);

// What becomes of puts that are stored together when some of them cannot be. Those that
// follow in the same thread build on what was refused, and are not stored either.
class RefusedPuts {
 public:
  // Calls `encode`. False if the put is refused.
  template <class Encode>
  bool encode(const CheckpointPut& put, const Encode& encode) {
    if (follows_refused(put)) return false;
    try {
      encode();
      return true;
    } catch (...) {
      return refuse(put);
    }
  }

  // Calls `store`, which may throw ThreadConflict before it has stored anything. False if
  // the put is refused.
  template <class Store>
  bool store(const CheckpointPut& put, const Store& store) {
    if (follows_refused(put)) return false;
    try {
      store();
      return true;
    } catch (const ThreadConflict&) {
      return refuse(put);
    }
  }

  // Throws the first reason, if there was one.
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  bool follows_refused(const CheckpointPut& put) const {
    return std::ranges::find(threads_, put.key.thread_id) != threads_.end();
  }
  bool refuse(const CheckpointPut& put) {
    threads_.push_back(put.key.thread_id);
    if (!first_) first_ = std::current_exception();
    return false;
  }

  std::vector<std::string_view> threads_;
  std::exception_ptr first_;
};

// Throws ValueError: the thread to copy to is there already.
[[noreturn]] void refuse_copy(std::string_view source, std::string_view target);

}  // namespace clew::internal

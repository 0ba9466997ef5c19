#include "checkpoint/thread_conflict.hpp"

#include <string>

#include <clew/errors.hpp>

namespace clew::internal {

namespace {

std::string named(std::string_view checkpoint_id) {
  return checkpoint_id.empty() ? "no checkpoint" : "checkpoint " + std::string(checkpoint_id);
}

}  // namespace

void expect_head(const CheckpointPut& put, std::string_view head) {
  if (!put.expected_head || *put.expected_head == head) return;
  throw ThreadConflict("thread '" + put.key.thread_id + "' is at " + named(head) + ", but " +
                       named(put.checkpoint.id) + " follows " + named(*put.expected_head) +
                       ": another run moved the thread; read its state again and retry");
}

void expect_head(std::string_view thread_id, const PruneOptions& options, std::string_view head) {
  if (!options.expected_head || *options.expected_head == head) return;
  throw ThreadConflict("thread '" + std::string(thread_id) + "' is at " + named(head) +
                       ", not at " + named(*options.expected_head) +
                       ": a run moved the thread, of which nothing was removed");
}

void expect_writes(const CheckpointPut& put, std::size_t count) {
  if (!put.expected_writes || *put.expected_writes == count) return;
  throw ThreadConflict("another run is at work on " + named(put.key.checkpoint_id) +
                       " of thread '" + put.key.thread_id + "', which " + named(put.checkpoint.id) +
                       " follows; read its state again and retry");
}

std::shared_ptr<const WritesPut> late_writes(const WritesPut& put) {
  if (std::ranges::none_of(put.writes, &ChannelWrite::only_at_head)) return nullptr;
  auto late = std::make_shared<WritesPut>(put);
  for (ChannelWrite& write : late->writes) {
    if (write.only_at_head) write = {"__no_writes__", {}};
  }
  return late;
}

void refuse_copy(std::string_view source, std::string_view target) {
  throw ValueError("cannot copy thread '" + std::string(source) + "' to '" + std::string(target) +
                   "', which exists; delete it first or take another id");
}

}  // namespace clew::internal

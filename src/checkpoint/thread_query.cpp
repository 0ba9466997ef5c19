#include "checkpoint/thread_query.hpp"

#include <clew/time.hpp>

#include "value/python_equal.hpp"

namespace clew::internal {

bool matches_metadata(const Value& metadata, const Value& filter) {
  if (!filter.is_object()) return true;
  for (auto [key, value] : filter.items()) {
    if (!python_equal(metadata[key], value)) return false;
  }
  return true;
}

bool matches(const ThreadInfo& thread, const ThreadQuery& query) {
  if (query.status && thread.status != *query.status) return false;
  if (query.updated_before && thread.updated_at >= format_time(*query.updated_before)) return false;
  return matches_metadata(thread.metadata, query.filter);
}

ThreadStatus status_of(const std::vector<PendingWrite>& writes) {
  ThreadStatus status = ThreadStatus::idle;
  for (const PendingWrite& write : writes) {
    if (write.channel == "__interrupt__") return ThreadStatus::interrupted;
    if (write.channel == "__error__") status = ThreadStatus::error;
  }
  return status;
}

}  // namespace clew::internal

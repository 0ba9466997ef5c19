// What the calls that list checkpoints and threads ask for.
#pragma once

#include <vector>

#include <clew/checkpointer.hpp>

namespace clew::internal {

// Whether the metadata has all entries of `filter`, as ListOptions says.
bool matches_metadata(const Value& metadata, const Value& filter);

// Whether the query asks for the thread; its paging is for the caller.
bool matches(const ThreadInfo& thread, const ThreadQuery& query);

// What the writes of a thread's newest root checkpoint say of it.
ThreadStatus status_of(const std::vector<PendingWrite>& writes);

}  // namespace clew::internal

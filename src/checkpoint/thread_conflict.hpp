// What savers say when a thread is not as the caller thinks.
#pragma once

#include <string_view>

#include <clew/checkpointer.hpp>

namespace clew::internal {

// Throws ThreadConflict unless `head`, the newest checkpoint of the namespace or
// empty, is what `put` expects it to be.
void expect_head(const CheckpointPut& put, std::string_view head);

// Throws ValueError: the thread to copy to is there already.
[[noreturn]] void refuse_copy(std::string_view source, std::string_view target);

}  // namespace clew::internal

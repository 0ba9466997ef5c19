#pragma once

#include "graphs.hpp"

namespace clew::fault {

// In both layouts, syncing fully. Every operation goes wrong: in each way, or with a `stride`
// above 1 in one of so many. Throws Error where a promise is broken.
void test_faulty_disk(Shape shape, std::size_t stride);

}  // namespace clew::fault

#pragma once

#include "graphs.hpp"

namespace clew::fault {

// In both layouts, syncing fully. Throws Error where a promise is broken.
void test_faulty_disk(Shape shape);

}  // namespace clew::fault

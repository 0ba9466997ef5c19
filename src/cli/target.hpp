// The database that threads are brought to.
#pragma once

#include "cli/database.hpp"

namespace clew::cli {

// --layout and --skip-existing.
std::vector<Flag> target_flags();

// Made if it is not there. A file that is there keeps its layout; throws Error if
// --layout asks for another one.
Database open_target(const std::string& name, const Arguments& arguments);

}  // namespace clew::cli

// What a command asks before it removes something.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace clew::cli {

// --dry-run and --yes.
std::vector<Flag> confirm_flags();

// Whether to go on: --yes, or the answer to `question`. Throws Error if neither can be had.
bool confirm(const std::string& question, const Arguments& arguments, Console& console);

}  // namespace clew::cli

// Lengths of time on the command line.
#pragma once

#include <chrono>
#include <string>

namespace clew::cli {

// "90s", "15m", "12h", "30d", "8w". Throws Error for anything else.
std::chrono::seconds duration_of(const std::string& text);

}  // namespace clew::cli

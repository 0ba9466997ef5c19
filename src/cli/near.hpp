// Names that somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clew::cli {

// Those that differ from `text` by a few characters or have it in them, the nearest
// first, at most three.
std::vector<std::string> near_names(std::string_view text, const std::vector<std::string>& names);

// "; did you mean 'a', 'b' or 'c'?", or nothing if no name is near.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace clew::cli

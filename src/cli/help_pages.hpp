// What is generated from the commands: completion for shells, and the manual page.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace clew::cli {

// A script that bash, or zsh, sources.
std::string bash_completion(const std::vector<Command>& commands);
std::string zsh_completion(const std::vector<Command>& commands);

// The page clew(1), for man.
std::string manual_page(const std::vector<Command>& commands, const std::string& version);

}  // namespace clew::cli

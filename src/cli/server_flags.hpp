// What `clew dev` and `clew serve` have in common.
#pragma once

#include "cli/command.hpp"

namespace clew::cli {

// --config, --host, --port, --data, --workers.
std::vector<Flag> server_flags(int default_port);

// The options that the flags say, with the lines that a ready server prints on
// the console. Throws Error for a port that is none, and if there is no
// configuration.
ServerOptions server_options(const Arguments& arguments, Console& console);

}  // namespace clew::cli

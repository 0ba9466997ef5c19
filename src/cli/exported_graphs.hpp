// Which graphs a library has.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace clew::cli {

// The names that CLEW_GRAPH exports in a library, sorted: read from its table of
// symbols, nothing of it is run. None if the file is no ELF library of 64 bits.
std::vector<std::string> exported_graphs(const std::filesystem::path& library);

}  // namespace clew::cli

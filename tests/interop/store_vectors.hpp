// Recorded scripts of LangGraph's stores.
#pragma once

#include <filesystem>
#include <string>

#include "report.hpp"

namespace clew::interop {

// One case for each step of each script that was recorded for `backend`: memory
// or sqlite. Where Clew means to do better than the recorded store, its answer
// must be that of another recorded one; the table in the source says where.
// Files of a store are kept in `folder` if one is given.
void run_store(const Value& vectors, const std::string& backend,
               const std::filesystem::path& folder, Report& report);

}  // namespace clew::interop

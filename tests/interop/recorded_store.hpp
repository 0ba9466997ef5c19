// A store's file that LangGraph wrote, and what it must show.
#pragma once

#include <filesystem>

#include "report.hpp"

namespace clew::interop {

// Cases: all rows, the items, the namespaces and every query that were recorded.
// Of what a query finds only the ranked part was.
void run_store_database(const std::filesystem::path& file, const Value& expected, Report& report);

}  // namespace clew::interop

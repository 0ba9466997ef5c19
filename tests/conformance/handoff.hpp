// A part of a scenario on a database that another engine left and that yet
// another may take over.
//
//   clew-conformance run FILE [--from I] [--to J|end] --saver sqlite:PATH --carry CARRY.json
//
// Performs the actions from I to before J and compares each; after the last one
// also what is in the database. CARRY.json holds what the database does not: it
// is read unless I is 0, and written in the end. Prints a line for each failure
// and closes with "N passed, N failed".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clew::conformance {

inline constexpr std::string_view kHandoffUsage =
    "       clew-conformance run FILE [--from I] [--to J|end] --saver sqlite:PATH\n"
    "                        --carry CARRY.json\n";

// The exit code: 0 if all passed, 1 if one failed. Throws UsageError or
// ScenarioError if the call itself was wrong.
int run_part(const std::vector<std::string>& arguments);

}  // namespace clew::conformance

// What stands in the columns of tables, whoever writes them.
#pragma once

#include <string>
#include <string_view>

#include <clew/value.hpp>

namespace clew::internal {

// What the column checkpoint_ns_hash says of a namespace: its MD5, in hexadecimal.
std::string namespace_hash(std::string_view checkpoint_ns);

// "2026-11-15T21:02:24.958852+00:00" as "2026-11-15 21:02:24.958852".
std::string table_time(std::string ts);

// Versions are texts, also if another program counts in numbers.
Value version_text(const Value& version);

}  // namespace clew::internal

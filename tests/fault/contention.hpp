#pragma once

#include <clew/sqlite_saver.hpp>

namespace clew::fault {

// Two processes make a new file and call on one thread of it as often as they can; that
// `files` times, with `calls` in all. Throws Error if one of them lost something that it was
// told was done, or if they never met.
void test_contention(SqliteLayout layout, std::size_t calls, std::size_t files);

}  // namespace clew::fault

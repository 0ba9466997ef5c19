// A database that LangGraph wrote, and what it must show.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <clew/sqlite_saver.hpp>

#include "report.hpp"
#include "temporary_folder.hpp"

namespace clew::interop {

// A copy of the file to look at and to go on with: opening a database changes it.
class DatabaseCopy {
 public:
  explicit DatabaseCopy(const std::filesystem::path& file);

  // Some threads of a file may be encrypted; an empty key is for the others.
  std::shared_ptr<SqliteSaver> open(const std::string& key) const;

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_;
};

// The key of a thread of `expected`, or none.
std::string key_of(const Value& expected, const Value& thread);

// As LangGraph's values are recorded: canonical, with the members of sets sorted.
Value recorded_form(const Value& value);

// One case for each thread: all its checkpoints, and the values and metadata of
// its history. `expected` is what was recorded beside the file.
void run_database(const std::filesystem::path& file, const Value& expected, Report& report);

}  // namespace clew::interop

// clew vacuum: gives the space of what was deleted back.
#include <filesystem>
#include <functional>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/table.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

// With its log, which holds what is not in the file yet.
std::uint64_t size_of(const std::string& path) {
  std::error_code absent;
  const std::uint64_t log = fs::file_size(path + "-wal", absent);
  return fs::file_size(path) + (absent ? 0 : log);
}

int vacuum(Database& database, const Arguments& arguments, Console& console) {
  // What opening adds to a file is no part of it.
  const std::function<void()> give_back =
      database.has_threads()
          ? std::function<void()>([&saver = database.saver()] { saver.vacuum(); })
          : std::function<void()>([&store = database.store()] { store.vacuum(); });
  const std::uint64_t before = size_of(database.path());
  give_back();
  const std::uint64_t after = size_of(database.path());
  if (arguments.is_on("json")) {
    print_json(console, object({{"before", before}, {"after", after}}));
  } else {
    console.out << database.path() << ": " << bytes_text(before) << " before, " << bytes_text(after)
                << " now\n";
  }
  return 0;
}

}  // namespace

Command vacuum_command() {
  Command command;
  command.name = "vacuum";
  command.help = "Give the space of what was deleted back to the file system";
  command.positionals = {{"database", "The database, instead of --db", Positional::Form::optional}};
  return database_command(std::move(command), vacuum);
}

}  // namespace clew::cli

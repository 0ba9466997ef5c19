// clew import: threads that clew export wrote.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>

#include <clew/errors.hpp>
#include <clew/thread_care.hpp>

#include "cli/commands.hpp"
#include "cli/export_format.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/removal.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::string& name) {
  if (!fs::exists(name)) throw Error("there is no file '" + name + "'");
  if (!fs::is_directory(name)) return {name};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(name)) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with("dt=")) {
      throw Error("'" + name +
                  "' is an export by day, for other programs; one that can be imported is made"
                  " without --by-day");
    }
    if (file.ends_with(".jsonl")) files.push_back(entry.path());
  }
  if (files.empty()) throw Error("there is no file *.jsonl in '" + name + "'");
  std::sort(files.begin(), files.end());
  return files;
}

std::ifstream open_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error("the file '" + file.string() + "' cannot be read");
  return in;
}

// How many threads there are. Throws Error if one of them exists, before anything is imported.
std::size_t check(const std::vector<fs::path>& files, SqliteSaver& saver, bool skips_existing) {
  std::size_t threads = 0;
  for (const fs::path& file : files) {
    std::ifstream in = open_file(file);
    ExportReader reader(in, file.string());
    for (; const auto id = reader.skip(); ++threads) {
      if (skips_existing || saver.thread_size(*id).checkpoints == 0) continue;
      throw Error("there is a thread '" + *id +
                  "' already; delete it first, or say --skip-existing");
    }
  }
  return threads;
}

struct Imported {
  std::size_t asked = 0;
  std::size_t threads = 0;
  std::size_t skipped = 0;
  std::size_t checkpoints = 0;

  std::size_t done() const { return threads + skipped; }
};

void import_file(const fs::path& file, SqliteSaver& saver, bool skips_existing, Console& console,
                 Progress& progress, Imported& imported) {
  std::ifstream in = open_file(file);
  ExportReader reader(in, file.string());
  while (!console.stop.stop_requested()) {
    auto thread = reader.next();
    if (!thread) return;
    const std::size_t checkpoints = thread->checkpoints.size();
    if (restore_thread(saver, thread->thread_id, std::move(thread->checkpoints), skips_existing)) {
      ++imported.threads;
      imported.checkpoints += checkpoints;
    } else {
      ++imported.skipped;
    }
    progress.set(imported.done());
  }
}

void print(const Imported& imported, bool is_json, Console& console) {
  if (is_json) {
    print_json(console, object({{"complete", imported.done() == imported.asked},
                                {"threads", imported.threads},
                                {"skipped", imported.skipped},
                                {"checkpoints", imported.checkpoints}}));
    return;
  }
  console.out << "Imported " << counted(imported.threads, "thread") << ", "
              << counted(imported.checkpoints, "checkpoint") << ".\n";
  if (imported.skipped > 0) {
    console.out << counted(imported.skipped, "thread") << (imported.skipped == 1 ? " was" : " were")
                << " there already.\n";
  }
}

int import_threads(const Arguments& arguments, Console& console) {
  apply_color(arguments, console);
  const std::vector<fs::path> files = files_of(arguments.text("path"));
  const Interrupt interrupt(console);
  Database database = open_target(arguments.text("db"), arguments);
  const bool skips_existing = arguments.is_on("skip-existing");
  Imported imported{.asked = check(files, database.saver(), skips_existing)};
  try {
    Progress progress(console, "import", "threads", imported.asked);
    for (const fs::path& file : files) {
      import_file(file, database.saver(), skips_existing, console, progress, imported);
    }
  } catch (const Error& error) {
    throw Error(std::string(error.what()) + " (nothing of this thread was imported; before it " +
                counted(imported.threads, "thread") + ")");
  }
  print(imported, arguments.is_on("json"), console);
  if (imported.done() == imported.asked) return 0;
  console.error << "stopped after " << counted(imported.done(), "thread") << " of "
                << count_text(imported.asked)
                << "; all of these are complete. To go on: the same command with --skip-existing\n";
  return Interrupt::kStatus;
}

}  // namespace

Command import_command() {
  Command command;
  command.name = "import";
  command.help = "Read threads that clew export wrote into a database";
  command.positionals = {{"path", "The file, or a folder of files"}};
  command.flags = target_flags();
  Flag database = database_flag();
  database.help += "; it is made if it is not there";
  command.flags.push_back(std::move(database));
  for (Flag& flag : output_flags()) command.flags.push_back(std::move(flag));
  command.run = import_threads;
  return command;
}

}  // namespace clew::cli

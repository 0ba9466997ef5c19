// clew prune: removes checkpoints that nobody needs to continue their threads.
#include <ostream>
#include <set>

#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/confirm.hpp"
#include "cli/database.hpp"
#include "cli/duration.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/removal.hpp"

namespace clew::cli {
namespace {

PruneOptions options_of(const Arguments& arguments) {
  PruneOptions options;
  options.keep = static_cast<std::size_t>(arguments.number("keep"));
  if (options.keep == 0) {
    throw Error("--keep 0 would leave nothing of a thread; `clew delete` removes threads");
  }
  if (arguments.has("older-than")) {
    options.older_than =
        std::chrono::system_clock::now() - duration_of(arguments.text("older-than"));
  }
  options.keep_branches = !arguments.is_on("no-keep-branches");
  return options;
}

std::set<std::string> threads_of(const Arguments& arguments, Database& database) {
  const std::vector<std::string>& texts = arguments.texts("thread");
  if (arguments.is_on("all") == !texts.empty()) {
    throw Error("name the threads to prune, or say --all for those of the whole database");
  }
  std::set<std::string> ids;
  for (const std::string& text : texts) ids.insert(database.exact_thread(text));
  if (texts.empty()) {
    for (const ThreadInfo& thread : database.saver().list_threads({})) ids.insert(thread.thread_id);
  }
  return ids;
}

// Those of `ids` that have something to lose. Nothing if it was interrupted.
std::vector<Removal> removals_of(const std::set<std::string>& ids, const PruneOptions& options,
                                 SqliteSaver& saver, Console& console) {
  Progress progress(console, "look at", "threads", ids.size());
  std::vector<Removal> removals;
  std::size_t done = 0;
  for (const std::string& id : ids) {
    if (console.stop.stop_requested()) return {};
    const ThreadSize before = saver.thread_size(id);
    if (before.checkpoints > options.keep) {
      Removal removal{id, before, saver.size_after_prune(id, options)};
      if (!removal.is_empty()) removals.push_back(std::move(removal));
    }
    progress.set(++done);
  }
  return removals;
}

// Keeps in `removals` what was done.
void prune(std::vector<Removal>& removals, const PruneOptions& options, SqliteSaver& saver,
           Console& console) {
  Progress progress(console, "prune", "threads", removals.size());
  std::size_t done = 0;
  for (Removal& removal : removals) {
    if (console.stop.stop_requested()) break;
    saver.prune(removal.thread_id, options);
    removal.after = saver.thread_size(removal.thread_id);
    progress.set(++done);
  }
  removals.resize(done);
}

void print(const std::vector<Removal>& removals, std::size_t threads, const std::string& verb,
           Console& console) {
  if (removals.empty()) {
    console.out << "Nothing to prune in " << counted(threads, "thread") << ".\n";
  } else {
    console.out << verb << sum_text(removals) << ".\n";
  }
}

int prune_threads(Database& database, const Arguments& arguments, Console& console) {
  const PruneOptions options = options_of(arguments);
  const std::set<std::string> ids = threads_of(arguments, database);
  const bool is_dry_run = arguments.is_on("dry-run");
  const bool is_json = arguments.is_on("json");
  std::size_t asked = 0;
  std::vector<Removal> removals;
  {
    const Interrupt interrupt(console);
    removals = removals_of(ids, options, database.saver(), console);
    if (console.stop.stop_requested()) return Interrupt::kStatus;
    asked = removals.size();
  }
  if (!is_json && asked > 0) print_removals(removals, console);
  if (!is_dry_run && asked > 0) {
    if (!confirm("Remove from " + sum_text(removals) + "?", arguments, console)) {
      console.out << "Nothing was removed.\n";
      return 1;
    }
    const Interrupt interrupt(console);
    prune(removals, options, database.saver(), console);
  }
  if (is_json) {
    print_json(console, to_value(removals, is_dry_run));
  } else {
    print(removals, ids.size(), is_dry_run ? "Would remove from " : "Removed from ", console);
  }
  if (removals.size() == asked) return 0;
  console.error << "stopped; the same command again prunes the others\n";
  return Interrupt::kStatus;
}

}  // namespace

Command prune_command() {
  Command command;
  command.name = "prune";
  command.help = "Remove the history of threads, which can be continued all the same";
  command.positionals = {{"thread", "The ids of the threads", Positional::Form::repeated}};
  command.flags = {
      {"all", "All threads of the database", Flag::Form::toggle},
      {"keep", "How many of the newest checkpoints stay", Flag::Form::number, "1", "COUNT"},
      {"older-than", "Also keep what is not older than this, as 12h, 30d or 8w", Flag::Form::text,
       "", "TIME"},
      {"no-keep-branches", "Also remove where other branches of a thread end", Flag::Form::toggle},
  };
  for (Flag& flag : confirm_flags()) command.flags.push_back(std::move(flag));
  return database_command(std::move(command), prune_threads);
}

}  // namespace clew::cli

// clew copy: threads, or all of a database, to another one.
#include <filesystem>
#include <ostream>

#include <clew/errors.hpp>
#include <clew/thread_care.hpp>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/removal.hpp"
#include "cli/table.hpp"
#include "cli/target.hpp"

namespace clew::cli {
namespace {

struct Copied {
  CopyProgress threads = {};
  std::size_t asked = 0;
  std::optional<std::size_t> items = {};

  bool is_complete() const { return threads.threads + threads.skipped == asked; }
};

bool are_same(const Database& a, const Database& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a.path(), b.path(), ignored);
}

void copy_inside(Database& database, const std::vector<std::string>& ids, const std::string& as) {
  if (ids.size() != 1 || as.empty()) {
    throw Error("a copy in the same database needs one thread and another id: say --as NEW_ID");
  }
  database.saver().copy_thread(ids.front(), as);
}

CopyProgress copy_between(Database& from, Database& to, const std::vector<std::string>& ids,
                          const Arguments& arguments, Console& console) {
  if (ids.empty()) return {};
  Progress progress(console, "copy", "threads", ids.size());
  progress.set(0);
  CopyOptions options;
  options.thread_ids = ids;
  options.as = arguments.text("as");
  options.skips_existing = arguments.is_on("skip-existing");
  options.stop = console.stop;
  options.progress = [&](const CopyProgress& done) { progress.set(done.threads + done.skipped); };
  return copy_threads(from.saver(), to.saver(), options);
}

void print(const Copied& copied, Console& console) {
  const auto& [threads, asked, items] = copied;
  if (asked > 0) {
    console.out << "Copied " << counted(threads.threads, "thread") << ": "
                << counted(threads.checkpoints, "checkpoint") << " and "
                << counted(threads.writes, "write") << ", all like the originals.\n";
  }
  if (threads.skipped > 0) {
    console.out << counted(threads.skipped, "thread") << (threads.skipped == 1 ? " was" : " were")
                << " there already.\n";
  }
  if (items) console.out << "Copied " << counted(*items, "item") << " of the memory store.\n";
}

Value to_value(const Copied& copied) {
  const auto& [threads, asked, items] = copied;
  return object({{"complete", copied.is_complete()},
                 {"threads", threads.threads},
                 {"skipped", threads.skipped},
                 {"checkpoints", threads.checkpoints},
                 {"writes", threads.writes},
                 {"store_items", items ? Value(*items) : Value()}});
}

int copy(Database& from, const Arguments& arguments, Console& console) {
  const bool with_store = arguments.is_on("store");
  if (with_store) from.store();  // is there one?
  const bool has_ids = !with_store || from.has_threads() || !arguments.texts("thread").empty();
  const std::vector<std::string> ids =
      has_ids ? from.threads(arguments.texts("thread")) : std::vector<std::string>();
  if (arguments.has("as") && ids.size() != 1) throw Error("--as is for a single thread");
  if (!arguments.has("to") && !arguments.has("as")) {
    throw Error("where to? Say --to DATABASE, or --as NEW_ID for a copy in the same one");
  }
  const Interrupt interrupt(console);
  Database to = arguments.has("to") ? open_target(arguments.text("to"), arguments)
                                    : Database::open(from.path());
  Copied copied{.asked = ids.size()};
  if (are_same(from, to)) {
    copy_inside(from, ids, arguments.text("as"));
    const ThreadSize size = from.saver().thread_size(arguments.text("as"));
    copied.threads = {1, 0, size.checkpoints, size.writes};
  } else {
    copied.threads = copy_between(from, to, ids, arguments, console);
    if (with_store && copied.is_complete())
      copied.items = to.store_or_make().copy_items(from.path());
  }
  if (arguments.is_on("json")) {
    print_json(console, to_value(copied));
  } else {
    print(copied, console);
  }
  if (copied.is_complete()) return 0;
  console.error << "stopped after "
                << counted(copied.threads.threads + copied.threads.skipped, "thread") << " of "
                << count_text(copied.asked)
                << "; all of these are complete. To go on: the same command with --skip-existing\n";
  return Interrupt::kStatus;
}

}  // namespace

Command copy_command() {
  Command command;
  command.name = "copy";
  command.help = "Copy threads, or all of a database, to another one, and compare them";
  command.positionals = {
      {"thread", "The threads; all if none is named", Positional::Form::repeated}};
  command.flags = {
      {"to", "The database to copy to; it is made if it is not there", Flag::Form::text, "",
       "DATABASE"},
      {"as", "What a single thread is called there", Flag::Form::text, "", "NEW_ID"},
      {"store", "Also copy the items of the memory store", Flag::Form::toggle},
  };
  for (Flag& flag : target_flags()) command.flags.push_back(std::move(flag));
  return database_command(std::move(command), copy);
}

}  // namespace clew::cli

// clew delete: removes threads with all that belongs to them.
#include <ostream>
#include <set>

#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/confirm.hpp"
#include "cli/database.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/removal.hpp"
#include "cli/server_records.hpp"

namespace clew::cli {
namespace {

// A thread that a server knows may have no checkpoints yet.
std::string find_thread(const std::string& text, Database& database, ServerRecords* records) {
  return records && records->has(text) ? text : database.exact_thread(text);
}

std::vector<Removal> removals_of(const std::vector<std::string>& texts, Database& database,
                                 ServerRecords* records) {
  std::vector<Removal> removals;
  std::set<std::string> seen;
  for (const std::string& text : texts) {
    Removal removal{find_thread(text, database, records), {}};
    if (!seen.insert(removal.thread_id).second) continue;
    removal.before = database.saver().thread_size(removal.thread_id);
    if (records) {
      removal.has_record = records->has(removal.thread_id);
      removal.runs = records->runs(removal.thread_id);
    }
    removals.push_back(std::move(removal));
  }
  return removals;
}

// The record first, as the server does: a record without checkpoints would be shown.
void remove(std::vector<Removal>& removals, Database& database, ServerRecords* records,
            Console& console) {
  const Interrupt interrupt(console);
  Progress progress(console, "delete", "threads", removals.size());
  std::size_t done = 0;
  for (const Removal& removal : removals) {
    if (console.stop.stop_requested()) break;
    if (removal.has_record) records->erase(removal.thread_id);
    database.saver().delete_thread(removal.thread_id);
    progress.set(++done);
  }
  removals.resize(done);
}

int delete_threads(Database& database, const Arguments& arguments, Console& console) {
  const std::vector<std::string>& texts = arguments.texts("thread");
  if (texts.empty()) throw Error("name the threads to delete; `clew threads` lists them");
  const std::unique_ptr<ServerRecords> records = ServerRecords::open(database);
  std::vector<Removal> removals = removals_of(texts, database, records.get());
  const std::size_t asked = removals.size();
  const bool is_dry_run = arguments.is_on("dry-run");
  const bool is_json = arguments.is_on("json");
  if (!is_json) print_removals(removals, console);
  if (!is_dry_run) {
    if (!confirm("Delete " + sum_text(removals) + "?", arguments, console)) {
      console.out << "Nothing was deleted.\n";
      return 1;
    }
    remove(removals, database, records.get(), console);
  }
  if (is_json) {
    print_json(console, to_value(removals, is_dry_run));
  } else {
    console.out << (is_dry_run ? "Would delete " : "Deleted ") << sum_text(removals) << ".\n";
  }
  if (removals.size() == asked) return 0;
  console.error << "stopped; the same command again deletes the others\n";
  return Interrupt::kStatus;
}

}  // namespace

Command delete_command() {
  Command command;
  command.name = "delete";
  command.help = "Remove threads with all that belongs to them";
  command.positionals = {{"thread", "The ids of the threads", Positional::Form::repeated}};
  command.flags = confirm_flags();
  return database_command(std::move(command), delete_threads);
}

}  // namespace clew::cli

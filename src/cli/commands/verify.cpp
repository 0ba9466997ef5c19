// clew verify: looks for damage, and repairs it.
#include <algorithm>
#include <ostream>

#include <clew/errors.hpp>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/removal.hpp"
#include "cli/table.hpp"

namespace clew::cli {
namespace {

// What was found in all, and what was done about it.
struct Findings {
  std::vector<std::string> file_problems = {};  // as SQLite tells them
  VerifyReport all = {};
  std::size_t threads = 0;  // that were looked at
  std::size_t asked = 0;
  RepairReport repaired = {};

  bool is_complete() const { return threads == asked; }
};

std::vector<std::string> threads_of(Database& database, const Arguments& arguments) {
  const std::vector<std::string>& texts = arguments.texts("thread");
  return texts.empty() ? database.saver().stored_threads() : database.threads(texts);
}

// Of all threads, which is enough for a bar.
std::size_t count_rows(Database& database) {
  const bool is_native = database.saver().layout() == SqliteLayout::native;
  const Value rows = database.saver().query(
      is_native ? "SELECT (SELECT count(*) FROM checkpoints) + (SELECT count(*) FROM"
                  " checkpoint_blobs) + (SELECT count(*) FROM checkpoint_writes) AS count"
                : "SELECT (SELECT count(*) FROM checkpoints) + (SELECT count(*) FROM writes)"
                  " AS count");
  return static_cast<std::size_t>(rows[0]["count"].as_int());
}

// What is encrypted cannot be told from what is damaged without the key.
void check_has_key(Database& database, const std::vector<std::string>& ids) {
  if (database.cipher()) return;
  for (const std::string& id : ids) {
    if (!database.is_encrypted(id)) continue;
    throw Error("thread '" + id + "' is encrypted: set LANGGRAPH_AES_KEY to the key");
  }
}

void verify_threads(Database& database, const std::vector<std::string>& ids, bool repairs,
                    Console& console, Findings& findings) {
  Progress progress(console, "verify", "rows", count_rows(database));
  std::size_t rows = 0;
  VerifyOptions options;
  options.stop = console.stop;
  options.progress = [&](std::size_t of_thread) { progress.set(rows + of_thread); };
  for (const std::string& id : ids) {
    VerifyReport report = database.saver().verify(id, options);
    if (!report.is_complete) return;
    ++findings.threads;
    findings.all.checkpoints += report.checkpoints;
    findings.all.values += report.values;
    findings.all.writes += report.writes;
    rows += report.checkpoints + report.values + report.writes;
    progress.set(rows);
    if (repairs && !report.problems.empty()) {
      RepairReport repaired = database.saver().repair(id);
      findings.repaired.values += repaired.values;
      findings.repaired.assumed += repaired.assumed;
      findings.repaired.parents += repaired.parents;
      findings.repaired.is_counted = findings.repaired.is_counted || repaired.is_counted;
      std::move(repaired.left.begin(), repaired.left.end(),
                std::back_inserter(findings.repaired.left));
    }
    std::move(report.problems.begin(), report.problems.end(),
              std::back_inserter(findings.all.problems));
  }
}

std::string name_of(StoredProblem::Kind kind) { return std::string(Value(kind).as_string()); }

// "channel 'messages' version 000...2.0.5 is missing"
std::string text_of(const StoredProblem& problem) {
  std::string text;
  if (!problem.checkpoint_ns.empty()) text += "namespace '" + problem.checkpoint_ns + "', ";
  if (!problem.checkpoint_id.empty()) text += "checkpoint " + problem.checkpoint_id + ", ";
  if (!problem.task_id.empty()) text += "write of task " + problem.task_id + " to ";
  if (!problem.channel.empty()) text += "channel '" + problem.channel + "'";
  if (!problem.version.empty()) text += " version " + problem.version;
  if (text.ends_with(", ")) text.resize(text.size() - 2);
  if (!text.empty()) text += ' ';
  return text + problem.what;
}

void print_problems(const std::vector<StoredProblem>& problems, Console& console) {
  for (const StoredProblem& problem : problems) {
    console.out << console.styled(Style::cyan, one_line(problem.thread_id)) << ": "
                << one_line(text_of(problem)) << '\n';
  }
}

void print_repair(const RepairReport& repaired, Console& console) {
  if (repaired.values > 0) {
    console.out << "Made " << counted(repaired.values, "value") << " again from writes";
    if (repaired.assumed > 0) {
      console.out << ", " << repaired.assumed << " of them by what is usual of a channel";
    }
    console.out << ".\n";
  }
  if (repaired.parents > 0) {
    console.out << counted(repaired.parents, "checkpoint") << " no longer "
                << (repaired.parents == 1 ? "names" : "name") << " a parent.\n";
  }
  if (repaired.is_counted) console.out << "The table of threads was put right.\n";
  if (repaired.left.empty()) return;
  console.out << "What could not be repaired:\n";
  print_problems(repaired.left, console);
}

void print(const Findings& findings, bool repairs, Console& console) {
  for (const std::string& problem : findings.file_problems) {
    console.out << console.styled(Style::red, "file") << ": " << one_line(problem) << '\n';
  }
  print_problems(findings.all.problems, console);
  const std::size_t problems = findings.file_problems.size() + findings.all.problems.size();
  console.out << counted(findings.threads, "thread") << ", "
              << counted(findings.all.checkpoints, "checkpoint") << ", "
              << counted(findings.all.values, "value") << ", "
              << counted(findings.all.writes, "write") << ": "
              << (problems == 0 ? console.styled(Style::green, "all is well")
                                : console.styled(Style::red, counted(problems, "problem")))
              << '\n';
  if (problems > 0 && repairs) print_repair(findings.repaired, console);
}

Value to_value(const StoredProblem& problem) {
  return object({{"kind", name_of(problem.kind)},
                 {"thread_id", problem.thread_id},
                 {"checkpoint_ns", problem.checkpoint_ns},
                 {"checkpoint_id", problem.checkpoint_id},
                 {"channel", problem.channel},
                 {"version", problem.version},
                 {"task_id", problem.task_id},
                 {"what", problem.what}});
}

Value to_value(const std::vector<StoredProblem>& problems) {
  ListBuilder values;
  for (const StoredProblem& problem : problems) values.push_back(to_value(problem));
  return std::move(values).build();
}

Value to_value(const Findings& findings, bool repairs) {
  Value repaired;
  if (repairs) {
    repaired = object({{"values", findings.repaired.values},
                       {"assumed", findings.repaired.assumed},
                       {"parents", findings.repaired.parents},
                       {"counts", findings.repaired.is_counted},
                       {"left", to_value(findings.repaired.left)}});
  }
  return object({{"complete", findings.is_complete()},
                 {"threads", findings.threads},
                 {"checkpoints", findings.all.checkpoints},
                 {"values", findings.all.values},
                 {"writes", findings.all.writes},
                 {"file", Value(findings.file_problems)},
                 {"problems", to_value(findings.all.problems)},
                 {"repaired", repaired}});
}

int verify(Database& database, const Arguments& arguments, Console& console) {
  const bool repairs = arguments.is_on("repair");
  const Interrupt interrupt(console);
  Findings findings;
  try {
    findings.file_problems = database.saver().check_file();
    const std::vector<std::string> ids = threads_of(database, arguments);
    check_has_key(database, ids);
    findings.asked = ids.size();
    verify_threads(database, ids, repairs, console, findings);
  } catch (const StorageError& error) {
    findings.file_problems.emplace_back(error.what());
    findings.asked = findings.threads;
  }
  if (arguments.is_on("json")) {
    print_json(console, to_value(findings, repairs));
  } else {
    print(findings, repairs, console);
  }
  if (!findings.is_complete()) {
    console.error << "stopped after " << counted(findings.threads, "thread") << " of "
                  << count_text(findings.asked) << '\n';
    return Interrupt::kStatus;
  }
  const std::vector<StoredProblem>& left = repairs ? findings.repaired.left : findings.all.problems;
  return left.empty() && findings.file_problems.empty() ? 0 : 1;
}

}  // namespace

Command verify_command() {
  Command command;
  command.name = "verify";
  command.help = "Look whether everything stored can be read, and repair what cannot";
  command.positionals = {
      {"thread", "The threads; all if none is named", Positional::Form::repeated}};
  command.flags = {{"repair", "Make lost values again from what was written, and put counts right",
                    Flag::Form::toggle}};
  return database_command(std::move(command), verify);
}

}  // namespace clew::cli

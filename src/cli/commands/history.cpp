// clew history: the checkpoints of a thread as a tree.
#include <algorithm>
#include <ostream>

#include <clew/error.hpp>

#include "cli/branch_tree.hpp"
#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/table.hpp"
#include "cli/thread_history.hpp"
#include "cli/value_view.hpp"
#include "pregel/state_access.hpp"
#include "pregel/task_view.hpp"

namespace clew::cli {
namespace {

// The histories of subgraphs, by the checkpoint around them.
using Place = std::pair<std::string, std::string>;               // namespace, checkpoint
using Nested = std::map<Place, std::map<std::string, History>>;  // -> namespace -> history

// The innermost graph around a checkpoint of a subgraph.
Place place_around(const HistoryEntry& entry) {
  Place place;
  const Value& parents = entry.metadata["parents"];
  if (!parents.is_object()) return place;
  for (auto [ns, id] : parents.items()) {
    if (id.is_string() && ns.size() >= place.first.size()) place = Place(ns, id.as_string());
  }
  return place;
}

Nested read_subgraphs(Database& database, const std::string& thread_id) {
  Nested nested;
  const Value rows = database.saver().query(
      "SELECT DISTINCT checkpoint_ns FROM checkpoints WHERE thread_id = ? AND checkpoint_ns <> ''",
      list({thread_id}));
  for (const Value& row : rows) {
    const auto ns = row.get<std::string>("checkpoint_ns");
    for (HistoryEntry& entry : read_history(database.saver(), thread_id, ns, 0).entries) {
      nested[place_around(entry)][ns].entries.push_back(std::move(entry));
    }
  }
  return nested;
}

// JSON ------------------------------------------------------------------------------

Value task_value(const TaskRecord& task) {
  return object({{"task_id", task.id},
                 {"node", task.node.empty() ? Value() : Value(task.node)},
                 {"channels", task.channels}});
}

// Questions and failures of the step that follows.
Value problems_value(const TaskRecord& task) {
  return task_value(task)
      .erase("channels")
      .set("interrupts", pregel::interrupt_list(task.interrupts))
      .set("answers", task.answers)
      .set("error", task.error)
      .set("is_finished", task.is_finished);
}

Value entry_value(const HistoryEntry& entry) {
  ListBuilder made_by;
  for (const TaskRecord& task : entry.made_by) made_by.push_back(task_value(task));
  ListBuilder tasks;
  for (const TaskRecord& task : entry.tasks) tasks.push_back(problems_value(task));
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Value() : Value(text);
  };
  return object({{"checkpoint_id", entry.key.checkpoint_id},
                 {"checkpoint_ns", entry.key.checkpoint_ns},
                 {"parent_checkpoint_id", text_or_null(entry.parent_id)},
                 {"created_at", entry.ts},
                 {"source", text_or_null(entry.source())},
                 {"step", entry.step()},
                 {"metadata", entry.metadata},
                 {"input", entry.input},
                 {"changed", entry.changed},
                 {"written_by", std::move(made_by).build()},
                 {"next", entry.next},
                 {"tasks", std::move(tasks).build()}});
}

void print_history_json(const History& history, const Nested& nested, Console& console) {
  ListBuilder entries;
  for (const HistoryEntry& entry : history.entries) entries.push_back(entry_value(entry));
  for (const auto& [place, namespaces] : nested) {
    for (const auto& [ns, inner] : namespaces) {
      for (const HistoryEntry& entry : inner.entries) entries.push_back(entry_value(entry));
    }
  }
  print_json(console, std::move(entries).build());
}

// The tree --------------------------------------------------------------------------

bool is_one_day(const History& history) {
  return std::all_of(history.entries.begin(), history.entries.end(), [&](const auto& entry) {
    return entry.ts.substr(0, 10) == history.entries.front().ts.substr(0, 10);
  });
}

std::string time_text(const std::string& ts, bool is_one_day) {
  if (ts.size() < 19) return ts;
  return is_one_day ? ts.substr(11, 8) : ts.substr(0, 10) + " " + ts.substr(11, 8);
}

Style style_of(const std::string& source) {
  if (source == "input") return Style::green;
  if (source == "update") return Style::magenta;
  return source == "fork" ? Style::cyan : Style::plain;
}

class Tree {
 public:
  Tree(const History& history, const Nested& nested)
      : history_(history),
        nested_(nested),
        is_one_day_(is_one_day(history)),
        table_({{""},
                {"CHECKPOINT"},
                {"STEP", Table::Align::right},
                {"SOURCE"},
                {"NODE: CHANNELS", Table::Align::left, true},
                {"NEXT", Table::Align::left, true},
                {is_one_day_ ? history.entries.front().ts.substr(0, 10) : "TIME"}}) {
    add(history, "");
  }

  void print(Console& console) const {
    table_.print(console);
    const std::size_t count = history_.entries.size();
    std::string text = count_text(count) + (count == 1 ? " checkpoint" : " checkpoints");
    if (branches_ > 1) text += ", " + count_text(branches_) + " branches";
    if (!history_.is_complete) text += ", and older ones";
    console.out << text << '\n';
  }

 private:
  void add(const History& history, const std::string& prefix) {
    std::vector<TreeNode> nodes;
    for (const HistoryEntry& entry : history.entries) {
      nodes.push_back({entry.key.checkpoint_id, entry.parent_id});
    }
    for (const TreeRow& row : branch_tree(nodes)) {
      const HistoryEntry& entry = history.entries[row.node];
      const bool is_head = prefix.empty() && row.node + 1 == nodes.size();
      add_entry(entry, prefix + row.lead + (is_head ? "●" : "○"), is_head);
      const std::string beside = prefix + row.beside;
      if (prefix.empty() && row.ends) ++branches_;
      for (const TaskRecord& task : entry.tasks) add_task(task, beside);
      add_subgraphs(entry, beside);
    }
  }

  void add_entry(const HistoryEntry& entry, const std::string& graph, bool is_head) {
    const std::string next = names_text(entry.next);
    table_.add({{graph, is_head ? Style::green : Style::plain},
                {short_id(entry.key.checkpoint_id), is_head ? Style::green : Style::yellow},
                {std::to_string(entry.step())},
                {entry.source(), style_of(entry.source())},
                {made_by_text(entry)},
                {next.empty() ? "END" : next, next.empty() ? Style::dim : Style::cyan},
                {time_text(entry.ts, is_one_day_), Style::dim}});
  }

  // What a task of the step that follows asked, was told, and died of.
  void add_task(const TaskRecord& task, const std::string& beside) {
    const std::string graph = beside.substr(0, beside.find_last_not_of(' ') + 1);
    for (std::size_t i = 0; i < task.interrupts.size(); ++i) {
      std::string text = "? " + task.title() + ": " + value_text(task.interrupts[i].value);
      if (task.answers[i]) text += "  ← " + value_text(*task.answers[i]);
      table_.add({{graph}, {text, task.is_finished ? Style::dim : Style::yellow}});
    }
    if (task.error && !task.is_finished) {
      table_.add({{graph}, {"✗ " + task.title() + ": " + *task.error, Style::red}});
    }
  }

  void add_subgraphs(const HistoryEntry& entry, const std::string& beside) {
    const auto found = nested_.find({entry.key.checkpoint_ns, entry.key.checkpoint_id});
    if (found == nested_.end()) return;
    for (const auto& [ns, history] : found->second) {
      table_.add({{beside + "┊"}, {pregel::namespace_without_ids(ns), Style::bold}});
      add(history, beside + "┊ ");
    }
  }

  const History& history_;
  const Nested& nested_;
  const bool is_one_day_;
  std::size_t branches_ = 0;
  Table table_;
};

int show_history(Database& database, const Arguments& arguments, Console& console) {
  const std::string thread_id = database.thread(arguments.text("thread"));
  const History history = read_history(database.saver(), thread_id, "",
                                       static_cast<std::size_t>(arguments.number("limit")));
  if (history.entries.empty()) {
    throw Error("thread '" + thread_id + "' has no checkpoint of its root graph");
  }
  Nested nested;
  if (arguments.is_on("subgraphs")) nested = read_subgraphs(database, thread_id);
  if (arguments.is_on("json")) {
    print_history_json(history, nested, console);
  } else {
    Tree(history, nested).print(console);
  }
  return 0;
}

}  // namespace

Command history_command() {
  Command command;
  command.name = "history";
  command.help = "Draw the checkpoints of a thread as a tree, the newest last";
  command.positionals = {{"thread", "The thread"}};
  command.flags = {
      {"subgraphs", "Also those of subgraphs, below the step that ran them", Flag::Form::toggle},
      {"limit", "The newest so many; 0 is all", Flag::Form::number, "0", "COUNT"},
  };
  return database_command(std::move(command), show_history);
}

}  // namespace clew::cli

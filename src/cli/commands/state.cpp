// clew state: what a thread holds at a checkpoint, and what it waits for.
#include <ostream>

#include <clew/error.hpp>
#include <clew/json.hpp>

#include "checkpoint/delta_counters.hpp"
#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/stored_state.hpp"
#include "cli/thread_history.hpp"
#include "cli/value_view.hpp"
#include "pregel/state_access.hpp"
#include "pregel/task_status.hpp"

namespace clew::cli {
namespace {

class StatePrinter {
 public:
  StatePrinter(Console& console, const ViewOptions& options)
      : console_(console), options_(options) {}

  void print(const StateSnapshot& state, std::size_t indent) {
    print_head(state, indent);
    if (!state.values.is_null() && !(state.values.is_object() && state.values.empty())) {
      line(indent, console_.styled(Style::bold, "values"));
      print_value(console_, state.values, indent + 2, options_);
    }
    if (!state.tasks.empty()) line(indent, console_.styled(Style::bold, "tasks"));
    for (const SnapshotTask& task : state.tasks) print_task(task, indent + 2);
  }

 private:
  void line(std::size_t indent, const std::string& text) {
    console_.out << std::string(indent, ' ') << text << '\n';
  }

  void field(std::size_t indent, const char* name, const std::string& text,
             Style style = Style::plain) {
    constexpr std::size_t kNames = 12;
    std::string padded = name;
    padded.resize(kNames, ' ');
    const std::size_t used = indent + kNames;
    std::string shown = one_line(text);
    if (console_.width > used + 8 && !options_.full)
      shown = shortened(shown, console_.width - used);
    line(indent, console_.styled(Style::bold, padded) + console_.styled(style, shown));
  }

  void print_head(const StateSnapshot& state, std::size_t indent) {
    const Value& metadata = state.metadata;
    if (indent == 0) field(indent, "thread", state.config.thread_id);
    if (!state.config.checkpoint_ns.empty()) {
      field(indent, "subgraph", pregel::namespace_without_ids(state.config.checkpoint_ns));
    }
    field(indent, "checkpoint", state.config.checkpoint_id, Style::yellow);
    if (state.parent_config) field(indent, "parent", state.parent_config->checkpoint_id);
    field(indent, "step",
          value_text(metadata["step"]) + ", " + value_text(metadata["source"]) + ", " +
              state.created_at.value_or(""));
    if (const Value own = own_metadata(metadata); !own.empty()) {
      field(indent, "metadata", to_json(own, {.spaced = true}));
    }
    const std::string next = names_text(state.next);
    field(indent, "next", next.empty() ? "END" : next, Style::cyan);
  }

  // What the program that ran the thread said of it.
  static Value own_metadata(const Value& metadata) {
    if (!metadata.is_object()) return object();
    return metadata.erase("source").erase("step").erase("parents").erase(internal::kDeltaCounters);
  }

  void print_task(const SnapshotTask& task, std::size_t indent) {
    const bool is_finished = task.result.has_value();
    std::string state = is_finished                ? "finished"
                        : task.error               ? "failed"
                        : !task.interrupts.empty() ? "waits for an answer"
                                                   : "to run";
    line(indent, console_.styled(Style::cyan, one_line(task.name)) + "  " +
                     console_.styled(Style::dim, one_line(task.id.substr(0, 8))) + "  " + state);
    for (const Interrupt& question : task.interrupts) {
      text(indent + 2, "? " + value_text(question.value), Style::yellow);
    }
    if (task.error) text(indent + 2, "✗ " + pregel::error_text(*task.error), Style::red);
    if (is_finished && *task.result != object()) {
      print_value(console_, *task.result, indent + 2, options_);
    }
    if (task.state) print(*task.state, indent + 2);
  }

  void text(std::size_t indent, const std::string& text, Style style) {
    std::string shown = one_line(text);
    if (console_.width > indent + 8 && !options_.full) {
      shown = shortened(shown, console_.width - indent);
    }
    line(indent, console_.styled(style, shown));
  }

  Console& console_;
  const ViewOptions& options_;
};

int show_state(Database& database, const Arguments& arguments, Console& console) {
  const std::string thread_id = database.thread(arguments.text("thread"));
  const CheckpointKey key = database.checkpoint(arguments.text("checkpoint"), thread_id);
  const auto tuple = database.saver().get_tuple(key);
  if (!tuple) throw Error("thread '" + thread_id + "' has no checkpoint of its root graph");
  const StateSnapshot state = stored_state(database.saver(), *tuple, arguments.is_on("subgraphs"));
  if (arguments.is_on("json")) {
    print_json(console, to_value(state));
  } else {
    const ViewOptions options{.full = arguments.is_on("full")};
    StatePrinter(console, options).print(state, 0);
  }
  return 0;
}

}  // namespace

Command state_command() {
  Command command;
  command.name = "state";
  command.help = "Show what a thread holds at a checkpoint, and the tasks that follow";
  command.positionals = {
      {"thread", "The thread"},
      {"checkpoint", "Its id or the end of it; the newest if it is not named",
       Positional::Form::optional},
  };
  command.flags = {
      {"subgraphs", "Also the states of subgraphs, below their tasks", Flag::Form::toggle},
      {"full", "Show values whole", Flag::Form::toggle},
  };
  return database_command(std::move(command), show_state);
}

}  // namespace clew::cli

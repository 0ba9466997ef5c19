// clew diff: what changed between two checkpoints.
#include <ostream>

#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/stored_state.hpp"
#include "cli/value_diff.hpp"
#include "cli/value_view.hpp"

namespace clew::cli {
namespace {

struct Side {
  CheckpointKey key;
  Value metadata;
  Value values = object();
};

Side side_of(Database& database, const CheckpointKey& key) {
  const auto tuple = database.saver().get_tuple(key);
  if (!tuple) throw Error("thread '" + key.thread_id + "' has no checkpoint of its root graph");
  Value values = stored_values(database.saver(), *tuple);
  return {tuple->key, tuple->metadata, std::move(values)};
}

// Of one checkpoint: the one it follows, which may not be there.
Side side_before(Database& database, const Side& side) {
  const auto tuple = database.saver().get_tuple(side.key);
  CheckpointKey parent = side.key;
  parent.checkpoint_id = tuple->parent_id;
  if (parent.checkpoint_id.empty() || !database.saver().get_tuple(parent)) {
    return {{side.key.thread_id, side.key.checkpoint_ns, ""}, object()};
  }
  return side_of(database, parent);
}

Value place_value(const Side& side) {
  if (side.key.checkpoint_id.empty()) return {};
  return object({{"thread_id", side.key.thread_id},
                 {"checkpoint_ns", side.key.checkpoint_ns},
                 {"checkpoint_id", side.key.checkpoint_id}});
}

void print_changes_json(const Side& a, const Side& b, const std::vector<ValueChange>& changes,
                        Console& console) {
  ListBuilder list;
  for (const ValueChange& change : changes) {
    const char* kind = !change.before ? "added" : !change.after ? "removed" : "changed";
    Value entry = object({{"path", change.path}, {"change", kind}});
    if (change.before) entry = entry.set("before", *change.before);
    if (change.after) entry = entry.set("after", *change.after);
    list.push_back(entry);
  }
  print_json(console, object({{"before", place_value(a)},
                              {"after", place_value(b)},
                              {"changes", std::move(list).build()}}));
}

class Report {
 public:
  Report(Console& console, bool is_full) : console_(console), is_full_(is_full) {}

  void print(const Side& a, const Side& b, const std::vector<ValueChange>& changes) {
    print_side("---", a, Style::red);
    print_side("+++", b, Style::green);
    std::string channel;
    for (const ValueChange& change : changes) {
      const std::string name = change.path.empty() ? "" : path_text(change.path.slice(0, 1));
      if (change.path.size() > 1 && name != channel) {
        console_.out << console_.styled(Style::bold, one_line(name)) << '\n';
      }
      channel = change.path.size() > 1 ? name : "";
      print_change(change);
    }
    if (changes.empty()) console_.out << "nothing changed\n";
  }

 private:
  void print_side(const char* mark, const Side& side, Style style) {
    std::string text = std::string(mark) + " ";
    if (side.key.checkpoint_id.empty()) {
      text += "nothing";
    } else {
      text += side.key.thread_id + " " + short_id(side.key.checkpoint_id) + "  step " +
              value_text(side.metadata["step"]) + ", " + value_text(side.metadata["source"]);
    }
    console_.out << console_.styled(style, one_line(text)) << '\n';
  }

  void print_change(const ValueChange& change) {
    const bool is_inside = change.path.size() > 1;
    std::string place =
        path_text(is_inside ? change.path.slice(1, change.path.size()) : change.path);
    if (!place.empty()) place += "  ";
    const std::string indent = is_inside ? "  " : "";
    if (change.before) print_whole("- ", indent + place, *change.before, Style::red);
    if (change.after) print_whole("+ ", indent + place, *change.after, Style::green);
  }

  // The elements of a list that came or went as a whole have lines of their own.
  void print_whole(const char* mark, const std::string& place, const Value& value, Style style) {
    if (!value.is_list() || value.empty())
      return print_line(mark, place + value_text(value), style);
    print_line(mark, place + size_text(value), style);
    for (const Value& element : value) print_line(mark, "  " + value_text(element), style);
  }

  void print_line(const char* mark, const std::string& text, Style style) {
    std::string line = mark + one_line(text);
    if (console_.width > 0 && !is_full_) line = shortened(line, console_.width);
    console_.out << console_.styled(style, line) << '\n';
  }

  Console& console_;
  const bool is_full_;
};

int show_difference(Database& database, const Arguments& arguments, Console& console) {
  const std::string thread_id =
      arguments.has("thread") ? database.thread(arguments.text("thread")) : "";
  Side a = side_of(database, database.checkpoint(arguments.text("a"), thread_id));
  Side b = arguments.has("b")
               ? side_of(database, database.checkpoint(arguments.text("b"), thread_id))
               : a;
  if (!arguments.has("b")) a = side_before(database, b);
  const std::vector<ValueChange> changes = value_diff(a.values, b.values);
  if (arguments.is_on("json")) {
    print_changes_json(a, b, changes, console);
  } else {
    Report(console, arguments.is_on("full")).print(a, b, changes);
  }
  return 0;
}

}  // namespace

Command diff_command() {
  Command command;
  command.name = "diff";
  command.help = "Show which values changed between two checkpoints, or in one step";
  command.positionals = {
      {"a", "A checkpoint, by its id or the end of it; or a thread, for its newest one"},
      {"b", "Another one; without it, A is compared with the checkpoint it follows",
       Positional::Form::optional},
  };
  command.flags = {
      {"thread", "The thread of both", Flag::Form::text, "", "THREAD"},
      {"full", "Show values whole", Flag::Form::toggle},
  };
  return database_command(std::move(command), show_difference);
}

}  // namespace clew::cli

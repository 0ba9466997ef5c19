// clew threads: the threads of a database.
#include <ostream>

#include <clew/json.hpp>

#include "cli/commands.hpp"
#include "cli/conditions.hpp"
#include "cli/database.hpp"
#include "cli/table.hpp"

namespace clew::cli {
namespace {

struct ListedThread {
  ThreadInfo info;
  ThreadSize size;
};

ThreadQuery query_of(const Arguments& arguments) {
  ThreadQuery query;
  query.filter = parse_conditions(arguments.texts("metadata"));
  if (arguments.has("status")) query.status = Value(arguments.text("status")).get<ThreadStatus>();
  query.after = arguments.text("after");
  if (arguments.number("limit") > 0) {
    query.limit = static_cast<std::size_t>(arguments.number("limit"));
  }
  return query;
}

Style style_of(ThreadStatus status) {
  switch (status) {
    case ThreadStatus::idle: return Style::plain;
    case ThreadStatus::interrupted: return Style::yellow;
    case ThreadStatus::error: return Style::red;
  }
  return Style::plain;
}

std::string name_of(ThreadStatus status) { return std::string(Value(status).as_string()); }

Value to_value(const ListedThread& thread) {
  return object({{"thread_id", thread.info.thread_id},
                 {"status", name_of(thread.info.status)},
                 {"checkpoint_id", thread.info.checkpoint_id},
                 {"updated_at", thread.info.updated_at},
                 {"checkpoints", thread.size.checkpoints},
                 {"writes", thread.size.writes},
                 {"bytes", thread.size.bytes},
                 {"metadata", thread.info.metadata}});
}

// What the program that ran the thread said of it.
Value own_metadata(const Value& metadata) {
  if (!metadata.is_object()) return object();
  return metadata.erase("source").erase("step").erase("parents");
}

void print_table(const std::vector<ListedThread>& threads, Console& console) {
  using Align = Table::Align;
  Table table({{"THREAD"},
               {"STATUS"},
               {"CHECKPOINTS", Align::right},
               {"SIZE", Align::right},
               {"UPDATED"},
               {"METADATA", Align::left, true}});
  std::uint64_t bytes = 0;
  for (const auto& [info, size] : threads) {
    table.add({{info.thread_id, Style::cyan},
               {name_of(info.status), style_of(info.status)},
               {count_text(size.checkpoints)},
               {bytes_text(size.bytes)},
               {info.updated_at.substr(0, 19)},
               {to_json(own_metadata(info.metadata)), Style::dim}});
    bytes += size.bytes;
  }
  table.print(console);
  console.out << count_text(threads.size()) << (threads.size() == 1 ? " thread, " : " threads, ")
              << bytes_text(bytes) << '\n';
}

int list_threads(Database& database, const Arguments& arguments, Console& console) {
  std::vector<ListedThread> threads;
  for (ThreadInfo& info : database.saver().list_threads(query_of(arguments))) {
    const ThreadSize size = database.saver().thread_size(info.thread_id);
    threads.push_back({std::move(info), size});
  }
  if (arguments.is_on("json")) {
    ListBuilder rows;
    for (const ListedThread& thread : threads) rows.push_back(to_value(thread));
    print_json(console, std::move(rows).build());
  } else {
    print_table(threads, console);
  }
  return 0;
}

}  // namespace

Command threads_command() {
  Command command;
  command.name = "threads";
  command.help = "List the threads of a database";
  command.positionals = {{"database", "The database, instead of --db", Positional::Form::optional}};
  command.flags = {
      {"metadata",
       "Only threads whose newest checkpoint has this in its metadata; may be given several times",
       Flag::Form::texts, "", "KEY=VALUE"},
      {"status",
       "Only threads in this state",
       Flag::Form::text,
       "",
       "STATUS",
       {"idle", "interrupted", "error"}},
      {"after", "Only threads behind this id, for the next page", Flag::Form::text, "", "THREAD"},
      {"limit", "At most so many; 0 is all", Flag::Form::number, "0", "COUNT"},
  };
  return database_command(std::move(command), list_threads);
}

}  // namespace clew::cli

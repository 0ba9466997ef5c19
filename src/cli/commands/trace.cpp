// clew trace: what each task wrote in the step that follows a checkpoint.
#include <cstdio>
#include <ostream>
#include <set>

#include <clew/error.hpp>

#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/step_tasks.hpp"
#include "cli/stored_state.hpp"
#include "cli/table.hpp"
#include "cli/value_view.hpp"

namespace clew::cli {
namespace {

constexpr const char* kNativeWrites =
    "SELECT task_id, task_path, node, idx, channel, type, length(blob_data) AS bytes, gmt_create"
    " FROM checkpoint_writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
    " ORDER BY gmt_create, task_path, task_id, idx";
// Times and the names of nodes are not stored there.
constexpr const char* kLangGraphWrites =
    "SELECT task_id, task_path, '' AS node, idx, channel, type, length(value) AS bytes,"
    " NULL AS gmt_create"
    " FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
    " ORDER BY task_path, task_id, idx";

struct WrittenChannel {
  std::string name;
  std::uint64_t bytes = 0;              // of the whole value after the step
  std::optional<std::uint64_t> stored;  // of the row, where each version has one
};

struct Trace {
  CheckpointTuple from;
  std::optional<CheckpointTuple> to;  // what the step made
  Value writes = list();
  std::vector<WrittenChannel> channels;

  std::size_t tasks() const {
    std::set<std::string> ids;
    for (const Value& write : writes) ids.insert(write.get<std::string>("task_id"));
    return ids.size();
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const Value& write : writes) sum += bytes_of(write);
    return sum;
  }
  // Of writes to the state, without those that only say what happened and what is next.
  std::uint64_t state_bytes() const {
    std::uint64_t sum = 0;
    for (const Value& write : writes) {
      if (!is_reserved_channel(write["channel"].as_string())) sum += bytes_of(write);
    }
    return sum;
  }
  std::uint64_t value_bytes() const {
    std::uint64_t sum = 0;
    for (const WrittenChannel& channel : channels) sum += channel.bytes;
    return sum;
  }

  static std::uint64_t bytes_of(const Value& write) {
    return write["bytes"].is_int() ? write["bytes"].as_uint() : 0;
  }
};

// The checkpoint that the tasks of the step made; an update in between is another's.
std::optional<CheckpointTuple> made_by_step(Database& database, const CheckpointTuple& from) {
  const CheckpointKey& key = from.key;
  const Value children = database.saver().query(
      "SELECT checkpoint_id FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?"
      " AND parent_checkpoint_id = ? ORDER BY checkpoint_id",
      list({key.thread_id, key.checkpoint_ns, key.checkpoint_id}));
  for (const Value& child : children) {
    auto tuple = database.saver().get_tuple(
        {key.thread_id, key.checkpoint_ns, child.get<std::string>("checkpoint_id")});
    if (tuple && tuple->metadata["source"] == Value("loop")) return tuple;
  }
  return std::nullopt;
}

// The row of a version of a channel; nothing where there is none.
std::optional<std::uint64_t> row_bytes(Database& database, const CheckpointTuple& tuple,
                                       const std::string& channel) {
  if (database.saver().layout() != SqliteLayout::native) return std::nullopt;
  const CheckpointKey& key = tuple.key;
  const Value rows = database.saver().query(
      "SELECT length(blob_data) AS bytes FROM checkpoint_blobs WHERE thread_id = ?"
      " AND checkpoint_ns = ? AND channel = ? AND version = ?",
      list(
          {key.thread_id, key.checkpoint_ns, channel, tuple.checkpoint.channel_versions[channel]}));
  return rows.empty() ? std::nullopt : std::optional(Trace::bytes_of(rows[0]));
}

std::vector<WrittenChannel> channels_after(Database& database, const Trace& trace) {
  std::set<std::string> written;
  for (const Value& write : trace.writes) {
    auto channel = write.get<std::string>("channel");
    if (!is_reserved_channel(channel)) written.insert(std::move(channel));
  }
  const Value& stored = trace.to->checkpoint.channel_values;
  const Value joined = stored_values(database.saver(), *trace.to);  // with delta channels
  const auto serializer = database.serializer();
  std::vector<WrittenChannel> channels;
  for (const std::string& name : written) {
    const Value* value = stored.find(name);
    if (!value) value = joined.find(name);
    if (!value) continue;
    channels.push_back(
        {name, serializer->dumps_typed(*value).bytes.size(), row_bytes(database, *trace.to, name)});
  }
  return channels;
}

Trace trace_of(Database& database, const CheckpointKey& key) {
  auto tuple = database.saver().get_tuple(key);
  if (!tuple) throw Error("thread '" + key.thread_id + "' has no checkpoint of its root graph");
  Trace trace;
  trace.from = std::move(*tuple);
  const CheckpointKey& place = trace.from.key;
  const bool is_native = database.saver().layout() == SqliteLayout::native;
  const Value rows =
      database.saver().query(is_native ? kNativeWrites : kLangGraphWrites,
                             list({place.thread_id, place.checkpoint_ns, place.checkpoint_id}));
  KnownGraph graph;
  graph.learn(trace.from);
  const auto newest = database.saver().get_tuple({place.thread_id, place.checkpoint_ns});
  if (newest) graph.learn(*newest);
  ListBuilder writes;
  for (const Value& row : rows) {
    PendingWrite write;
    write.task_id = row.get<std::string>("task_id");
    write.task_path = row.get<std::string>("task_path");
    write.node = row.get<std::string>("node");
    const std::string node = node_of(trace.from, write, graph);
    writes.push_back(row.set("node", node.empty() ? Value() : Value(node)));
  }
  trace.writes = std::move(writes).build();
  trace.to = made_by_step(database, trace.from);
  if (trace.to) trace.channels = channels_after(database, trace);
  return trace;
}

// 0.226 if the values are smaller than what was written to them, negative if greater.
std::optional<double> merge_ratio(const Trace& trace) {
  const auto written = static_cast<double>(trace.state_bytes());
  if (written == 0 || trace.channels.empty()) return std::nullopt;
  return 1 - static_cast<double>(trace.value_bytes()) / written;
}

void print_trace_json(const Trace& trace, Console& console) {
  ListBuilder channels;
  for (const WrittenChannel& channel : trace.channels) {
    channels.push_back(object(
        {{"channel", channel.name}, {"bytes", channel.bytes}, {"stored_bytes", channel.stored}}));
  }
  print_json(
      console,
      object({{"thread_id", trace.from.key.thread_id},
              {"checkpoint_ns", trace.from.key.checkpoint_ns},
              {"checkpoint_id", trace.from.key.checkpoint_id},
              {"next_checkpoint_id", trace.to ? Value(trace.to->key.checkpoint_id) : Value()},
              {"writes", trace.writes},
              {"tasks", trace.tasks()},
              {"bytes", trace.bytes()},
              {"state_bytes", trace.state_bytes()},
              {"values", std::move(channels).build()},
              {"value_bytes", trace.value_bytes()},
              {"merge_ratio", merge_ratio(trace)}}));
}

std::string plural(std::size_t count, const char* noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

void print_values(const Trace& trace, Console& console) {
  std::uint64_t stored = 0;
  bool is_stored_apart = !trace.channels.empty();
  for (const WrittenChannel& channel : trace.channels) {
    is_stored_apart = is_stored_apart && channel.stored.has_value();
    stored += channel.stored.value_or(0);
  }
  console.out << bytes_text(trace.state_bytes()) << " written to the state; after it "
              << plural(trace.channels.size(), "channel") << " of "
              << bytes_text(trace.value_bytes());
  if (is_stored_apart && stored != trace.value_bytes()) {
    console.out << ", stored as " << bytes_text(stored);
  }
  if (const auto ratio = merge_ratio(trace); ratio && *ratio > 0) {
    char percent[32];
    std::snprintf(percent, sizeof percent, "%.1f %%", *ratio * 100);
    console.out << "; " << percent << " was merged away";
  }
  console.out << '\n';
}

void print_trace(const Trace& trace, Console& console) {
  const std::string step = value_text(trace.from.metadata["step"]);
  console.out << one_line("thread " + trace.from.key.thread_id) << ", from "
              << console.styled(Style::yellow, one_line(short_id(trace.from.key.checkpoint_id)))
              << " (step " << step << ")";
  if (trace.to) {
    console.out << " to "
                << console.styled(Style::yellow, one_line(short_id(trace.to->key.checkpoint_id)));
  }
  console.out << '\n';
  if (trace.writes.empty()) {
    console.out << "no task has run from there";
    if (!trace.from.parent_id.empty()) {
      console.out << "; clew trace " << one_line(short_id(trace.from.parent_id))
                  << " shows the step that made it";
    }
    console.out << '\n';
    return;
  }
  Table table({{"NODE"},
               {"TASK"},
               {"PATH", Table::Align::left, true},
               {"IDX", Table::Align::right},
               {"CHANNEL", Table::Align::left, true},
               {"BYTES", Table::Align::right},
               {"TIME"}});
  for (const Value& write : trace.writes) {
    const Value& time = write["gmt_create"];
    const bool is_control = write["idx"].as_int() < 0;
    table.add({{write["node"].is_null() ? "-" : value_text(write["node"]), Style::cyan},
               {write.get<std::string>("task_id").substr(0, 8)},
               {path_title(write.get<std::string>("task_path")), Style::dim},
               {write["idx"].integer_text()},
               {write.get<std::string>("channel"), is_control ? Style::yellow : Style::plain},
               {count_text(Trace::bytes_of(write))},
               {time.is_string() ? std::string(time.as_string()) : "-", Style::dim}});
  }
  table.print(console);
  console.out << plural(trace.writes.size(), "write") << " of " << plural(trace.tasks(), "task")
              << ", " << bytes_text(trace.bytes()) << '\n';
  if (trace.to) print_values(trace, console);
}

int show_trace(Database& database, const Arguments& arguments, Console& console) {
  const std::string thread_id =
      arguments.has("thread") ? database.thread(arguments.text("thread")) : "";
  const Trace trace =
      trace_of(database, database.checkpoint(arguments.text("checkpoint"), thread_id));
  if (arguments.is_on("json")) {
    print_trace_json(trace, console);
  } else {
    print_trace(trace, console);
  }
  return 0;
}

}  // namespace

Command trace_command() {
  Command command;
  command.name = "trace";
  command.help = "Show what each task wrote in the step that follows a checkpoint";
  command.positionals = {
      {"checkpoint", "Its id or the end of it; or a thread, for its newest one"}};
  command.flags = {{"thread", "The thread of the checkpoint", Flag::Form::text, "", "THREAD"}};
  return database_command(std::move(command), show_trace);
}

}  // namespace clew::cli

// clew stats: what is big, and why.
#include <cstdio>
#include <ostream>

#include "cli/commands.hpp"
#include "cli/database_stats.hpp"
#include "cli/table.hpp"

namespace clew::cli {
namespace {

double ratio(std::uint64_t a, std::uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

std::uint64_t average(std::uint64_t bytes, std::uint64_t count) {
  return count == 0 ? 0 : bytes / count;
}

std::string times_text(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, factor < 10 ? "%.1f" : "%.0f", factor);
  return text;
}

std::string plural(std::uint64_t count, const char* noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

// JSON ------------------------------------------------------------------------------

Value nodes_value(const DatabaseStats& stats) {
  ListBuilder nodes;
  for (const NodeStats& node : stats.nodes) {
    nodes.push_back(object({{"node", node.node},
                            {"writes", node.writes},
                            {"bytes", node.bytes},
                            {"average_bytes", average(node.bytes, node.writes)}}));
  }
  return std::move(nodes).build();
}

Value channels_value(const DatabaseStats& stats) {
  ListBuilder channels;
  for (const ChannelStats& channel : stats.channels) {
    channels.push_back(object({{"channel", channel.channel},
                               {"writes", channel.writes},
                               {"write_bytes", channel.write_bytes},
                               {"versions", channel.versions},
                               {"version_bytes", channel.bytes}}));
  }
  return std::move(channels).build();
}

Value stats_value(const DatabaseStats& stats) {
  Value dedupe;
  if (stats.dedupe) {
    dedupe = object({{"whole_bytes", stats.dedupe->whole_bytes},
                     {"stored_bytes", stats.dedupe->stored_bytes},
                     {"ratio", ratio(stats.dedupe->whole_bytes, stats.dedupe->stored_bytes)},
                     {"is_estimate", stats.dedupe->is_estimate}});
  }
  Value growth;
  if (stats.growth) {
    growth = object({{"thread_id", stats.growth->thread_id},
                     {"turns", stats.growth->turns},
                     {"first_bytes_per_turn", stats.growth->first_bytes},
                     {"last_bytes_per_turn", stats.growth->last_bytes}});
  }
  return object({{"file_bytes", stats.file_bytes},
                 {"free_bytes", stats.free_bytes},
                 {"threads", stats.threads},
                 {"checkpoints", stats.checkpoints},
                 {"checkpoint_bytes", stats.checkpoint_bytes},
                 {"writes", stats.writes},
                 {"write_bytes", stats.write_bytes},
                 {"versions", stats.values},
                 {"version_bytes", stats.value_bytes},
                 {"nodes", nodes_value(stats)},
                 {"channels", channels_value(stats)},
                 {"dedupe", dedupe},
                 {"growth", growth}});
}

// Tables ----------------------------------------------------------------------------

constexpr auto kRight = Table::Align::right;

void print_rows(const DatabaseStats& stats, Console& console) {
  Table table({{"STORED"}, {"ROWS", kRight}, {"BYTES", kRight}, {"AVERAGE", kRight}});
  const auto add = [&](const char* what, std::uint64_t rows, std::uint64_t bytes) {
    table.add(
        {{what}, {count_text(rows)}, {bytes_text(bytes)}, {bytes_text(average(bytes, rows))}});
  };
  add("checkpoints", stats.checkpoints, stats.checkpoint_bytes);
  if (stats.values) add("values", *stats.values, stats.value_bytes.value_or(0));
  add("writes", stats.writes, stats.write_bytes);
  table.print(console);
}

void print_nodes(const DatabaseStats& stats, Console& console) {
  Table table({{"NODE", Table::Align::left, true},
               {"WRITES", kRight},
               {"BYTES", kRight},
               {"AVERAGE", kRight}});
  for (const NodeStats& node : stats.nodes) {
    table.add({{node.node, Style::cyan},
               {count_text(node.writes)},
               {bytes_text(node.bytes)},
               {bytes_text(average(node.bytes, node.writes))}});
  }
  table.print(console);
}

// Channels that only say which node is next are as many as there are edges.
std::vector<ChannelStats> with_joined_edges(const std::vector<ChannelStats>& channels) {
  std::vector<ChannelStats> joined;
  ChannelStats edges;
  edges.channel = "(edges)";
  for (const ChannelStats& channel : channels) {
    const bool is_edge =
        channel.channel.starts_with("branch:to:") || channel.channel.starts_with("join:");
    if (!is_edge) {
      joined.push_back(channel);
      continue;
    }
    edges.writes += channel.writes;
    edges.write_bytes += channel.write_bytes;
    if (channel.versions) edges.versions = edges.versions.value_or(0) + *channel.versions;
    if (channel.bytes) edges.bytes = edges.bytes.value_or(0) + *channel.bytes;
  }
  if (edges.writes > 0) joined.push_back(edges);
  return joined;
}

void print_channels(const DatabaseStats& stats, Console& console) {
  Table table({{"CHANNEL", Table::Align::left, true},
               {"WRITES", kRight},
               {"WRITTEN", kRight},
               {"VERSIONS", kRight},
               {"STORED", kRight},
               {"AVERAGE", kRight}});
  for (const ChannelStats& channel : with_joined_edges(stats.channels)) {
    const bool has_rows = channel.versions.has_value();
    table.add({{channel.channel, Style::cyan},
               {count_text(channel.writes)},
               {bytes_text(channel.write_bytes)},
               {has_rows ? count_text(*channel.versions) : "-"},
               {has_rows ? bytes_text(*channel.bytes) : "-"},
               {has_rows ? bytes_text(average(*channel.bytes, *channel.versions)) : "-"}});
  }
  table.print(console);
}

void print_sharing(const DatabaseStats& stats, Console& console) {
  if (!stats.values) {
    console.out << "sharing  none: in LangGraph's layout every checkpoint holds all its values\n";
  } else if (stats.dedupe) {
    const Dedupe& dedupe = *stats.dedupe;
    console.out << "sharing  " << times_text(ratio(dedupe.whole_bytes, dedupe.stored_bytes))
                << " times: " << bytes_text(dedupe.stored_bytes) << ", against "
                << (dedupe.is_estimate ? "about " : "") << bytes_text(dedupe.whole_bytes)
                << " if checkpoints shared nothing\n";
  }
}

void print_growth(const DatabaseStats& stats, Console& console) {
  if (!stats.growth) return;
  const Growth& growth = *stats.growth;
  console.out << "growth   thread " << one_line(growth.thread_id) << ", "
              << plural(growth.turns, "turn") << ": " << bytes_text(growth.first_bytes)
              << " per turn at first, " << bytes_text(growth.last_bytes) << " now\n";
}

int show_stats(Database& database, const Arguments& arguments, Console& console) {
  const std::string thread_id =
      arguments.has("thread") ? database.thread(arguments.text("thread")) : "";
  const DatabaseStats stats = database_stats(database, thread_id);
  if (arguments.is_on("json")) {
    print_json(console, stats_value(stats));
    return 0;
  }
  if (thread_id.empty()) {
    console.out << one_line(database.path()) << ": " << bytes_text(stats.file_bytes)
                << ", of which " << bytes_text(stats.free_bytes) << " free; "
                << plural(stats.threads, "thread") << "\n\n";
  }
  print_rows(stats, console);
  console.out << '\n';
  print_nodes(stats, console);
  console.out << '\n';
  print_channels(stats, console);
  console.out << '\n';
  print_sharing(stats, console);
  print_growth(stats, console);
  return 0;
}

}  // namespace

Command stats_command() {
  Command command;
  command.name = "stats";
  command.help = "Show what takes space: by node, by channel, by turn";
  command.positionals = {
      {"thread", "The thread; all if none is named", Positional::Form::optional}};
  return database_command(std::move(command), show_stats);
}

}  // namespace clew::cli

#include "cli/removal.hpp"

#include "cli/table.hpp"

namespace clew::cli {
namespace {

std::uint64_t bytes_gone(const Removal& removal) {
  // A row that stays may hold more than before, now that what it was a difference from is gone.
  const auto& [before, after] = std::pair(removal.before.bytes, removal.after.bytes);
  return before > after ? before - after : 0;
}

std::size_t checkpoints_gone(const Removal& removal) {
  return removal.before.checkpoints - removal.after.checkpoints;
}

Value to_value(const ThreadSize& size) {
  return object(
      {{"checkpoints", size.checkpoints}, {"writes", size.writes}, {"bytes", size.bytes}});
}

Value to_value(const Removal& removal) {
  Value value = object({{"thread_id", removal.thread_id},
                        {"before", to_value(removal.before)},
                        {"after", to_value(removal.after)}});
  return removal.has_record ? value.set("server_runs", removal.runs) : value;
}

}  // namespace

std::string counted(std::size_t count, const std::string& noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

void print_removals(const std::vector<Removal>& removals, Console& console) {
  using Align = Table::Align;
  Table table({{"THREAD", Align::left, true},
               {"CHECKPOINTS THAT GO", Align::right},
               {"STAY", Align::right},
               {"BYTES THAT GO", Align::right}});
  for (const Removal& removal : removals) {
    table.add({{removal.thread_id, Style::cyan},
               {count_text(checkpoints_gone(removal)), Style::red},
               {count_text(removal.after.checkpoints)},
               {bytes_text(bytes_gone(removal))}});
  }
  table.print(console);
}

std::string sum_text(const std::vector<Removal>& removals) {
  std::size_t checkpoints = 0;
  std::uint64_t bytes = 0;
  std::size_t records = 0;
  std::size_t runs = 0;
  for (const Removal& removal : removals) {
    checkpoints += checkpoints_gone(removal);
    bytes += bytes_gone(removal);
    records += removal.has_record ? 1 : 0;
    runs += removal.runs;
  }
  std::string text = counted(removals.size(), "thread") + ": " +
                     counted(checkpoints, "checkpoint") + ", " + bytes_text(bytes);
  if (records > 0) {
    text += ", and of the server " + counted(records, "record") + " and " + counted(runs, "run");
  }
  return text;
}

Value to_value(const std::vector<Removal>& removals, bool is_dry_run) {
  ListBuilder threads;
  for (const Removal& removal : removals) threads.push_back(to_value(removal));
  return object({{"dry_run", is_dry_run}, {"threads", std::move(threads).build()}});
}

}  // namespace clew::cli

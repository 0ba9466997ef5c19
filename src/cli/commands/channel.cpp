// clew channel: the newest value of one channel for many threads.
#include <algorithm>
#include <optional>
#include <ostream>

#include <clew/error.hpp>
#include <clew/json.hpp>

#include "channels/stored_history.hpp"
#include "cli/commands.hpp"
#include "cli/database.hpp"
#include "cli/near.hpp"
#include "cli/step_tasks.hpp"
#include "cli/stored_state.hpp"
#include "cli/table.hpp"
#include "cli/value_view.hpp"

namespace clew::cli {
namespace {

struct ThreadValue {
  std::string thread_id;
  Value version;
  Value value;
};

// What the writes of a delta channel, which has no value of its own, add up to.
std::optional<ThreadValue> joined_value(Database& database, const std::string& thread_id,
                                        const std::string& channel) {
  const auto tuple = database.saver().get_tuple({thread_id});
  if (!tuple) return std::nullopt;
  const Value values = stored_values(database.saver(), *tuple);
  const Value* value = values.find(channel);
  if (!value) return std::nullopt;
  return ThreadValue{thread_id, tuple->checkpoint.channel_versions[channel], *value};
}

// "AND thread_id IN (?, ?)", or nothing for all.
std::string condition(const std::vector<std::string>& threads) {
  if (threads.empty()) return "";
  std::string marks;
  for (std::size_t i = 0; i < threads.size(); ++i) marks += i == 0 ? "?" : ", ?";
  return " AND thread_id IN (" + marks + ")";
}

// The rows of versions are numbered without their values; only those that count are read.
std::vector<ThreadValue> native_values(Database& database, const std::string& channel,
                                       const std::vector<std::string>& threads) {
  Value parameters = list({channel});
  for (const std::string& thread : threads) parameters = parameters.append(thread);
  const Value rows = database.saver().query(
      "SELECT thread_id, version, json FROM ("
      "  SELECT thread_id, checkpoint_ns, channel, version, ROW_NUMBER() OVER"
      "    (PARTITION BY thread_id ORDER BY version DESC) AS rn"
      "  FROM checkpoint_blobs WHERE channel = ? AND checkpoint_ns = ''" +
          condition(threads) +
          ") newest JOIN checkpoint_values USING (thread_id, checkpoint_ns, channel, version)"
          " WHERE rn = 1 ORDER BY thread_id",
      parameters);
  std::vector<ThreadValue> values;
  for (const Value& row : rows) {
    if (row["json"].is_null()) continue;  // the channel holds nothing now
    values.push_back(
        {row.get<std::string>("thread_id"), row["version"], parse_json(row["json"].as_string())});
  }
  for (const std::string& thread : threads) {
    const bool is_found = std::any_of(values.begin(), values.end(), [&](const ThreadValue& found) {
      return found.thread_id == thread;
    });
    if (is_found) continue;
    if (auto joined = joined_value(database, thread, channel)) values.push_back(std::move(*joined));
  }
  return values;
}

// There each checkpoint is one row with all its values.
std::vector<ThreadValue> langgraph_values(Database& database, const std::string& channel,
                                          const std::vector<std::string>& threads) {
  Value parameters = list();
  for (const std::string& thread : threads) parameters = parameters.append(thread);
  const Value rows = database.saver().query(
      "SELECT thread_id, max(checkpoint_id) AS checkpoint_id, type, checkpoint FROM checkpoints"
      " WHERE checkpoint_ns = ''" +
          condition(threads) + " GROUP BY thread_id ORDER BY thread_id",
      parameters);
  const auto serializer = database.serializer();
  std::vector<ThreadValue> values;
  for (const Value& row : rows) {
    const Value checkpoint =
        serializer->loads_typed(row["type"].as_string(), row["checkpoint"].as_bytes());
    const Value& version = checkpoint["channel_versions"][channel];
    if (version.is_null()) continue;
    const auto thread_id = row.get<std::string>("thread_id");
    const Value* value = checkpoint["channel_values"].find(channel);
    if (value && !snapshot_value(*value)) {
      values.push_back({thread_id, version, *value});
    } else if (auto joined = joined_value(database, thread_id, channel)) {
      values.push_back(std::move(*joined));
    }
  }
  return values;
}

std::vector<std::string> known_channels(Database& database) {
  const bool is_native = database.saver().layout() == SqliteLayout::native;
  const Value rows = database.saver().query(std::string("SELECT DISTINCT channel FROM ") +
                                            (is_native ? "checkpoint_blobs" : "writes"));
  std::vector<std::string> channels;
  for (const Value& row : rows) {
    auto channel = row.get<std::string>("channel");
    if (!is_reserved_channel(channel)) channels.push_back(std::move(channel));
  }
  return channels;
}

// "6 messages, the last: ai: You said hi".
std::string summary(const Value& value) {
  const bool are_messages =
      value.is_list() && !value.empty() && looks_like_message(value[value.size() - 1]);
  if (!are_messages) return value_text(value);
  return size_text(value) + ", the last: " + value_text(value[value.size() - 1]);
}

int show_channel(Database& database, const Arguments& arguments, Console& console) {
  const std::string channel = arguments.text("name");
  std::vector<std::string> threads;
  for (const std::string& text : arguments.texts("threads"))
    threads.push_back(database.thread(text));
  const bool is_native = database.saver().layout() == SqliteLayout::native;
  const std::vector<ThreadValue> values = is_native ? native_values(database, channel, threads)
                                                    : langgraph_values(database, channel, threads);
  if (values.empty()) {
    const std::vector<std::string> known = known_channels(database);
    const bool is_known = std::count(known.begin(), known.end(), channel) > 0;
    throw Error(std::string(threads.empty() ? "no thread has" : "none of these threads has") +
                " a value in a channel '" + channel + "'" +
                (is_known ? "" : did_you_mean(channel, known)));
  }
  if (arguments.is_on("json")) {
    ListBuilder rows;
    for (const auto& [thread_id, version, value] : values) {
      rows.push_back(object({{"thread_id", thread_id}, {"version", version}, {"value", value}}));
    }
    print_json(console, std::move(rows).build());
    return 0;
  }
  Table table({{"THREAD"}, {"VALUE", Table::Align::left, true}});
  for (const auto& [thread_id, version, value] : values) {
    table.add({{thread_id, Style::cyan}, {summary(value)}});
  }
  table.print(console);
  console.out << count_text(values.size()) << (values.size() == 1 ? " thread\n" : " threads\n");
  return 0;
}

}  // namespace

Command channel_command() {
  Command command;
  command.name = "channel";
  command.help = "Show the newest value of one channel for many threads";
  command.positionals = {{"name", "The channel"}};
  command.flags = {
      {"threads", "Which threads; all if none is named", Flag::Form::texts, "", "THREAD ..."}};
  return database_command(std::move(command), show_channel);
}

}  // namespace clew::cli

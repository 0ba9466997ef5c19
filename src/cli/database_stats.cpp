#include "cli/database_stats.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "cli/step_tasks.hpp"

namespace clew::cli {
namespace {

// Of more checkpoints than this, some tell what all would take.
constexpr std::size_t kMostExact = 1'000;
constexpr std::size_t kSamples = 200;
// Turns at each end of a thread that are compared.
constexpr std::size_t kTurns = 10;
// Longer threads are looked into only if they are asked for.
constexpr std::uint64_t kLongThread = 20'000;
constexpr std::size_t kPage = 512;

std::uint64_t number(const Value& row, std::string_view column) {
  const Value& value = row[column];
  return value.is_int() ? value.as_uint() : 0;
}

class Statistics {
 public:
  Statistics(Database& database, const std::string& thread_id)
      : database_(database),
        saver_(database.saver()),
        thread_id_(thread_id),
        is_native_(saver_.layout() == SqliteLayout::native) {}

  DatabaseStats collect() {
    measure_file();
    count_rows();
    add_nodes();
    add_channels();
    if (is_native_) add_dedupe();
    add_growth();
    return std::move(stats_);
  }

 private:
  // `sql` with {where} for the thread that is asked for, and with the names of the layout.
  Value query(std::string sql) {
    replace(sql, "{where}", thread_id_.empty() ? "" : " WHERE thread_id = ?");
    replace(sql, "{writes}", is_native_ ? "checkpoint_writes" : "writes");
    replace(sql, "{value}", is_native_ ? "blob_data" : "value");
    return saver_.query(sql, thread_id_.empty() ? list() : list({thread_id_}));
  }

  static void replace(std::string& text, std::string_view name, std::string_view with) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) {
      text.replace(at, name.size(), with);
    }
  }

  void measure_file() {
    const Value pages = saver_.query(
        "SELECT page_size, freelist_count FROM pragma_page_size(), pragma_freelist_count()");
    std::error_code ignored;
    const auto size = std::filesystem::file_size(database_.path(), ignored);
    stats_.file_bytes = ignored ? 0 : size;
    stats_.free_bytes = number(pages[0], "page_size") * number(pages[0], "freelist_count");
  }

  void count_rows() {
    const Value checkpoints = query(
        "SELECT count(*) AS count, count(DISTINCT thread_id) AS threads,"
        " sum(length(checkpoint) + length(metadata)) AS bytes FROM checkpoints{where}");
    stats_.threads = number(checkpoints[0], "threads");
    stats_.checkpoints = number(checkpoints[0], "count");
    stats_.checkpoint_bytes = number(checkpoints[0], "bytes");
  }

  // LangGraph's layout has no column for it, but paths tell.
  std::string node_column() const {
    if (is_native_) return "CASE WHEN node = '' THEN '(input)' ELSE node END";
    return "CASE WHEN task_path LIKE '~\\_\\_pregel\\_pull, %' ESCAPE '\\'"
           " THEN substr(task_path, 17)"
           " WHEN task_path LIKE '~\\_\\_pregel\\_push, ~%' ESCAPE '\\' THEN '(calls)'"
           " WHEN task_path LIKE '~\\_\\_pregel\\_push, %' ESCAPE '\\' THEN '(Sends)'"
           " ELSE '(input)' END";
  }

  void add_nodes() {
    const Value rows = query("SELECT " + node_column() +
                             " AS name, count(*) AS writes, sum(length({value})) AS bytes"
                             " FROM {writes}{where} GROUP BY name ORDER BY bytes DESC, name");
    for (const Value& row : rows) {
      stats_.nodes.push_back(
          {row.get<std::string>("name"), number(row, "writes"), number(row, "bytes")});
      stats_.writes += stats_.nodes.back().writes;
      stats_.write_bytes += stats_.nodes.back().bytes;
    }
  }

  void add_channels() {
    std::map<std::string, ChannelStats> channels;
    const Value written = query(
        "SELECT channel, count(*) AS writes, sum(length({value})) AS bytes FROM {writes}{where}"
        " GROUP BY channel");
    for (const Value& row : written) {
      ChannelStats& channel = channels[row.get<std::string>("channel")];
      channel.writes = number(row, "writes");
      channel.write_bytes = number(row, "bytes");
    }
    if (is_native_) {
      const Value stored = query(
          "SELECT channel, count(*) AS versions, sum(length(blob_data)) AS bytes"
          " FROM checkpoint_blobs{where} GROUP BY channel");
      stats_.values = 0;
      stats_.value_bytes = 0;
      for (const Value& row : stored) {
        ChannelStats& channel = channels[row.get<std::string>("channel")];
        channel.versions = number(row, "versions");
        channel.bytes = number(row, "bytes");
        *stats_.values += *channel.versions;
        *stats_.value_bytes += *channel.bytes;
      }
    }
    for (auto& [name, channel] : channels) {
      channel.channel = name;
      stats_.channels.push_back(std::move(channel));
    }
    const auto size = [](const ChannelStats& channel) {
      return channel.bytes.value_or(0) + channel.write_bytes;
    };
    std::stable_sort(stats_.channels.begin(), stats_.channels.end(),
                     [&](const auto& a, const auto& b) { return size(a) > size(b); });
  }

  // Sharing ------------------------------------------------------------------------

  void add_dedupe() {
    if (stats_.checkpoints == 0) return;
    Dedupe dedupe;
    dedupe.stored_bytes = stats_.checkpoint_bytes + stats_.value_bytes.value_or(0);
    dedupe.is_estimate = stats_.checkpoints > kMostExact;
    const std::uint64_t every = dedupe.is_estimate ? stats_.checkpoints / kSamples : 1;
    const Value rows = query(
        "SELECT thread_id, checkpoint_ns, checkpoint_id FROM"
        " (SELECT thread_id, checkpoint_ns, checkpoint_id, row_number() OVER (ORDER BY rowid)"
        " AS number FROM checkpoints{where}) WHERE number % " +
        std::to_string(every) + " = 0");
    std::uint64_t values = 0;
    for (const Value& row : rows) {
      const auto tuple = saver_.get_tuple({row.get<std::string>("thread_id"),
                                           row.get<std::string>("checkpoint_ns"),
                                           row.get<std::string>("checkpoint_id")});
      if (tuple) values += whole_bytes(*tuple);
    }
    if (rows.empty()) return;
    dedupe.whole_bytes = values / rows.size() * stats_.checkpoints;
    stats_.dedupe = dedupe;
  }

  // As a row of LangGraph's layout.
  std::uint64_t whole_bytes(const CheckpointTuple& tuple) const {
    const Checkpoint& checkpoint = tuple.checkpoint;
    const Value map = object({{"ts", checkpoint.ts},
                              {"id", checkpoint.id},
                              {"channel_values", checkpoint.channel_values},
                              {"channel_versions", checkpoint.channel_versions},
                              {"versions_seen", checkpoint.versions_seen},
                              {"updated_channels", checkpoint.updated_channels}});
    return serializer_->dumps_typed(map).bytes.size();
  }

  // Growth -------------------------------------------------------------------------

  void add_growth() {
    std::string thread_id = thread_id_;
    if (thread_id.empty()) {
      const Value longest = saver_.query(
          "SELECT thread_id, count(*) AS count FROM checkpoints GROUP BY thread_id"
          " ORDER BY count DESC, thread_id LIMIT 1");
      if (longest.empty() || number(longest[0], "count") > kLongThread) return;
      thread_id = longest[0].get<std::string>("thread_id");
    }
    const std::vector<std::uint64_t> turns = bytes_of_turns(thread_id);
    if (turns.size() < 2) return;
    const std::size_t compared = std::min(kTurns, turns.size() / 2);
    Growth growth{thread_id, turns.size(), 0, 0};
    for (std::size_t i = 0; i < compared; ++i) {
      growth.first_bytes += turns[i];
      growth.last_bytes += turns[turns.size() - 1 - i];
    }
    growth.first_bytes /= compared;
    growth.last_bytes /= compared;
    stats_.growth = growth;
  }

  struct Step {
    std::string id;
    Value versions;
    bool is_input;
  };

  // Each row belongs to the turn whose checkpoint was the first to need it.
  std::vector<std::uint64_t> bytes_of_turns(const std::string& thread_id) {
    std::unordered_map<std::string, std::uint64_t> rows = bytes_by_checkpoint(thread_id);
    std::unordered_map<std::string, std::uint64_t> versions = bytes_by_version(thread_id);
    std::vector<std::uint64_t> turns;
    const std::vector<Step> steps = steps_of(thread_id);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (step->is_input || turns.empty()) turns.push_back(0);
      turns.back() += rows[step->id];
      for (auto [channel, version] : step->versions.items()) {
        if (!version.is_string()) continue;
        const auto row =
            versions.find(std::string(channel) + '\n' + std::string(version.as_string()));
        if (row == versions.end()) continue;
        turns.back() += row->second;
        versions.erase(row);
      }
    }
    return turns;
  }

  std::unordered_map<std::string, std::uint64_t> bytes_by_checkpoint(const std::string& thread_id) {
    std::unordered_map<std::string, std::uint64_t> bytes;
    const std::string writes = is_native_ ? "checkpoint_writes" : "writes";
    const std::string value = is_native_ ? "blob_data" : "value";
    const Value rows = saver_.query(
        "SELECT checkpoint_id, sum(bytes) AS bytes FROM ("
        " SELECT checkpoint_id, length(checkpoint) + length(metadata) AS bytes FROM checkpoints"
        "  WHERE thread_id = ?1 AND checkpoint_ns = ''"
        " UNION ALL SELECT checkpoint_id, length(" +
            value + ") FROM " + writes +
            " WHERE thread_id = ?1 AND checkpoint_ns = '') GROUP BY checkpoint_id",
        list({thread_id}));
    for (const Value& row : rows) {
      bytes.emplace(row.get<std::string>("checkpoint_id"), number(row, "bytes"));
    }
    return bytes;
  }

  std::unordered_map<std::string, std::uint64_t> bytes_by_version(const std::string& thread_id) {
    std::unordered_map<std::string, std::uint64_t> bytes;
    if (!is_native_) return bytes;
    const Value rows = saver_.query(
        "SELECT channel, version, length(blob_data) AS bytes FROM checkpoint_blobs"
        " WHERE thread_id = ? AND checkpoint_ns = ''",
        list({thread_id}));
    for (const Value& row : rows) {
      bytes.emplace(row.get<std::string>("channel") + '\n' + row.get<std::string>("version"),
                    number(row, "bytes"));
    }
    return bytes;
  }

  // Of the root graph, newest first.
  std::vector<Step> steps_of(const std::string& thread_id) {
    std::vector<Step> steps;
    std::string before;
    while (true) {
      ListOptions options;
      options.before = before;
      options.limit = kPage;
      for (const CheckpointTuple& tuple : saver_.list(thread_id, "", options)) {
        steps.push_back({tuple.key.checkpoint_id, tuple.checkpoint.channel_versions,
                         tuple.metadata["source"] == Value("input")});
      }
      if (steps.size() % kPage != 0 || steps.empty() || steps.back().id == before) return steps;
      before = steps.back().id;
    }
  }

  Database& database_;
  SqliteSaver& saver_;
  const std::string& thread_id_;
  const bool is_native_;
  const std::shared_ptr<const Serializer> serializer_ = database_.serializer();
  DatabaseStats stats_;
};

}  // namespace

DatabaseStats database_stats(Database& database, const std::string& thread_id) {
  return Statistics(database, thread_id).collect();
}

}  // namespace clew::cli

#include "cli/partitions.hpp"

#include <algorithm>
#include <set>

#include <clew/error.hpp>
#include <clew/json.hpp>

#include "checkpoint/table_text.hpp"

namespace clew::cli {
namespace {

namespace fs = std::filesystem;

// Days that are written to at once; more would take more files than a process may open.
constexpr std::size_t kMostFiles = 90;

std::string plain_json(const Value& value) {
  return to_json(value, {.non_finite = NonFinite::null, .max_depth = 1100});
}

// The name of a folder: only what is a day.
std::string day_of(const CheckpointTuple& tuple) {
  constexpr std::string_view kForm = "0000-00-00";
  std::string day = tuple.checkpoint.ts.substr(0, kForm.size());
  std::string form = day;
  for (char& c : form) {
    if (c >= '0' && c <= '9') c = '0';
  }
  return form == kForm ? day : "unknown";
}

// What every table has first.
Value place_of(const CheckpointTuple& tuple) {
  return object({{"thread_id", tuple.key.thread_id},
                 {"checkpoint_ns", tuple.key.checkpoint_ns},
                 {"checkpoint_ns_hash", internal::namespace_hash(tuple.key.checkpoint_ns)}});
}

Value checkpoint_row(const CheckpointTuple& tuple) {
  const Checkpoint& checkpoint = tuple.checkpoint;
  const Value content = object({{"v", checkpoint.v},
                                {"ts", checkpoint.ts},
                                {"channel_versions", checkpoint.channel_versions},
                                {"versions_seen", checkpoint.versions_seen},
                                {"updated_channels", checkpoint.updated_channels}});
  return place_of(tuple).merge(
      object({{"checkpoint_id", checkpoint.id},
              {"parent_checkpoint_id", tuple.parent_id.empty() ? Value() : Value(tuple.parent_id)},
              {"type", "json"},
              {"checkpoint", plain_json(content)},
              {"metadata", plain_json(tuple.metadata)},
              {"gmt_create", internal::table_time(checkpoint.ts)}}));
}

Value blob_row(const CheckpointTuple& tuple, std::string_view channel, const Value& value) {
  return place_of(tuple).merge(
      object({{"channel", channel},
              {"version", internal::version_text(tuple.checkpoint.channel_versions[channel])},
              {"type", "json"},
              {"blob_data", plain_json(value)},
              {"gmt_create", internal::table_time(tuple.checkpoint.ts)}}));
}

Value write_row(const CheckpointTuple& tuple, const PendingWrite& write, std::size_t position) {
  return place_of(tuple).merge(object({{"checkpoint_id", tuple.checkpoint.id},
                                       {"task_id", write.task_id},
                                       {"task_path", write.task_path},
                                       {"node", write.node},
                                       {"idx", write_index(write.channel, position)},
                                       {"channel", write.channel},
                                       {"type", "json"},
                                       {"blob_data", plain_json(write.value)},
                                       {"gmt_create", internal::table_time(tuple.checkpoint.ts)}}));
}

}  // namespace

PartitionWriter::PartitionWriter(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_)) {
    throw Error("cannot make the folder '" + folder_.string() + "': " + error.message());
  }
  if (!fs::is_empty(folder_)) {
    throw Error("the folder '" + folder_.string() + "' is not empty; name another one");
  }
}

void PartitionWriter::write(const std::string&, std::vector<CheckpointTuple> checkpoints) {
  std::ranges::stable_sort(checkpoints, {},
                           [](const CheckpointTuple& tuple) { return tuple.checkpoint.id; });
  std::set<Value> written;  // namespace, channel and version
  for (const CheckpointTuple& tuple : checkpoints) {
    const std::string day = day_of(tuple);
    add(day, "checkpoints", checkpoint_row(tuple));
    for (auto [channel, value] : tuple.checkpoint.channel_values.items()) {
      const Value& version = tuple.checkpoint.channel_versions[channel];
      if (version.is_null()) continue;
      const bool is_new = written.insert(list({tuple.key.checkpoint_ns, channel, version})).second;
      if (is_new) add(day, "checkpoint_blobs", blob_row(tuple, channel, value));
    }
    std::map<std::string, std::size_t> positions;  // by task
    for (const PendingWrite& write : tuple.pending_writes) {
      add(day, "checkpoint_writes", write_row(tuple, write, positions[write.task_id]++));
    }
  }
}

void PartitionWriter::add(const std::string& day, const std::string& table, const Value& row) {
  const fs::path folder = folder_ / ("dt=" + day);
  const fs::path path = folder / (table + ".jsonl");
  auto file = files_.find(path);
  if (file == files_.end()) {
    if (files_.size() >= kMostFiles) finish();
    fs::create_directories(folder);
    file = files_.emplace(path, std::ofstream(path, std::ios::app | std::ios::binary)).first;
  }
  file->second << to_json(row) << '\n';
}

void PartitionWriter::finish() {
  for (auto& [path, file] : files_) {
    file.close();
    if (!file) throw Error("cannot write '" + path.string() + "'; is the disk full?");
  }
  files_.clear();
}

}  // namespace clew::cli

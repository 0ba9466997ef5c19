#include "cli/export_format.hpp"

#include <algorithm>
#include <set>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "cli/typed_json.hpp"

namespace clew::cli {
namespace {

constexpr std::string_view kFormat = "clew-threads";
constexpr std::int64_t kVersion = 1;
// Values may be nested as deep as serializers allow, inside of a line.
constexpr std::size_t kMaxDepth = 1100;

void write_line(std::ostream& out, const Value& line) {
  write_json(line, [&](std::string_view chunk) { out << chunk; }, {.max_depth = kMaxDepth});
  out << '\n';
}

// Channel -> version -> value, in one namespace: a value stands in the first
// checkpoint that has its version.
class KnownValues {
 public:
  const Value* find(std::string_view channel, const Value& version) const {
    const auto versions = values_.find(channel);
    if (versions == values_.end() || version.is_null()) return nullptr;
    const auto value = versions->second.find(version);
    return value == versions->second.end() ? nullptr : &value->second;
  }

  void add(std::string_view channel, const Value& version, const Value& value) {
    values_[std::string(channel)].insert_or_assign(version, value);
    newest_[std::string(channel)] = version;
  }

  // The version that was added last, or null.
  Value newest(std::string_view channel) const {
    const auto found = newest_.find(channel);
    return found == newest_.end() ? Value() : found->second;
  }

 private:
  std::map<std::string, std::map<Value, Value>, std::less<>> values_;
  std::map<std::string, Value, std::less<>> newest_;
};

// Whether `newer` begins with all of `older`.
bool extends(const Value& newer, const Value& older) {
  return newer.is_list() && older.is_list() && !older.empty() && older.size() <= newer.size() &&
         std::equal(older.begin(), older.end(), newer.begin());
}

// Writing ---------------------------------------------------------------------------

// A list that extends the one before is written as what came to it.
Value value_entry(const KnownValues& known, std::string_view channel, const Value& value) {
  const Value base = known.newest(channel);
  const Value* older = known.find(channel, base);
  if (!older || !extends(value, *older)) return object({{"value", to_typed_json(value)}});
  ListBuilder tail;
  for (std::size_t i = older->size(); i < value.size(); ++i) {
    tail.push_back(to_typed_json(value[i]));
  }
  return object({{"base", to_typed_json(base)}, {"append", std::move(tail).build()}});
}

Value write_entry(const PendingWrite& write) {
  return object({{"task_id", write.task_id},
                 {"task_path", write.task_path},
                 {"node", write.node},
                 {"channel", write.channel},
                 {"value", to_typed_json(write.value)}});
}

Value checkpoint_entry(const CheckpointTuple& tuple, KnownValues& known) {
  const Checkpoint& checkpoint = tuple.checkpoint;
  ObjectBuilder values;
  for (auto [channel, value] : checkpoint.channel_values.items()) {
    const Value& version = checkpoint.channel_versions[channel];
    const Value* same = known.find(channel, version);
    if (same && *same == value) continue;
    values.set(channel, value_entry(known, channel, value));
    known.add(channel, version, value);
  }
  ListBuilder without;
  for (auto [channel, version] : checkpoint.channel_versions.items()) {
    const bool is_held = checkpoint.channel_values.contains(channel);
    if (!is_held && known.find(channel, version)) without.push_back(channel);
  }
  ListBuilder writes;
  for (const PendingWrite& write : tuple.pending_writes) writes.push_back(write_entry(write));
  return object(
      {{"checkpoint_ns", tuple.key.checkpoint_ns},
       {"checkpoint_id", checkpoint.id},
       {"parent_checkpoint_id", tuple.parent_id.empty() ? Value() : Value(tuple.parent_id)},
       {"v", checkpoint.v},
       {"ts", checkpoint.ts},
       {"metadata", to_typed_json(tuple.metadata)},
       {"channel_versions", to_typed_json(checkpoint.channel_versions)},
       {"versions_seen", to_typed_json(checkpoint.versions_seen)},
       {"updated_channels", to_typed_json(checkpoint.updated_channels)},
       {"values", std::move(values).build()},
       {"without", std::move(without).build()},
       {"writes", std::move(writes).build()}});
}

// Reading ---------------------------------------------------------------------------

Value read_value(const KnownValues& known, std::string_view channel, const Value& entry) {
  if (!entry.contains("base")) return from_typed_json(entry.at("value"));
  const Value* base = known.find(channel, from_typed_json(entry["base"]));
  if (!base) throw Error("the base of channel '" + std::string(channel) + "' is not in the file");
  return base->concat(from_typed_json(entry.at("append")));
}

Value read_values(const Value& entry, const Value& versions, KnownValues& known) {
  ObjectBuilder values;
  const Value& listed = entry.at("values");
  for (auto [channel, described] : listed.items()) {
    const Value value = read_value(known, channel, described);
    known.add(channel, versions[channel], value);
    values.set(channel, value);
  }
  std::set<std::string_view> without;
  for (const Value& channel : entry.at("without")) without.insert(channel.as_string());
  for (auto [channel, version] : versions.items()) {
    const Value* value = known.find(channel, version);
    if (value && !listed.contains(channel) && !without.contains(channel)) {
      values.set(channel, *value);
    }
  }
  return std::move(values).build();
}

PendingWrite read_write(const Value& entry) {
  return {.task_id = entry.get<std::string>("task_id"),
          .channel = entry.get<std::string>("channel"),
          .value = from_typed_json(entry.at("value")),
          .task_path = entry.get<std::string>("task_path"),
          .node = entry.get<std::string>("node")};
}

CheckpointTuple read_checkpoint(const std::string& thread_id, const Value& entry,
                                std::map<std::string, KnownValues>& known) {
  CheckpointTuple tuple;
  tuple.key = {thread_id, entry.get<std::string>("checkpoint_ns"),
               entry.get<std::string>("checkpoint_id")};
  if (tuple.key.checkpoint_id.empty()) throw Error("the checkpoint has no id");
  const Value& parent = entry.at("parent_checkpoint_id");
  if (!parent.is_null()) tuple.parent_id = parent.as_string();
  tuple.metadata = from_typed_json(entry.at("metadata"));
  Checkpoint& checkpoint = tuple.checkpoint;
  checkpoint.v = entry.get<int>("v");
  checkpoint.id = tuple.key.checkpoint_id;
  checkpoint.ts = entry.get<std::string>("ts");
  checkpoint.channel_versions = from_typed_json(entry.at("channel_versions"));
  checkpoint.versions_seen = from_typed_json(entry.at("versions_seen"));
  checkpoint.updated_channels = from_typed_json(entry.at("updated_channels"));
  checkpoint.channel_values =
      read_values(entry, checkpoint.channel_versions, known[tuple.key.checkpoint_ns]);
  for (const Value& write : entry.at("writes")) tuple.pending_writes.push_back(read_write(write));
  return tuple;
}

}  // namespace

ExportWriter::ExportWriter(std::ostream& out) : out_(out) {
  write_line(out_, object({{"format", kFormat}, {"version", kVersion}}));
}

void ExportWriter::write(const std::string& thread_id, std::vector<CheckpointTuple> checkpoints) {
  std::ranges::stable_sort(checkpoints, {},
                           [](const CheckpointTuple& tuple) { return tuple.checkpoint.id; });
  write_line(out_, object({{"thread", thread_id}, {"checkpoints", checkpoints.size()}}));
  std::map<std::string, KnownValues> known;  // by namespace
  for (const CheckpointTuple& tuple : checkpoints) {
    write_line(out_,
               object({{"checkpoint", checkpoint_entry(tuple, known[tuple.key.checkpoint_ns])}}));
  }
}

ExportReader::ExportReader(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {
  read_first_line();
}

bool ExportReader::read_line() {
  ++number_;
  return static_cast<bool>(std::getline(in_, line_));
}

void ExportReader::fail(const std::string& reason) const {
  throw Error("'" + name_ + "' line " + std::to_string(number_) + ": " + reason);
}

Value ExportReader::parse() const {
  try {
    return parse_json(line_, {.max_depth = kMaxDepth});
  } catch (const SerdeError& error) {
    fail(error.what());
  }
}

void ExportReader::read_first_line() {
  const std::string other = "'" + name_ +
                            "' is no export of threads: it does not begin with "
                            R"({"format":"clew-threads","version":1})";
  if (!read_line() || line_.find(kFormat) == std::string::npos) throw Error(other);
  const Value head = parse();
  if (!head.is_object() || head["format"] != Value(kFormat) || !head["version"].is_int()) {
    throw Error(other);
  }
  if (head["version"].as_int() > kVersion) {
    throw Error("'" + name_ + "' has version " + to_json(head["version"]) +
                " of the format, this Clew knows up to " + std::to_string(kVersion) +
                "; import it with the newer Clew that made it");
  }
}

std::optional<ExportReader::Head> ExportReader::read_head() {
  do {
    if (!read_line()) return std::nullopt;
  } while (line_.find_first_not_of(" \t\r") == std::string::npos);
  const Value head = parse();
  if (!head.is_object() || !head["thread"].is_string() || !head["checkpoints"].is_int() ||
      head["checkpoints"].as_int() < 0) {
    fail(R"(here a thread begins, as {"thread":"THREAD","checkpoints":COUNT})");
  }
  return Head{std::string(head["thread"].as_string()),
              static_cast<std::size_t>(head["checkpoints"].as_int())};
}

void ExportReader::read_checkpoint_line(const Head& head, std::size_t before) {
  if (read_line()) return;
  fail("the file ends here, after " + std::to_string(before) + " of the " +
       std::to_string(head.checkpoints) + " checkpoints of thread '" + head.thread_id + "'");
}

std::optional<ExportedThread> ExportReader::next() {
  const auto head = read_head();
  if (!head) return std::nullopt;
  ExportedThread thread{head->thread_id, {}};
  std::map<std::string, KnownValues> known;  // by namespace
  for (std::size_t i = 0; i < head->checkpoints; ++i) {
    read_checkpoint_line(*head, i);
    const Value line = parse();
    try {
      thread.checkpoints.push_back(read_checkpoint(head->thread_id, line.at("checkpoint"), known));
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }
  return thread;
}

std::optional<std::string> ExportReader::skip() {
  const auto head = read_head();
  if (!head) return std::nullopt;
  for (std::size_t i = 0; i < head->checkpoints; ++i) read_checkpoint_line(*head, i);
  return head->thread_id;
}

}  // namespace clew::cli

#include "labels.hpp"

#include <algorithm>
#include <cctype>

#include <clew/ids.hpp>

namespace clew::conformance {
namespace {

constexpr std::string_view kUnknown = "?";
constexpr std::size_t kUuidLength = 36;
constexpr std::size_t kPathNumberLength = 10;

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

bool is_path_number(std::string_view part) {
  return part.size() == kPathNumberLength &&
         std::all_of(part.begin(), part.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string without_padding(std::string_view number) {
  return std::to_string(std::stoll(std::string(number)));
}

// "^i.j": a call's path has for each level a counter and a mark that it is a call.
std::string call_suffix(const std::vector<std::string_view>& parts) {
  std::string suffix;
  bool is_counter = true;
  for (const std::string_view part : parts) {
    if (!is_path_number(part)) continue;
    if (is_counter) suffix += (suffix.empty() ? "^" : ".") + without_padding(part);
    is_counter = !is_counter;
  }
  return suffix.empty() ? "^" : suffix;
}

template <class Table>
std::string_view find_or(const Table& table, std::string_view key, std::string_view otherwise) {
  const auto found = table.find(key);
  return found == table.end() ? otherwise : std::string_view(found->second);
}

}  // namespace

void Labels::refresh(const Database& database, const HistoryReader& history) {
  label_checkpoints(database);
  for (const std::string& thread : database.threads()) {
    for (const std::string& ns : database.namespaces(thread)) {
      const auto snapshots = history(thread, ns);
      if (!snapshots) continue;
      for (const StateSnapshot& snapshot : *snapshots) label_snapshot_tasks(snapshot);
    }
  }
  for (const std::string& thread : database.threads()) {
    for (const std::string& ns : database.namespaces(thread)) {
      for (const CheckpointTuple& tuple : database.checkpoints(thread, ns)) {
        label_written_tasks(tuple);
      }
    }
  }
}

void Labels::label_checkpoints(const Database& database) {
  for (const std::string& thread : database.threads()) {
    for (const std::string& ns : database.namespaces(thread)) {
      std::size_t number = 0;
      for (const std::string& id : database.ids(thread, ns)) {
        checkpoints_.emplace(id, "c" + std::to_string(number++));
      }
    }
  }
}

void Labels::label_snapshot_tasks(const StateSnapshot& snapshot) {
  const std::string label = checkpoint(snapshot.config.checkpoint_id);
  for (const SnapshotTask& task : snapshot.tasks) {
    std::string suffix = "@" + label;
    if (task.path[0] == Value("__pregel_push")) {
      suffix += "#" + (task.path[1].is_int() ? task.path[1].integer_text() : std::string(kUnknown));
    }
    suffixes_.emplace(task.id, suffix);
    names_.emplace(task.id, task.name);
  }
}

void Labels::label_written_tasks(const CheckpointTuple& tuple) {
  const std::string label = checkpoint(tuple.checkpoint.id);
  for (const PendingWrite& write : tuple.pending_writes) {
    if (write.task_id == kNullTaskId || suffixes_.contains(write.task_id)) continue;
    label_by_path(write.task_id, write.task_path, label);
  }
}

void Labels::label_by_path(const std::string& task_id, const std::string& task_path,
                           const std::string& label) {
  const std::vector<std::string_view> parts = split(task_path, ", ");
  const bool is_handler =
      std::find(parts.begin(), parts.end(), "node_error_handler") != parts.end();
  const std::string mark = is_handler ? "!" : "";
  std::string& suffix = suffixes_[task_id] = "@" + label;
  if (task_path.starts_with("~__pregel_pull, ")) {
    suffix += mark;
    names_.insert_or_assign(task_id, std::string(parts[1]));
  } else if (task_path.starts_with("~__pregel_push, ~")) {
    suffix += call_suffix(parts);
  } else if (task_path.starts_with("~__pregel_push, ")) {
    suffix += "#" + without_padding(parts[1]) + mark;
  } else if (task_path.starts_with("~__interrupt__, ")) {
    names_.insert_or_assign(task_id, "update" + without_padding(parts[1]));
  }
}

std::string Labels::checkpoint(std::string_view id) const {
  return std::string(find_or(checkpoints_, id, kUnknown));
}

std::optional<std::string> Labels::find_checkpoint(std::string_view id) const {
  const auto found = checkpoints_.find(id);
  return found == checkpoints_.end() ? std::nullopt : std::optional(found->second);
}

std::string Labels::task(std::string_view id, std::string_view name) const {
  if (id == kNullTaskId) return "null";
  if (name.empty()) name = find_or(names_, id, "*");
  return std::string(name) + std::string(find_or(suffixes_, id, "@?"));
}

std::string Labels::ns(std::string_view ns) const {
  std::string label;
  for (const std::string_view segment : split(ns, "|")) {
    if (!label.empty()) label += '|';
    const std::size_t colon = segment.rfind(':');
    if (colon == std::string_view::npos) {
      label += segment;
    } else {
      label += segment.substr(0, colon);
      label += find_or(suffixes_, segment.substr(colon + 1), "@?");
    }
  }
  return label;
}

std::string Labels::path(std::string_view task_path) const {
  std::string label;
  while (!task_path.empty()) {
    const std::string_view candidate = task_path.substr(0, kUuidLength);
    if (is_uuid(candidate)) {
      label += task(candidate);
      task_path.remove_prefix(kUuidLength);
    } else {
      label += task_path.front();
      task_path.remove_prefix(1);
    }
  }
  return label;
}

std::string Labels::interrupt(std::string_view id) const {
  return std::string(find_or(interrupts_, id, kUnknown));
}

void Labels::add_interrupt(const std::string& id) {
  interrupts_.emplace(id, "i" + std::to_string(interrupts_.size()));
}

Value Labels::interrupts() const {
  ObjectBuilder labels;
  for (const auto& [id, label] : interrupts_) labels.set(id, label);
  return std::move(labels).build();
}

void Labels::take_interrupts(const Value& interrupts) {
  for (const auto& [id, label] : interrupts.items()) interrupts_.emplace(id, label.as_string());
}

bool is_uuid(std::string_view text) {
  if (text.size() != kUuidLength) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool is_hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (is_dash ? text[i] != '-' : !is_hex) return false;
  }
  return true;
}

}  // namespace clew::conformance

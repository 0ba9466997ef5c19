#include <clew/checkpointer.hpp>

#include <algorithm>
#include <array>

#include "checkpoint/delta_history.hpp"
#include "checkpoint/reserved_metadata.hpp"

namespace clew {

namespace {

// Persisted: never renumber.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kControlIndexes = {{
    {"__error__", -1},
    {"__scheduled__", -2},
    {"__interrupt__", -3},
    {"__resume__", -4},
}};

bool has_nul(const Value& value) {
  return value.is_string() && value.as_string().find('\0') != std::string_view::npos;
}

bool is_free_of_nul(const Value& metadata) {
  for (auto [key, value] : metadata.items()) {
    if (has_nul(value)) return false;
  }
  return true;
}

Value without_nul(const Value& value) {
  if (!has_nul(value)) return value;
  std::string text(value.as_string());
  std::erase(text, '\0');
  return text;
}

bool is_scalar(const Value& value) {
  return value.is_string() || value.is_bool() || value.is_int() || value.is_double() ||
         value.kind() == Kind::big_integer;
}

bool is_reserved(std::string_view key) {
  return key.starts_with("__") || internal::is_reserved_metadata(key);
}

}  // namespace

std::vector<DeltaHistory> Checkpointer::get_delta_channel_history(
    const CheckpointKey& key, std::span<const std::string> channels) {
  return internal::delta_history([this](const CheckpointKey& at) { return get_tuple(at); }, key,
                                 channels);
}

Value Checkpointer::next_version(const Value& current) const {
  if (current.is_null()) return clew::next_version("");
  if (current.is_int()) return clew::next_version(std::to_string(current.as_int()));
  return clew::next_version(current.as_string());
}

std::size_t count_threads(Checkpointer& saver, const ThreadQuery& query) {
  return saver.list_threads(query).size();
}

std::vector<CheckpointTuple> list_checkpoints(Checkpointer& saver, const ListOptions& options) {
  std::vector<CheckpointTuple> all;
  ListOptions rest = options;
  for (const ThreadInfo& thread : saver.list_threads({})) {
    if (options.limit) rest.limit = *options.limit - all.size();
    if (rest.limit == 0) break;
    for (CheckpointTuple& tuple : saver.list(thread.thread_id, std::nullopt, rest)) {
      all.push_back(std::move(tuple));
    }
  }
  return all;
}

std::int64_t write_index(std::string_view channel, std::size_t position) {
  if (channel.starts_with("__")) {
    for (const auto& [control, index] : kControlIndexes) {
      if (channel == control) return index;
    }
  }
  return static_cast<std::int64_t>(position);
}

Value checkpoint_metadata(const Value& metadata, const Value& extras) {
  if (extras.empty() && is_free_of_nul(metadata)) return metadata;
  ObjectBuilder complete;
  for (auto [key, value] : metadata.items()) complete.set(key, without_nul(value));
  if (extras.is_object()) {
    for (auto [key, value] : extras.items()) {
      if (metadata.contains(key) || is_reserved(key) || !is_scalar(value)) continue;
      complete.set(key, without_nul(value));
    }
  }
  return std::move(complete).build();
}

}  // namespace clew

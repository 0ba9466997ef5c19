#include <clew/add_messages.hpp>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <clew/errors.hpp>
#include <clew/extension.hpp>

#include "value/message_class.hpp"
#include "value/message_ids.hpp"
#include "value/message_index.hpp"

namespace clew::reducers {

namespace {

using internal::id_of;
using internal::is_chunk;

// Looking through a shorter list takes less than a step of a graph.
constexpr std::size_t kIndexedSize = 64;

bool is_removal(const Value& message) { return message.as_extension().name == "RemoveMessage"; }

// The message that a streamed part is a part of.
Value to_whole(const Value& chunk) {
  const Extension extension = chunk.as_extension();
  const std::string_view name = extension.name.substr(0, extension.name.rfind("Chunk"));
  const internal::MessageClassInfo* info = internal::find_message_class(name);
  if (!info) return chunk;
  return info->construct(
      extension.payload.erase("type").erase("tool_call_chunks").erase("chunk_position"));
}

// A message of any form as add_messages keeps it: of a whole class, with an id.
Value complete(const Value& message) {
  Value completed = convert_to_message(message);
  if (is_chunk(completed)) completed = to_whole(completed);
  return id_of(completed).is_null() ? internal::with_new_id(completed) : completed;
}

// Each element of a list, or the single message, through `convert`.
template <class Convert>
void for_each_message(const Value& messages, Convert convert) {
  if (!messages.is_list()) return convert(messages);
  std::size_t index = 0;
  for (const Value& message : messages) {
    try {
      convert(message);
    } catch (ValueError& error) {
      error.prepend(path_step(index));
      throw;
    }
    ++index;
  }
}

std::vector<Value> complete_all(const Value& messages) {
  std::vector<Value> completed;
  for_each_message(messages, [&](const Value& message) { completed.push_back(complete(message)); });
  return completed;
}

Value to_list(std::span<const Value> messages) {
  ListBuilder list;
  for (const Value& message : messages) list.push_back(message);
  return std::move(list).build();
}

// Where the messages of certain ids are. A list seldom has any of them, so a
// look at a few bits of each id comes before the table.
class Positions {
 public:
  static constexpr std::size_t kNowhere = internal::MessageIndex::kNowhere;

  // Notes the ids to look for. Views into them are kept.
  explicit Positions(std::span<const Value> messages) {
    positions_.reserve(messages.size());
    for (const Value& message : messages) {
      const Value& id = id_of(message);
      if (!id.is_string()) continue;
      filter_.set(filter_bit(id.as_string()));
      positions_.try_emplace(id.as_string(), kNowhere);
    }
  }

  void see(std::string_view id, std::size_t position) {
    if (!filter_.test(filter_bit(id))) return;
    const auto entry = positions_.find(id);
    if (entry != positions_.end()) entry->second = position;
  }

  void see_all(internal::MessageIndex& index) {
    for (auto& [id, position] : positions_) position = index.find(id);
  }

  // Of one of the ids noted.
  std::size_t& operator[](std::string_view id) { return positions_.find(id)->second; }

 private:
  static constexpr unsigned kFilterBits = 10;

  // From the end of the id: many begin alike.
  static std::size_t filter_bit(std::string_view id) {
    std::uint64_t tail = 0;
    const std::size_t size = std::min(id.size(), sizeof tail);
    std::memcpy(&tail, id.data() + id.size() - size, size);
    return static_cast<std::size_t>((tail * 0x9E3779B97F4A7C15ULL) >> (64 - kFilterBits));
  }

  std::bitset<(1 << kFilterBits)> filter_;
  std::unordered_map<std::string_view, std::size_t> positions_;
};

// Notes where the ids are in `list`. False, and nothing is certain, if it holds
// anything but whole messages with ids.
bool find_all(const Value& list, Positions& positions) {
  internal::MessageIdReader reader;
  std::size_t index = 0;
  for (const Value& message : list) {
    const Value* id = reader.read(message);
    if (!id) return false;
    positions.see(id->as_string(), index++);
  }
  return true;
}

// Merges whole messages with ids into a list of such.
Value merge(Value merged, std::span<const Value> messages, Positions& positions) {
  std::unordered_set<std::string_view> removed;
  for (const Value& message : messages) {
    const std::string_view id = id_of(message).as_string();
    std::size_t& position = positions[id];
    if (is_removal(message)) {
      if (position == Positions::kNowhere) {
        // Stored errors are told apart by their text, which is LangGraph's.
        throw MessageNotFoundError(
            "Attempting to delete a message with an ID that doesn't exist ('" + std::string(id) +
            "'); remove only messages of the list");
      }
      removed.insert(id);
    } else if (position == Positions::kNowhere) {
      position = merged.size();
      merged = std::move(merged).append(message);
    } else {
      removed.erase(id);
      merged = merged.set(position, message);
    }
  }
  if (removed.empty()) return merged;
  ListBuilder rest;
  for (const Value& message : merged) {
    if (!removed.contains(id_of(message).as_string())) rest.push_back(message);
  }
  return std::move(rest).build();
}

// Notes where the ids are in `list`, which becomes a list of whole messages
// with ids if it was not.
void locate(Value& list, Positions& positions) {
  if (list.is_list() && find_all(list, positions)) return;
  list = to_list(complete_all(list));
  find_all(list, positions);
}

// Merges into a list that is too long to look through every time.
Value merge_into_long(Value merged, std::span<const Value> messages, Positions& positions) {
  thread_local internal::MessageIndex index;
  const bool is_next_version = index.covers(merged);
  if (is_next_version) {
    positions.see_all(index);
  } else {
    locate(merged, positions);
  }
  Value result = merge(std::move(merged), messages, positions);
  index.follow(result, is_next_version && std::ranges::none_of(messages, is_removal));
  return result;
}

// Like find_all() for a list whose messages may lack ids. False if it holds
// anything but messages.
bool find_some(const Value& list, Positions& positions) {
  if (!list.is_list()) return false;
  internal::MessageIdReader reader;
  std::size_t index = 0;
  for (const Value& message : list) {
    const Value* id = reader.read(message);
    if (!id) {
      if (!is_message(message)) return false;
      id = &id_of(message);
    }
    if (id->is_string()) positions.see(id->as_string(), index);
    ++index;
  }
  return true;
}

// Merges messages, with ids or without, into a list of such.
Value fold(Value merged, std::span<const Value> messages, Positions& positions) {
  std::unordered_set<std::size_t> removed;
  for (const Value& message : messages) {
    const Value& id = id_of(message);
    std::size_t new_position = Positions::kNowhere;
    std::size_t& position = id.is_string() ? positions[id.as_string()] : new_position;
    if (is_removal(message) && id.is_string()) {
      if (position != Positions::kNowhere) removed.insert(position);
      position = Positions::kNowhere;
    } else if (position == Positions::kNowhere) {
      position = merged.size();
      merged = std::move(merged).append(message);
    } else {
      merged = merged.set(position, message);
    }
  }
  if (removed.empty()) return merged;
  ListBuilder rest;
  std::size_t index = 0;
  for (const Value& message : merged) {
    if (!removed.contains(index++)) rest.push_back(message);
  }
  return std::move(rest).build();
}

}  // namespace

Value add_messages(const Value& current, const Value& update) {
  const std::vector<Value> messages = complete_all(update);
  const auto last_clear =
      std::find_if(messages.rbegin(), messages.rend(), [](const Value& message) {
        return is_removal(message) && id_of(message) == Value(REMOVE_ALL_MESSAGES);
      });
  if (last_clear != messages.rend()) return to_list({last_clear.base(), messages.end()});

  Positions positions(messages);
  Value merged = current.is_null() ? list() : current;
  if (merged.is_list() && merged.size() >= kIndexedSize) {
    return merge_into_long(merged, messages, positions);
  }
  locate(merged, positions);
  return merge(std::move(merged), messages, positions);
}

Value messages_delta_reducer(const Value& current, std::span<const Value> writes) {
  std::vector<Value> messages;
  for (const Value& write : writes) {
    for_each_message(
        write, [&](const Value& message) { messages.push_back(convert_to_message(message)); });
  }
  Positions positions(messages);
  Value merged = current.is_null() ? list() : current;
  if (!find_some(merged, positions)) {
    merged = convert_to_messages(merged);
    find_some(merged, positions);
  }
  return fold(std::move(merged), messages, positions);
}

}  // namespace clew::reducers

// Ids for the messages in writes to delta channels.
#include "value/message_ids.hpp"

#include <algorithm>
#include <array>

#include <clew/add_messages.hpp>
#include <clew/channels.hpp>
#include <clew/types.hpp>

namespace clew {

namespace {

constexpr std::array<std::string_view, 7> kMessageRoles = {"user", "human",  "assistant", "ai",
                                                           "tool", "system", "function"};
constexpr std::array<std::string_view, 6> kMessageTypes = {"human",  "ai",       "tool",
                                                           "system", "function", "remove"};

template <std::size_t N>
bool is_one_of(const Value& name, const std::array<std::string_view, N>& names) {
  return name.is_string() && std::ranges::find(names, name.as_string()) != names.end();
}

bool is_message_object(const Value& value) {
  return value.is_object() &&
         (is_one_of(value["role"], kMessageRoles) || is_one_of(value["type"], kMessageTypes));
}

bool has_empty_id(const Value& id) {
  return id.is_null() || (id.is_string() && id.as_string().empty());
}

Value with_id(const Value& message) {
  return internal::id_of(message).is_null() ? internal::with_new_id(message) : message;
}

Value converted_with_id(const Value& item) {
  const Value message = convert_to_message(item);
  return has_empty_id(internal::id_of(message)) ? internal::with_new_id(message) : message;
}

// What cannot become a message stays as it is, and fails in the reducer.
Value message_with_id(const Value& item) {
  if (is_message(item)) return with_id(item);
  try {
    return converted_with_id(item);
  } catch (const ValueError&) {
    return item;
  }
}

Value list_item_with_id(const Value& item) {
  return is_message_object(item) ? converted_with_id(item) : message_with_id(item);
}

Value message_object_with_id(const Value& item) { return is_message(item) ? with_id(item) : item; }

Value base_list_item_with_id(const Value& item) {
  return is_message_object(item) ? converted_with_id(item) : message_object_with_id(item);
}

// The same list if nothing in it changes.
template <class Convert>
Value map_items(const Value& items, Convert convert) {
  ListBuilder mapped;
  bool is_same = true;
  for (const Value& item : items) {
    Value converted = convert(item);
    is_same = is_same && same(converted, item);
    mapped.push_back(std::move(converted));
  }
  return is_same ? items : std::move(mapped).build();
}

}  // namespace

Value ensure_message_ids(const Value& write) {
  if (const Value* value = overwritten(write)) {
    if (!value->is_list()) return write;
    const Value mapped = map_items(*value, message_with_id);
    return same(mapped, *value) ? write : to_value(Overwrite{mapped});
  }
  return write.is_list() ? map_items(write, list_item_with_id) : message_with_id(write);
}

Value ensure_message_object_ids(const Value& write) {
  if (const Value* value = overwritten(write)) {
    if (!value->is_list()) return write;
    const Value mapped = map_items(*value, message_object_with_id);
    if (same(mapped, *value)) return write;
    if (write.is_extension()) return to_value(Overwrite{mapped});
    return write.set(write.contains("__overwrite__") ? "__overwrite__" : "value", mapped);
  }
  if (write.is_list()) return map_items(write, base_list_item_with_id);
  if (is_message_object(write) && has_empty_id(write["id"])) {
    return write.set("id", internal::new_message_id());
  }
  return message_object_with_id(write);
}

}  // namespace clew

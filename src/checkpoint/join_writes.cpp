#include "checkpoint/join_writes.hpp"

#include <algorithm>

#include <clew/add_messages.hpp>
#include <clew/messages.hpp>

namespace clew::internal {

Value join_writes(const Value& current, const Value& update) {
  if (current.is_object() && update.is_object()) return current.merge(update);
  if (!current.is_list() || !update.is_list()) return update;
  const bool are_messages =
      std::any_of(update.begin(), update.end(), [](const Value& item) { return is_message(item); });
  return are_messages ? add_messages(current, update) : current.concat(update);
}

}  // namespace clew::internal

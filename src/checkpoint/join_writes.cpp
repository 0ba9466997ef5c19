#include "checkpoint/join_writes.hpp"

#include <algorithm>

#include <clew/add_messages.hpp>
#include <clew/containers.hpp>
#include <clew/extension.hpp>
#include <clew/messages.hpp>
#include <clew/serde.hpp>
#include <clew/types.hpp>

namespace clew::internal {
namespace {

std::string exact_bytes(const Value& value) {
  return JsonPlusSerializer().dumps_typed(value).bytes;
}

Value collect(Value all, std::span<const Value> writes) {
  for (const Value& write : writes) all = write.is_list() ? all.concat(write) : all.append(write);
  return all;
}

std::set<std::string> names_in(const Value& set) {
  const Value* elements = detail::set_elements(set);
  if (!elements) throw ValueError("a join holds " + set.type_name());
  std::set<std::string> names;
  for (const Value& name : *elements) names.emplace(name.as_string());
  return names;
}

Value set_of(const std::set<std::string>& names) {
  ListBuilder elements;
  for (const std::string& name : names) elements.push_back(name);
  return detail::make_set(std::move(elements).build());
}

}  // namespace

Value join_writes(const Value& current, const Value& update) {
  if (const Value* replacement = overwritten(update)) return *replacement;
  if (current.is_object() && update.is_object()) return current.merge(update);
  if (!current.is_list() || !update.is_list()) return update;
  const bool are_messages =
      std::any_of(update.begin(), update.end(), [](const Value& item) { return is_message(item); });
  return are_messages ? add_messages(current, update) : current.concat(update);
}

bool is_same(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (!a || !b) return !a && !b;
  return same(*a, *b) || (*a == *b && exact_bytes(*a) == exact_bytes(*b));
}

bool ChannelKind::changes(const std::optional<Value>& held, const ChannelWrites& writes) const {
  if (is_join()) return !is_same(after(held, writes), held ? *held : join({}, {}));
  if (!writes.empty()) return true;
  if (way_ == Way::one_step) return held.has_value();
  return way_ == Way::topic && held && held->is_list() && !held->empty();
}

std::optional<Value> ChannelKind::after(std::optional<Value> held,
                                        const ChannelWrites& writes) const {
  if (is_join()) return join(held, writes);
  if (!writes.by_command.empty()) held = take(std::move(held), writes.by_command);
  return take(std::move(held), writes.by_tasks);
}

std::optional<Value> ChannelKind::take(std::optional<Value> held,
                                       std::span<const Value> writes) const {
  switch (way_) {
    case Way::last_value:
      if (writes.size() > 1) throw ValueError("a channel that keeps one value was given several");
      return writes.empty() ? held : std::optional(writes.back());
    case Way::one_step: return writes.empty() ? std::nullopt : std::optional(writes.back());
    case Way::topic: return collect(list(), writes);
    case Way::collects: return collect(held ? *held : list(), writes);
    default: return writes.empty() ? held : std::optional(reduce(std::move(held), writes));
  }
}

Value ChannelKind::reduce(std::optional<Value> held, std::span<const Value> writes) const {
  if (!held && !initial_) {
    held = writes.front();
    writes = writes.subspan(1);
  }
  Value value = held ? *held : *initial_;
  bool is_replaced = false;
  for (const Value& write : writes) {
    if (const Value* replacement = overwritten(write)) {
      if (is_replaced) throw ValueError("a channel was given several Overwrites in a step");
      value = *replacement;
      is_replaced = true;
    } else if (!is_replaced) {
      value = reducer_(value, write);
    }
  }
  return value;
}

// What is stored is a set of names; in front of a deferred node, with whether the run was
// about to end.
Value ChannelKind::join(const std::optional<Value>& held, const ChannelWrites& writes) const {
  const bool waits_for_end = way_ == Way::joins_at_end;
  std::set<std::string> names;
  if (held) names = names_in(waits_for_end ? (*held)[0] : *held);
  bool is_over = waits_for_end && held && (*held)[1] == Value(true);
  const bool has_all = names == names_;
  if (writes.is_consumed && has_all && (is_over || !waits_for_end)) {
    names.clear();
    is_over = false;
  } else if (writes.empty() && has_all) {
    is_over = true;
  }
  for (const Value& name : writes.by_tasks) {
    const auto [added, is_new] = names.emplace(name.as_string());
    if (!names_.contains(*added)) throw ValueError("a join does not wait for '" + *added + "'");
  }
  return waits_for_end ? list({set_of(names), is_over}) : set_of(names);
}

}  // namespace clew::internal

#include "pregel/task_view.hpp"

#include <algorithm>

#include "pregel/task_status.hpp"

namespace clew::pregel {

Value folded_writes(const std::vector<std::pair<std::string_view, Value>>& writes) {
  ObjectBuilder builder;
  for (const auto& [channel, value] : writes) builder.set(channel, value);
  Value folded = std::move(builder).build();
  if (folded.size() == writes.size()) return folded;
  folded = object();  // some channel has several
  for (const auto& [channel, value] : writes) {
    const Value* earlier = folded.find(channel);
    if (!earlier || earlier->is_null()) {
      folded = std::move(folded).set(channel, value);
    } else if (const Value* several = earlier->find("$writes"); several && several->is_list()) {
      folded = folded.set(channel, object({{"$writes", several->append(value)}}));
    } else {
      folded = folded.set(channel, object({{"$writes", list({*earlier, value})}}));
    }
  }
  return folded;
}

namespace {

Value outcome_result(const Graph& graph, const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    if (write.is(kReturn)) return write.value;
  }
  const Selection& stream = graph.selections[graph.stream];
  std::vector<std::pair<std::string_view, Value>> shown;
  shown.reserve(writes.size());
  for (const Write& write : writes) {
    if (stream.contains(write.index)) shown.emplace_back(write.name(), write.value);
  }
  const Value folded = folded_writes(shown);
  if (!stream.is_bare) return folded;
  return folded.empty() ? Value() : folded.items()[0].value;
}

}  // namespace

TaskOutcome task_outcome(const Graph& graph, std::string_view task_id,
                         const std::vector<PendingWrite>& pending) {
  TaskOutcome outcome;
  outcome.writes.reserve(4);
  for (const PendingWrite& write : pending) {
    if (write.task_id != task_id) continue;
    if (write.channel == kInterrupt) {
      for (Interrupt& interrupt : stored_interrupts(write.value)) {
        outcome.interrupts.push_back(std::move(interrupt));
      }
    } else if (write.channel == kError) {
      if (!outcome.error) outcome.error = write.value;
    } else if (!is_control(write.channel)) {
      outcome.writes.push_back(graph.write_to(write.channel, write.value));
    }
  }
  outcome.is_finished = !outcome.writes.empty();
  if (outcome.is_finished) outcome.result = outcome_result(graph, outcome.writes);
  return outcome;
}

Value interrupt_list(const std::vector<Interrupt>& interrupts) {
  ListBuilder list;
  for (const Interrupt& interrupt : interrupts) {
    list.push_back(object({{"value", interrupt.value}, {"id", interrupt.id}}));
  }
  return std::move(list).build();
}

Value task_update(const Selection& output, std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (write.is(kReturn)) return write.value;
  }
  std::vector<const Write*> shown;
  shown.reserve(writes.size());
  bool has_repeats = false;
  for (const Write& write : writes) {
    if (!output.contains(write.index)) continue;
    has_repeats = has_repeats || std::any_of(shown.begin(), shown.end(), [&](const Write* other) {
                    return other->index == write.index;
                  });
    shown.push_back(&write);
  }
  if (shown.empty()) return {};
  if (!output.is_bare && !has_repeats) {
    ObjectBuilder update;
    for (const Write* write : shown) update.set(write->name(), write->value);
    return std::move(update).build();
  }
  std::vector<Value> updates;
  for (const Write* write : shown) {
    updates.push_back(output.is_bare ? write->value : object({{write->name(), write->value}}));
  }
  return updates.size() == 1 ? updates.front() : Value(updates);
}

}  // namespace clew::pregel

#include "pregel/task_view.hpp"

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
    if (stream.contains(write.index))
      shown.emplace_back(graph.channels[write.index].name, write.value);
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

Value task_update(const Graph& graph, const Selection& output, std::span<const Write> writes) {
  for (const Write& write : writes) {
    if (write.is(kReturn)) return write.value;
  }
  std::size_t shown = 0;
  ObjectBuilder builder;
  for (const Write& write : writes) {
    if (!output.contains(write.index)) continue;
    builder.set(graph.name_of(write), write.value);
    ++shown;
  }
  if (shown == 0) return {};
  Value update = std::move(builder).build();
  if (output.is_bare && shown == 1) return update.items()[0].value;
  if (!output.is_bare && shown == update.size()) return update;
  // Some channel was written several times.
  ListBuilder updates;
  for (const Write& write : writes) {
    if (!output.contains(write.index)) continue;
    updates.push_back(output.is_bare ? write.value : object({{graph.name_of(write), write.value}}));
  }
  return std::move(updates).build();
}

}  // namespace clew::pregel

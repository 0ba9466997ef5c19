// How tasks and their writes look from outside: in events and in snapshots.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pregel/graph.hpp"

namespace clew::pregel {

// What the stored writes of an open step say of one task.
struct TaskOutcome {
  std::optional<Value> error;
  std::vector<Interrupt> interrupts;  // the last it asked, answered or not
  bool is_finished = false;
  std::optional<Value> result;  // once finished
  std::vector<Write> writes;    // once finished
};
TaskOutcome task_outcome(const Graph& graph, std::string_view task_id,
                         const std::vector<PendingWrite>& pending);

// Writes as an object; several to one channel as {"$writes": [...]}.
Value folded_writes(const std::vector<std::pair<std::string_view, Value>>& writes);

// Interrupts as events and snapshots show them.
Value interrupt_list(const std::vector<Interrupt>& interrupts);

// The `updates` event of a task: what it wrote to the output channels.
Value task_update(const Graph& graph, const Selection& output, std::span<const Write> writes);

}  // namespace clew::pregel

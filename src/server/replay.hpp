// Keeps a run that goes on after a crash from telling twice what was told before.
//
// What leads to a checkpoint is stored before the checkpoint is, but what follows
// from it may be stored, too, though the next one is not. The new attempt goes on
// from the last checkpoint and repeats that. It gives the checkpoints the ids they
// had, so that tasks and interrupts are who they were, and each of them repeats
// what it told, whatever the order among them. Once a task, or a graph, tells
// something else, all that it tells is news.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/event_log.hpp"

namespace clew::server {

class ReplayedEvents {
 public:
  ReplayedEvents() = default;
  // What the run told after the checkpoint that it goes on from, in order.
  explicit ReplayedEvents(std::vector<Event> told);

  // The namespaces of subgraphs that made checkpoints then.
  std::vector<std::string> subgraphs() const;

  // The graph of this namespace goes on from this checkpoint, if it was made then.
  // The run's own graph has the namespace "" and goes on from where the events begin.
  void resume(const std::string& ns, std::string_view checkpoint_id);

  // A graph makes its next checkpoint: the id that it had, or nothing if it had none.
  std::optional<std::string> next_checkpoint(const std::string& ns, std::int64_t step);

  // Those of `events`, which were made of one event of `source`, that were not told yet.
  std::vector<NewEvent> filter(const std::string& source, std::vector<NewEvent> events);

 private:
  using Told = std::deque<Event>;

  bool is_told(Told& told, const NewEvent& event) const;

  std::unordered_map<std::string, Told> by_source_;
  // Graphs that have yet to tell the state they go on from, and those that are
  // still at that checkpoint.
  std::set<std::string> resumed_;
  std::set<std::string> at_start_;
};

}  // namespace clew::server

// Keeps a run that goes on after a crash from telling twice what was told before.
//
// The events of the last attempt are stored, though the checkpoints that belong
// to the last of them may not be. The new attempt starts at the last checkpoint,
// whose state was told, and repeats what followed. As long as it tells the same,
// it is not told again.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "server/event_log.hpp"

namespace clew::server {

// Where an attempt begins.
enum class ReplayFrom {
  input,             // the run had made no checkpoint
  input_checkpoint,  // its state, from before the input, is no event of a run
  checkpoint,
};

class ReplayedEvents {
 public:
  ReplayedEvents() = default;
  // The stored events of the run, in order.
  ReplayedEvents(std::vector<Event> events, ReplayFrom from);

  // Those of `events` that were not told yet.
  std::vector<NewEvent> filter(std::vector<NewEvent> events);

 private:
  bool is_told(const NewEvent& event);

  std::vector<Event> told_;
  ReplayFrom from_ = ReplayFrom::input;
  std::size_t next_ = 0;
  bool has_begun_ = false;
  bool is_done_ = true;
};

}  // namespace clew::server

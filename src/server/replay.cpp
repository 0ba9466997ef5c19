#include "server/replay.hpp"

#include <algorithm>
#include <utility>

namespace clew::server {
namespace {

bool is_same(const Event& event, const NewEvent& other) {
  return event.name == other.name && event.data == other.data;
}

// What every attempt says about itself.
bool is_about_attempt(std::string_view name) { return name == "metadata" || name == "lifecycle"; }

}  // namespace

ReplayedEvents::ReplayedEvents(std::vector<Event> events, ReplayFrom from)
    : told_(std::move(events)), from_(from), is_done_(false) {
  std::erase_if(told_, [](const Event& event) { return is_about_attempt(event.name); });
}

std::vector<NewEvent> ReplayedEvents::filter(std::vector<NewEvent> events) {
  if (is_done_) return events;
  std::vector<NewEvent> news;
  for (NewEvent& event : events) {
    if (is_done_ || is_about_attempt(event.name) || !is_told(event)) {
      news.push_back(std::move(event));
    }
  }
  return news;
}

// From a checkpoint the first event is its state: the attempt continues after the
// last time it was told, or after all that was, if it was not.
bool ReplayedEvents::is_told(const NewEvent& event) {
  if (!std::exchange(has_begun_, true) && from_ != ReplayFrom::input) {
    if (from_ == ReplayFrom::input_checkpoint) return true;
    const auto found = std::find_if(told_.rbegin(), told_.rend(),
                                    [&](const Event& old) { return is_same(old, event); });
    is_done_ = found == told_.rend();
    next_ = static_cast<std::size_t>(told_.rend() - found);
    return !is_done_;
  }
  is_done_ = next_ == told_.size() || !is_same(told_[next_], event);
  if (!is_done_) ++next_;
  return !is_done_;
}

}  // namespace clew::server

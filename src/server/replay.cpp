#include "server/replay.hpp"

#include <algorithm>

namespace clew::server {
namespace {

bool is_same(const Event& event, const NewEvent& other) {
  return event.name == other.name && event.data == other.data;
}

// What every attempt says about itself.
bool is_about_attempt(std::string_view name) { return name == "metadata" || name == "lifecycle"; }

}  // namespace

ReplayedEvents::ReplayedEvents(std::vector<Event> events) : told_(std::move(events)) {
  std::erase_if(told_, [](const Event& event) { return is_about_attempt(event.name); });
  is_done_ = told_.empty();
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

// The first event is the state of the checkpoint: the attempt continues after
// the last time it was told.
bool ReplayedEvents::is_told(const NewEvent& event) {
  if (!has_begun_) {
    has_begun_ = true;
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

#include "server/watch.hpp"

#include <algorithm>
#include <deque>

#include <clew/task.hpp>

namespace clew::server {
namespace {

constexpr std::chrono::milliseconds kMoment{200};

class WatchingReader final : public EventReader {
 public:
  explicit WatchingReader(std::unique_ptr<EventReader> events) : events_(std::move(events)) {}

  void start(std::function<void()> wake) override {
    wake_ = wake;
    events_->start(std::move(wake));
  }

  std::vector<Event> next(std::size_t limit) override {
    if (read_.empty()) {
      for (Event& event : events_->next(limit)) read_.push_back(std::move(event));
    }
    std::vector<Event> events;
    while (!read_.empty() && events.size() < limit) {
      if (const auto rest = held_back(read_.front()); rest.count() > 0) {
        if (events.empty()) default_executor().post_after(rest, wake_);
        break;
      }
      events.push_back(std::move(read_.front()));
      read_.pop_front();
    }
    return events;
  }

  bool is_over() override { return read_.empty() && events_->is_over(); }

 private:
  const std::unique_ptr<EventReader> events_;
  std::function<void()> wake_;
  std::deque<Event> read_;
};

}  // namespace

std::chrono::milliseconds held_back(const Event& event) {
  if (!event.name.starts_with("input.requested")) return {};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now) -
                   std::chrono::milliseconds(event.ms);
  // A clock that was set back holds nothing back for longer.
  return std::clamp(kMoment - age, std::chrono::milliseconds(0), kMoment);
}

std::unique_ptr<EventReader> watching(std::unique_ptr<EventReader> events) {
  return std::make_unique<WatchingReader>(std::move(events));
}

}  // namespace clew::server

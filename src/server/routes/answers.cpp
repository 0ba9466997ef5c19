#include "server/routes/answers.hpp"

#include <mutex>
#include <utility>

#include "server/protocol.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

// Events that are read at once, and the bytes after which they are sent.
constexpr std::size_t kEventsAtOnce = 64;

std::string event_bytes(const std::vector<Event>& events, EventForm form) {
  std::string bytes;
  for (const Event& event : events) {
    if (form == EventForm::protocol) {
      const Value shown = protocol_event(event);
      append_event(bytes, shown["method"].as_string(), json_text(shown),
                   std::to_string(event.protocol_seq));
    } else {
      append_event(bytes, event.name, event.data,
                   form == EventForm::with_id ? event.id() : std::string());
    }
  }
  return bytes;
}

class EventSource final : public StreamSource {
 public:
  EventSource(std::unique_ptr<EventReader> events, EventForm form, std::function<void()> on_left)
      : events_(std::move(events)), form_(form), on_left_(std::move(on_left)) {}

  void start(Wake wake) override {
    events_->start([wake = std::move(wake)] { wake(); });
  }

  StreamPiece next() override {
    const std::vector<Event> events = events_->next(kEventsAtOnce);
    if (!events.empty()) return {event_bytes(events, form_), StreamThen::more};
    return {{}, events_->is_over() ? StreamThen::end : StreamThen::wait};
  }

  void on_cut(StreamCut cut) override {
    if (cut == StreamCut::client_left && on_left_) on_left_();
  }

 private:
  const std::unique_ptr<EventReader> events_;
  const EventForm form_;
  const std::function<void()> on_left_;
};

}  // namespace

Response listing_response(const Listing& listing) {
  Response response = json_response(listing.rows);
  response.headers.emplace_back("x-pagination-total", std::to_string(listing.total));
  if (listing.next) {
    response.headers.emplace_back("x-pagination-next", std::to_string(*listing.next));
  }
  return response;
}

std::string run_path(const std::string& thread_id, const std::string& run_id) {
  return "/threads/" + thread_id + "/runs/" + run_id;
}

void add_locations(Response& response, const std::string& run, const std::string& location) {
  response.headers.emplace_back("content-location", run);
  response.headers.emplace_back("location", location);
}

Response event_response(std::unique_ptr<EventReader> events, EventForm form,
                        std::function<void()> on_left) {
  Response response;
  response.headers = {{"content-type", std::string(kEventStreamType)},
                      {"cache-control", "no-store"},
                      {"x-accel-buffering", "no"}};
  response.stream = std::make_shared<EventSource>(std::move(events), form, std::move(on_left));
  return response;
}

// A value that comes later --------------------------------------------------------

struct LaterValue::State {
  std::mutex mutex;
  std::function<Value()> make;  // empty until it is set
  Wake wake;

  void set(std::function<Value()> maker);
};

void LaterValue::State::set(std::function<Value()> maker) {
  Wake waiting;
  {
    const std::lock_guard lock(mutex);
    make = std::move(maker);
    waiting = std::move(wake);
  }
  waiting();
}

class LaterValue::Source final : public StreamSource {
 public:
  Source(std::shared_ptr<State> state, std::function<void()> on_left)
      : state_(std::move(state)), on_left_(std::move(on_left)) {}

  void start(Wake wake) override {
    const std::lock_guard lock(state_->mutex);
    state_->wake = std::move(wake);
  }

  StreamPiece next() override {
    std::function<Value()> make;
    {
      const std::lock_guard lock(state_->mutex);
      make = state_->make;
    }
    if (!make) return {{}, StreamThen::wait};
    return {json_text(make()), StreamThen::end};
  }

  void on_cut(StreamCut cut) override {
    if (cut == StreamCut::client_left && on_left_) on_left_();
  }

 private:
  const std::shared_ptr<State> state_;
  const std::function<void()> on_left_;
};

LaterValue::LaterValue() : state_(std::make_shared<State>()) {}

std::function<void(const Value&)> LaterValue::setter() const {
  return [state = state_](const Value& value) { state->set([value] { return value; }); };
}

std::function<void(std::function<Value()>)> LaterValue::maker_setter() const {
  return [state = state_](std::function<Value()> maker) { state->set(std::move(maker)); };
}

Response LaterValue::response(std::function<void()> on_left) const {
  Response response;
  response.headers = {{"content-type", "application/json"}};
  response.stream = std::make_shared<Source>(state_, std::move(on_left));
  // Spaces before a JSON text mean nothing.
  response.heartbeat.text = "\n";
  response.is_all_or_nothing = true;
  return response;
}

}  // namespace clew::server

// How routes answer: pages of searches, events as they come, JSON that is known later.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/event_log.hpp"
#include "server/http.hpp"
#include "server/parts.hpp"

namespace clew::server {

// The rows, with the pagination headers.
Response listing_response(const Listing& listing);

// "/threads/{thread_id}/runs/{run_id}"
std::string run_path(const std::string& thread_id, const std::string& run_id);

// Where clients find the run, and where they go on if the connection breaks.
void add_locations(Response& response, const std::string& run, const std::string& location);

enum class EventForm {
  plain,     // of a run's stream
  with_id,   // the same, resumable
  protocol,  // of the thread-scoped protocol
};

// Server-sent events until the reader is over. `on_left` is called if the client
// leaves before.
Response event_response(std::unique_ptr<EventReader> events, EventForm form,
                        std::function<void()> on_left = {});

// A JSON value that somebody sets later. The status is 200 by then.
class LaterValue {
 public:
  LaterValue();

  // One of them is called once, from any thread.
  std::function<void(const Value&)> setter() const;
  // For a value that takes its time: it is made by a worker when the client can have it.
  std::function<void(std::function<Value()>)> maker_setter() const;

  Response response(std::function<void()> on_left = {}) const;

 private:
  class Source;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace clew::server

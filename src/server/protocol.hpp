// The thread-scoped protocol: commands to a thread, and its history as numbered
// events over all runs.
#pragma once

#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "server/parts.hpp"
#include "server/runs.hpp"

namespace clew::server {

// What a subscriber wants to see.
struct ProtocolFilter {
  std::vector<std::string> channels = {};
  // Prefixes of namespaces. Empty: all.
  std::vector<std::vector<std::string>> namespaces = {};
  std::optional<std::size_t> depth = {};  // levels below the prefix
  std::int64_t since = 0;

  // Of {"channels", "namespaces", "depth", "since"}. Throws ServiceError 400.
  static ProtocolFilter of(const Value& body);
  bool matches(const Event& event) const;
  // Whether it wants nothing but "lifecycle" and "input": see watch.hpp.
  bool only_watches() const;
};

class ProtocolService {
 public:
  ProtocolService(ServerParts& parts, EventLog& log, RunService& runs)
      : parts_(parts), log_(log), runs_(runs) {}

  // {"id", "method", "params"} -> {"type": "success" | "error", ...}. Subscriptions
  // are the connection's own and answered there. May wait for a run that is
  // about to settle, if not many others wait. `seq` is that of the last event that the connection was sent;
  // 0 for a connection without events. Throws ServiceError 400 for what is no command.
  Value command(const Caller& caller, const std::string& thread_id, const Value& body,
                std::int64_t seq = 0);

  // The thread need not exist.
  std::unique_ptr<EventReader> stream(const Caller& caller, const std::string& thread_id,
                                      const ProtocolFilter& filter);
  // All events after `since`.
  std::unique_ptr<EventReader> events(const Caller& caller, const std::string& thread_id,
                                      std::int64_t since);

  // The thread's id. It need not exist; ServiceError 404 if it is another's.
  std::string checked_thread(const Caller& caller, const std::string& text);

 private:
  // For commands that wait. Each of them holds a thread that answers requests, so they
  // are few; who finds no place sees what is known now.
  static constexpr std::ptrdiff_t kMostWaiting = 8;
  using Places = std::counting_semaphore<kMostWaiting>;

  Value settled_interrupts(const std::string& thread_id, Places& places);
  void wait_until_settled(const std::string& thread_id);
  Value start_run(const Caller& caller, const std::string& thread_id, const Value& params);
  Value respond(const Caller& caller, const std::string& thread_id, const Value& params);

  ServerParts& parts_;
  EventLog& log_;
  RunService& runs_;
  Places starting_{kMostWaiting};
  Places responding_{kMostWaiting};
};

// {"type": "event", "event_id", "seq", "method", "params"} of a stored event.
Value protocol_event(const Event& event);

}  // namespace clew::server

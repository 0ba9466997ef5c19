// The thread-scoped protocol over one WebSocket: commands come as messages; replies
// and the events that were subscribed to go as messages, each event once.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/http_websocket.hpp"
#include "server/protocol.hpp"

namespace clew::server {

class ProtocolSession final : public WebSocketSession,
                              public std::enable_shared_from_this<ProtocolSession> {
 public:
  // The thread was checked. `protocol` must outlive the session.
  ProtocolSession(ProtocolService& protocol, Caller caller, std::string thread_id)
      : protocol_(protocol), caller_(std::move(caller)), thread_id_(std::move(thread_id)) {}

  void on_message(std::string text) override;
  void on_drained() override { pump(); }
  void on_close() override;

 private:
  Value reply_to(const Value& command);

  // Under the mutex.
  Value subscribe(const Value& command, bool is_reconnect);
  Value unsubscribe(const Value& command);
  Value tree(const Value& command);

  std::size_t replay(const ProtocolFilter& filter, std::int64_t since);
  void put(const Value& message);
  void pump_locked();
  bool waits_for(const Event& event);
  void take(const Event& event);
  Value meta() const;

  std::function<void()> waker();
  void pump();

  ProtocolService& protocol_;
  const Caller caller_;
  const std::string thread_id_;

  std::mutex mutex_;  // guards what follows
  std::map<std::string, ProtocolFilter> subscriptions_;
  std::unique_ptr<EventReader> events_;  // from the first subscription on
  std::deque<Event> read_;               // but not yet looked at
  std::deque<std::string> outbox_;       // to be sent, in this order
  std::size_t outbox_bytes_ = 0;
  std::int64_t seq_ = 0;      // of the last event that was looked at
  std::string run_id_;        // its run
  bool is_starting_ = false;  // a reply is being made that comes before the events of a new run
};

}  // namespace clew::server

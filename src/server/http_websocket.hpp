// One WebSocket connection, as the code behind a route sees it.
//
//   class Echo : public WebSocketSession {
//     void on_message(std::string text) override { send(std::move(text)); }
//   };
//   router.add_websocket("/echo", [](Request&) { return std::make_shared<Echo>(); });
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace clew::server {

// The connection behind a session.
class WebSocketLink {
 public:
  virtual ~WebSocketLink() = default;
  virtual bool send(std::string text) = 0;
  virtual void close(int code, std::string reason) = 0;
};

// The on_... methods are called on worker threads, one at a time. What they
// throw closes the connection with code 1011.
class WebSocketSession {
 public:
  WebSocketSession() = default;
  WebSocketSession(const WebSocketSession&) = delete;
  WebSocketSession& operator=(const WebSocketSession&) = delete;
  virtual ~WebSocketSession() = default;

  // The handshake is done; from here on send() works.
  virtual void on_open() {}

  // A text message, which is valid UTF-8. The next one is read when this returns.
  virtual void on_message(std::string text) = 0;

  // The client took all that was sent: the time for a source of many messages
  // to send its next few.
  virtual void on_drained() {}

  // The connection is gone, or about to go because the server stops. The last call.
  virtual void on_close() {}

  // Sends a text message. May be called from any thread. Returns false, and
  // sends nothing, when the connection is closed or as much is waiting for the
  // client as HttpOptions::websocket_queue_bytes allows; on_drained() follows.
  bool send(std::string text);

  // Closes after what was sent before. May be called from any thread.
  void close(int code = 1000, std::string reason = {});

  // For the server: what send() and close() go to.
  void attach(std::shared_ptr<WebSocketLink> link);

 private:
  std::shared_ptr<WebSocketLink> link();

  std::mutex mutex_;
  std::shared_ptr<WebSocketLink> link_;
};

}  // namespace clew::server

// A connection after its upgrade to the WebSocket protocol.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "server/http_io.hpp"
#include "server/http_message.hpp"
#include "server/http_websocket.hpp"

namespace clew::server {

class WebSocketConnection : public IoConnection,
                            public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(std::shared_ptr<ServerContext> server, IoThread& io,
                      boost::asio::ip::tcp::socket socket,
                      std::shared_ptr<WebSocketSession> session);
  ~WebSocketConnection() override;

  // Answers the request that asked for the upgrade and begins to read.
  void start(const Request& request);

  void tick(Clock::time_point now) override;
  void begin_stop() override;
  void close() override;

 private:
  class Link;
  struct Wire;

  void accepted();
  void read();
  void take_message();
  void pump();
  void message_was_sent();
  void end_session();
  void shut(int code, const std::string& reason);
  template <class Call>
  void call_session(Call call);

  const std::shared_ptr<ServerContext> server_;
  IoThread& io_;
  const std::shared_ptr<WebSocketSession> session_;
  const std::shared_ptr<SerialQueue> calls_;  // of the session's methods
  const std::unique_ptr<Wire> wire_;
  std::shared_ptr<Link> link_;
  std::string sending_;
  bool is_open_ = false;
  bool is_sending_ = false;
  bool is_shut_ = false;
  bool is_closed_ = false;
  Clock::time_point write_deadline_ = Clock::time_point::max();
};

}  // namespace clew::server

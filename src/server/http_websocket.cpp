#include "server/http_websocket.hpp"

#include <utility>

namespace clew::server {

bool WebSocketSession::send(std::string text) {
  const std::shared_ptr<WebSocketLink> to = link();
  return to && to->send(std::move(text));
}

void WebSocketSession::close(int code, std::string reason) {
  if (const std::shared_ptr<WebSocketLink> to = link()) to->close(code, std::move(reason));
}

void WebSocketSession::attach(std::shared_ptr<WebSocketLink> link) {
  const std::lock_guard lock(mutex_);
  link_ = std::move(link);
}

std::shared_ptr<WebSocketLink> WebSocketSession::link() {
  const std::lock_guard lock(mutex_);
  return link_;
}

}  // namespace clew::server

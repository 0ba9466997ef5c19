// From a request to its response: routing, middleware, handler, errors, CORS.
//
// All methods may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "server/http_message.hpp"
#include "server/http_router.hpp"
#include "server/http_server.hpp"
#include "server/http_websocket.hpp"

namespace clew::server {

class Dispatcher {
 public:
  Dispatcher(Router router, HttpOptions options)
      : router_(std::move(router)), options_(std::move(options)) {}

  const HttpOptions& options() const noexcept { return options_; }
  const Router& router() const noexcept { return router_; }

  // How large the body of a request with this method and target may be.
  std::size_t body_limit(const Request& request) const;

  // Gives the request its id.
  void identify(Request& request) const;

  struct Resolved {
    const Route* route = nullptr;
    std::optional<Response> answer{};  // known without asking a handler
  };

  // Fills in what the target and the headers say: id, path, parameters.
  Resolved resolve(Request& request) const;

  bool runs_inline(const Route& route, const Request& request) const noexcept;

  // Asks middleware and handler. Never throws: a failure is a response too.
  Response run(const Route& route, Request& request) const noexcept;

  struct Upgrade {
    std::shared_ptr<WebSocketSession> session;  // null: refused
    Response refusal;
  };
  Upgrade open_websocket(const Route& route, Request& request) const noexcept;

  // What every response gets: CORS, the request's id.
  void complete(const Request& request, Response& response) const;

  // Runs `call`; what it throws is reported under `request_id`. Returns whether it threw nothing.
  bool attempt(std::string_view request_id, const std::function<void()>& call) const noexcept;

 private:
  Response answer(const Route& route, Request& request) const;
  std::optional<Response> ask_middleware(const Route& route, Request& request) const;
  void report(std::string_view request_id, std::string_view what) const noexcept;

  const Router router_;
  const HttpOptions options_;
};

}  // namespace clew::server

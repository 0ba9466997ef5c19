// Which handler answers which request.
//
//   Router router;
//   router.add("GET", "/threads/{thread_id}/runs/{run_id}", get_run);
//
// A pattern is a path whose segments are fixed text or a {name} that stands for
// one segment that is not empty; fixed text wins over a name, whatever the order of adding.
// Segments are compared after percent-decoding, so an encoded slash is part of
// its segment. HEAD is answered by GET's handler. A path with one slash too many at
// its end is redirected (307) to the one without.
//
// Routes are added before the server starts; finding is const and may be done
// from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.hpp"

namespace clew::server {

class WebSocketSession;

using Handler = std::function<Response(Request&)>;

// Makes the session of a new connection; throws HttpError to refuse it.
using WebSocketHandler = std::function<std::shared_ptr<WebSocketSession>(Request&)>;

struct RouteOptions {
  // The middleware (authentication) is not asked.
  bool is_public = false;

  // Without a query the handler is trivial, never waits and does not stream: then it
  // runs on the io thread.
  bool runs_inline = false;

  // Larger bodies are refused (413). Default: HttpOptions::max_body_bytes.
  std::optional<std::size_t> max_body_bytes{};
};

struct Route {
  std::string method;   // "GET"; for a WebSocket "GET" too
  std::string pattern;  // "/threads/{thread_id}"
  RouteOptions options;
  Handler handler;             // null for a WebSocket
  WebSocketHandler websocket;  // null for the others
};

class Router {
 public:
  Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;
  ~Router();

  // Throws Error if the pattern is malformed or already taken for `method`.
  void add(std::string method, std::string pattern, Handler handler, RouteOptions options = {});

  // Answers GET requests that ask for an upgrade; GET without one may have a route of its own.
  void add_websocket(std::string pattern, WebSocketHandler handler, RouteOptions options = {});

  // In the order of adding.
  std::vector<const Route*> routes() const;

  struct Match {
    const Route* route = nullptr;  // null: see the others
    Parameters path_parameters;
    std::string allow;     // the path exists, for these methods: "GET, HEAD, POST"
    std::string redirect;  // the encoded path without the slash at its end
  };

  // `path` is still percent-encoded. Throws HttpError 400 if an escape is malformed.
  Match find(std::string_view method, std::string_view path, bool wants_websocket) const;

 private:
  struct Node;
  struct Slot;

  void insert(std::unique_ptr<Route> route);

  std::vector<std::unique_ptr<Route>> routes_;
  std::unique_ptr<Node> root_;
};

}  // namespace clew::server

// The listening server. http.hpp shows its use.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.hpp"
#include "server/http_router.hpp"

namespace clew::server {

// Lets pages of other origins call the server.
struct CorsOptions {
  // "https://app.example", or "*" for any.
  std::vector<std::string> allowed_origins{};

  // Cookies and the like may come along; then no answer says "*".
  bool allow_credentials = false;

  // Request headers a page may send. Empty: those it asks for.
  std::vector<std::string> allowed_headers{};

  // Response headers a page may read.
  std::vector<std::string> exposed_headers = {"x-pagination-total", "x-pagination-next",
                                              "content-location", "location"};

  std::chrono::seconds max_age{600};
};

// One request that was answered, without its payload.
struct AccessRecord {
  const Request& request;  // headers and body are gone when a stream ends
  std::string_view route;  // the pattern; empty when there was none
  int status;
  std::uint64_t bytes_sent;
  std::chrono::microseconds duration;  // of a stream: until its end
};

// {"time":...,"level":"info","message":"request","request_id":...,"method":...,"path":...,...}
// The query is left out: it may hold secrets.
std::string access_log_line(const AccessRecord& record);

// Called on a worker thread before the handler of every route, WebSockets
// included, that is not public. Says who calls in Request::caller, or throws
// HttpError; a response answers in the handler's place.
using Middleware = std::function<std::optional<Response>(Request&)>;

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address or a name
  std::uint16_t port = 0;          // 0: any free one; see HttpServer::port()
  // If the port is taken, so many that follow it are tried.
  std::uint16_t further_ports = 0;

  Middleware middleware{};            // null: everything is open
  std::optional<CorsOptions> cors{};  // nothing: pages of other origins are refused by browsers

  // Called from io threads, so it must be quick and not throw.
  std::function<void(const AccessRecord&)> on_access{};

  // What a handler threw that was not an HttpError. Called from worker threads; must not throw.
  std::function<void(std::string_view request_id, std::string_view what)> on_error{};

  // Limits. Larger: 413, 431, and for one connection too many 503 with Retry-After.
  std::size_t max_body_bytes = std::size_t{32} << 20;
  std::size_t max_header_bytes = std::size_t{32} << 10;
  std::size_t max_connections = 10'000;
  std::size_t websocket_message_bytes = std::size_t{8} << 20;
  std::size_t websocket_queue_bytes = std::size_t{1} << 20;

  // Slow clients get 408, or are closed where that would help nobody.
  std::chrono::milliseconds header_timeout{15'000};  // for the whole head of a request
  std::chrono::milliseconds body_timeout{30'000};    // for every 64 KiB of a body
  std::chrono::milliseconds write_timeout{30'000};   // without any byte taken
  std::chrono::milliseconds idle_timeout{75'000};    // between requests

  // Threads. Workers are started when they are needed.
  std::size_t io_threads = 2;
  std::size_t worker_threads = 32;
};

class HttpServer {
 public:
  HttpServer(Router router, HttpOptions options);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();  // stops without grace

  // Listens and returns. Throws Error if the address cannot be listened on.
  void start();

  // The port that is listened on, after start().
  std::uint16_t port() const;

  // Stops listening; lets requests in flight end; ends streams (StreamCut::server_stopped)
  // and WebSockets (1001) cleanly; closes idle connections. What is still open
  // after `grace` is closed. Waits for handlers that run, which should look at
  // Request::disconnected if they take long. May be called again, but not by a handler.
  void stop(std::chrono::milliseconds grace);

  // How many connections are open now.
  std::size_t connections() const;

  const Router& router() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace clew::server

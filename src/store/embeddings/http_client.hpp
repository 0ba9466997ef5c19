// HTTP requests that block. libcurl does the work; whoever calls need not know of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <clew/error.hpp>

namespace clew::embeddings {

struct HttpOptions {
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds connect_timeout{10'000};
  std::string proxy = {};  // empty: that of the environment

  // A longer answer is given up: the endpoint is not what it should be.
  std::size_t max_bytes = std::size_t{256} << 20;
};

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
};

struct HttpResponse {
  int status = 0;
  std::string body;
  // How long to wait before the next request, if the server says so.
  std::optional<std::chrono::milliseconds> retry_after = {};
  // Where a redirect leads; it is not followed.
  std::string location = {};
};

// No answer, or not all of it. The text names host and port, and no secret.
class HttpError : public Error {
 public:
  HttpError(const std::string& message, bool temporary) : Error(message), temporary_(temporary) {}

  // Whether the same request may succeed later.
  bool is_temporary() const noexcept { return temporary_; }

 private:
  bool temporary_;
};

// "host:port" of an http or https URL. Throws ValueError for any other text.
std::string endpoint_of(const std::string& url);

// May be used from any thread. Connections are kept for later requests.
class HttpClient {
 public:
  explicit HttpClient(HttpOptions options);
  ~HttpClient();

  // The answer, whatever its status. Throws HttpError; also, soon, when `stop`
  // is requested.
  HttpResponse post(const HttpRequest& request, const std::stop_token& stop = {});

 private:
  struct Connection;

  std::unique_ptr<Connection> take_connection();
  void keep(std::unique_ptr<Connection> connection);

  const HttpOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
};

}  // namespace clew::embeddings

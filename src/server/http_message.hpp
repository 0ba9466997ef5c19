// Requests and responses, as handlers see them.
//
//   Response get_run(Request& request) {
//     const std::string& id = request.path_parameters.at("run_id");
//     if (!known(id)) throw HttpError(404, "Run not found");
//     return json_response({{"run_id", id}});
//   }
//
// These are plain values: each belongs to one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <clew/value.hpp>

#include "server/caller.hpp"
#include "server/service_error.hpp"

namespace clew::server {

class StreamSource;

using NamedText = std::pair<std::string, std::string>;

// Path or query parameters: percent-decoded UTF-8 without NUL, in the order of
// the request; a name may occur more than once.
class Parameters {
 public:
  Parameters() = default;
  Parameters(std::initializer_list<NamedText> entries) : entries_(entries) {}

  void add(std::string name, std::string value) {
    entries_.emplace_back(std::move(name), std::move(value));
  }

  // The first value of `name`; null if there is none.
  const std::string* find(std::string_view name) const;

  // The first value of `name`. Throws HttpError 422 that names what is missing.
  const std::string& at(std::string_view name) const;

  // The first value of `name`, or `otherwise`.
  std::string get(std::string_view name, std::string_view otherwise) const;

  std::vector<std::string> all(std::string_view name) const;

  bool empty() const noexcept { return entries_.empty(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<NamedText> entries_;
};

// Header fields in the order of the message. Names compare without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<NamedText> entries) : entries_(entries) {}

  void add(std::string name, std::string value) {
    entries_.emplace_back(std::move(name), std::move(value));
  }

  // The first value of `name`; null if there is none.
  const std::string* find(std::string_view name) const;

  std::size_t count(std::string_view name) const;

  // Whether `name` is a comma separated list that has `token`, without regard to case.
  bool has_token(std::string_view name, std::string_view token) const;

  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<NamedText> entries_;
};

struct Request {
  std::string method;  // upper case, as sent
  std::string path;    // percent-decoded, without the query
  std::string target;  // path and query as they were sent
  Parameters path_parameters;
  Parameters query;  // `+` is a space
  Headers headers;
  std::string body;

  // Names the request in logs: x-request-id if it was sent and is printable, else a new id.
  std::string id;

  std::string remote_address;  // without the port

  Caller caller;  // whom the middleware let in

  // Set when the client goes away. A client that only closes its sending side
  // looks the same, so the response is sent all the same. Callbacks run on the
  // io thread: they must be quick.
  std::stop_token disconnected;
};

// What a stream sends when it was silent for a while, so that proxies and
// clients do not give it up.
struct Heartbeat {
  std::string text = ": heartbeat\r\n\r\n";
  std::chrono::milliseconds after{5000};  // zero: never
};

struct Response {
  int status = 200;
  std::vector<NamedText> headers{};  // Content-Length, Date and the like are added on the way out
  std::string body{};

  // If set, `body` is only the beginning: the source is asked for the rest,
  // which goes out in chunks.
  std::shared_ptr<StreamSource> stream{};
  Heartbeat heartbeat{};

  // A stream of which a part is worth nothing, as of a JSON text: if the server
  // stops before its source ends, the client sees that it was broken off.
  bool is_all_or_nothing = false;
};

// `value` as application/json.
Response json_response(const Value& value, int status = 200);

Response empty_response(int status = 204);

Response text_response(std::string text, std::string content_type = "text/plain; charset=utf-8",
                       int status = 200);

// {"detail": detail}
Response error_response(int status, std::string_view detail);

// Handlers and middleware throw it, or another ServiceError, to answer with
// {"detail": ...}. Everything else that they throw becomes 500 "Internal Server
// Error" and is reported to HttpOptions::on_error.
class HttpError : public ServiceError {
 public:
  HttpError(int status, std::string detail, std::vector<NamedText> headers = {})
      : ServiceError(status, std::move(detail)), headers_(std::move(headers)) {}

  Response response() const;

 private:
  std::vector<NamedText> headers_;
};

// "Not Found" for 404 and so on; "Unknown" for a status without a name.
std::string_view reason_phrase(int status);

}  // namespace clew::server

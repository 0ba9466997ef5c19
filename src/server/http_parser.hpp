// Reads one request from the bytes of a connection, strictly: what two readers
// of HTTP could understand in two ways is refused.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "server/http_message.hpp"

namespace clew::server {

class RequestParser {
 public:
  // Called when the head is complete; returns how many bytes the body may have.
  using BodyLimit = std::function<std::size_t(const Request&)>;

  RequestParser(std::size_t max_header_bytes, BodyLimit body_limit);
  ~RequestParser();

  // Takes bytes and returns how many it used. The others are the beginning of
  // something and are to be passed again with what follows them; if done(),
  // they belong to the next request. Throws HttpError; the connection is then
  // of no further use.
  std::size_t feed(std::string_view bytes);

  // Whether anything of the request has come.
  bool begun() const;
  bool header_done() const;
  bool done() const;

  // The following are known when the head is.
  bool keep_alive() const;
  bool is_http_1_0() const;
  bool expects_continue() const;

  // The request, complete when done(): method, target, headers and body are set.
  Request& request();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace clew::server

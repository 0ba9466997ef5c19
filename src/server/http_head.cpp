#include "server/http_head.hpp"

#include <time.h>

#include <array>
#include <charconv>
#include <ctime>

namespace clew::server {
namespace {

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

// "Sun, 06 Nov 1994 08:49:37 GMT". Made once a second and thread, because making it costs
// more than all the rest of a head.
std::string_view http_date() {
  thread_local std::time_t made_at = -1;
  thread_local std::array<char, 32> text;
  thread_local std::size_t size = 0;
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    made_at = now;
  }
  return {text.data(), size};
}

}  // namespace

std::string response_head(const Response& response, const HeadOptions& options) {
  std::string head;
  head.reserve(320);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head.append(reason_phrase(response.status)).append("\r\n");
  for (const auto& [name, value] : response.headers) append_field(head, name, value);
  append_field(head, "date", http_date());
  if (options.content_length) {
    append_field(head, "content-length", std::to_string(*options.content_length));
  }
  if (options.is_chunked) append_field(head, "transfer-encoding", "chunked");
  if (!options.keep_alive) {
    append_field(head, "connection", "close");
  } else if (options.is_http_1_0) {
    append_field(head, "connection", "keep-alive");
  }
  head.append("\r\n");
  return head;
}

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string chunk_begin(std::size_t size) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), size, 16).ptr;
  return std::string(digits.data(), end).append("\r\n");
}

}  // namespace clew::server

#include "server/http_parser.hpp"

// Boost 1.74 misses this include.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "server/http_text.hpp"

namespace clew::server {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

// Fields of which a second one would mean that somebody reads another message than we do.
constexpr std::array<std::string_view, 7> kSingle = {
    "host",          "content-length", "content-type", "transfer-encoding",
    "authorization", "x-api-key",      "expect"};

constexpr std::size_t kMaxFields = 256;

std::string_view view(string_view text) { return {text.data(), text.size()}; }

[[noreturn]] void refuse(error_code ec) {
  if (ec == http::error::header_limit) throw HttpError(431, "Request header is too large");
  if (ec == http::error::body_limit) throw HttpError(413, "Request body is too large");
  if (ec == http::error::bad_version) throw HttpError(505, "HTTP/1.1 is spoken here");
  throw HttpError(400, "Malformed HTTP request");
}

}  // namespace

class RequestParser::Reader : public http::basic_parser<true> {
 public:
  Reader(std::size_t max_header_bytes, BodyLimit limit)
      : max_header_bytes_(max_header_bytes), limit_(std::move(limit)) {
    header_limit(static_cast<std::uint32_t>(
        std::min<std::size_t>(max_header_bytes, std::numeric_limits<std::uint32_t>::max())));
    // Bodies are counted here, because their limit depends on the route.
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  std::size_t feed(std::string_view bytes) {
    std::size_t used = skip_empty_lines(bytes);
    while (used < bytes.size() && !is_done()) {
      const std::size_t taken = put_some(bytes.substr(used));
      used += taken;
      if (taken == 0) break;
    }
    limit_remainder(bytes.size() - used);
    return used;
  }

  bool expects_continue() const { return expects_continue_; }
  bool is_http_1_0() const { return version_ == 10; }
  Request& request() { return request_; }

 private:
  // Some clients end a body with a line that they do not count.
  std::size_t skip_empty_lines(std::string_view bytes) const {
    std::size_t used = 0;
    while (!got_some() && bytes.substr(used).starts_with("\r\n")) used += 2;
    return used;
  }

  std::size_t put_some(std::string_view bytes) {
    const bool was_header = !is_header_done();
    error_code ec;
    const std::size_t taken = put({bytes.data(), bytes.size()}, ec);
    if (ec && ec != http::error::need_more) refuse(ec);
    if (was_header) {
      header_bytes_ += taken;
      if (header_bytes_ > max_header_bytes_) refuse(http::error::header_limit);
      if (is_header_done()) check_header();
    }
    return taken;
  }

  // Without an end of line the parser would wait for ever more of it.
  void limit_remainder(std::size_t bytes) const {
    if (is_done() || bytes <= max_header_bytes_) return;
    if (!is_header_done()) refuse(http::error::header_limit);
    throw HttpError(400, "Malformed HTTP request");
  }

  void check_header() {
    eager(true);
    for (const std::string_view name : kSingle) {
      if (request_.headers.count(name) > 1) {
        throw HttpError(400, "Header '" + std::string(name) + "' is given twice");
      }
    }
    if (!is_http_1_0() && request_.headers.find("host") == nullptr) {
      throw HttpError(400, "Header 'host' is missing");
    }
    check_transfer_encoding();
    check_expectation();
    check_length();
  }

  void check_transfer_encoding() const {
    const std::string* encoding = request_.headers.find("transfer-encoding");
    if (encoding == nullptr) return;
    if (is_http_1_0()) throw HttpError(400, "HTTP/1.0 has no transfer encodings");
    if (!equals_ignoring_case(*encoding, "chunked")) {
      throw HttpError(501, "The only transfer encoding is 'chunked'");
    }
  }

  void check_expectation() {
    const std::string* expect = request_.headers.find("expect");
    if (expect == nullptr || is_http_1_0()) return;
    if (!equals_ignoring_case(*expect, "100-continue")) {
      throw HttpError(417, "The only expectation is '100-continue'");
    }
    expects_continue_ = true;
  }

  void check_length() {
    const auto length = content_length();
    if (!length && !chunked()) return;
    max_body_bytes_ = limit_(request_);
    if (!length) return;
    if (*length > max_body_bytes_) refuse(http::error::body_limit);
    // What a client only claims is not worth more memory than this.
    constexpr std::uint64_t kFirst = std::uint64_t{64} << 10;
    request_.body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(*length, kFirst)));
  }

  std::size_t append_body(string_view bytes, error_code& ec) {
    if (bytes.size() > max_body_bytes_ - request_.body.size()) {
      ec = http::error::body_limit;
      return 0;
    }
    request_.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  void on_request_impl(http::verb, string_view method, string_view target, int version,
                       error_code&) override {
    request_.method = view(method);
    request_.target = view(target);
    version_ = version;
  }

  void on_field_impl(http::field, string_view name, string_view value, error_code& ec) override {
    // What follows a chunked body must not pass for a part of the head.
    if (is_header_done()) return;
    if (++fields_ > kMaxFields) {
      ec = http::error::header_limit;
    } else if (!is_header_value(view(value))) {
      ec = http::error::bad_value;
    } else {
      request_.headers.add(std::string(view(name)), std::string(view(value)));
    }
  }

  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code& ec) override {
    return append_body(body, ec);
  }
  void on_chunk_header_impl(std::uint64_t size, string_view, error_code& ec) override {
    if (size > max_body_bytes_ - request_.body.size()) ec = http::error::body_limit;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& ec) override {
    return append_body(body, ec);
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_finish_impl(error_code&) override {}

  const std::size_t max_header_bytes_;
  const BodyLimit limit_;
  Request request_;
  int version_ = 11;
  std::size_t header_bytes_ = 0;
  std::size_t fields_ = 0;
  std::size_t max_body_bytes_ = 0;
  bool expects_continue_ = false;
};

RequestParser::RequestParser(std::size_t max_header_bytes, BodyLimit body_limit)
    : reader_(std::make_unique<Reader>(max_header_bytes, std::move(body_limit))) {}
RequestParser::~RequestParser() = default;

std::size_t RequestParser::feed(std::string_view bytes) { return reader_->feed(bytes); }
bool RequestParser::begun() const { return reader_->got_some(); }
bool RequestParser::header_done() const { return reader_->is_header_done(); }
bool RequestParser::done() const { return reader_->is_done(); }
bool RequestParser::keep_alive() const { return reader_->keep_alive(); }
bool RequestParser::is_http_1_0() const { return reader_->is_http_1_0(); }
bool RequestParser::expects_continue() const { return reader_->expects_continue(); }
Request& RequestParser::request() { return reader_->request(); }

}  // namespace clew::server

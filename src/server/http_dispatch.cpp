#include "server/http_dispatch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <utility>

#include "server/http_cors.hpp"
#include "server/http_text.hpp"
#include "server/http_url.hpp"
#include "value/random.hpp"

namespace clew::server {
namespace {

bool wants_websocket(const Request& request) {
  return request.headers.has_token("connection", "upgrade") &&
         request.headers.has_token("upgrade", "websocket");
}

std::string new_request_id() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id(32, '0');
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t bits = internal::random_bits();
    for (std::size_t i = 0; i < 16; ++i, bits >>= 4) id[half * 16 + i] = kDigits[bits & 15];
  }
  return id;
}

Response redirect_response(std::string path, std::string_view query) {
  if (!query.empty()) path.append("?").append(query);
  Response response = empty_response(307);
  response.headers.emplace_back("location", std::move(path));
  return response;
}

Response options_response(std::string allow) {
  Response response = empty_response(204);
  response.headers.emplace_back("allow", "OPTIONS, " + std::move(allow));
  return response;
}

bool may_be_sent(const Response& response) {
  return std::all_of(response.headers.begin(), response.headers.end(), [](const NamedText& header) {
    return is_plain_token(header.first) && is_header_value(header.second);
  });
}

Response internal_error() { return error_response(500, "Internal Server Error"); }

}  // namespace

std::size_t Dispatcher::body_limit(const Request& request) const {
  try {
    const std::string_view path = split_target(request.target).path;
    const Router::Match match = router_.find(request.method, path, false);
    if (match.route && match.route->options.max_body_bytes) {
      return *match.route->options.max_body_bytes;
    }
  } catch (const HttpError&) {
    // resolve() answers it, when the body is read.
  }
  return options_.max_body_bytes;
}

void Dispatcher::identify(Request& request) const {
  const std::string* sent = request.headers.find("x-request-id");
  request.id = sent != nullptr && is_plain_token(*sent) ? *sent : new_request_id();
}

Dispatcher::Resolved Dispatcher::resolve(Request& request) const {
  identify(request);
  try {
    if (options_.cors) {
      if (auto answer = preflight_response(*options_.cors, request)) return {nullptr, answer};
    }
    if (request.method == "OPTIONS" && request.target == "*") return {nullptr, empty_response()};

    const Target target = split_target(request.target);
    request.path = percent_decode(target.path);
    request.query = parse_query(target.query);
    Router::Match match = router_.find(request.method, target.path, wants_websocket(request));
    request.path_parameters = std::move(match.path_parameters);
    if (match.route != nullptr) return {match.route, std::nullopt};
    if (!match.redirect.empty()) {
      return {nullptr, redirect_response(std::move(match.redirect), target.query)};
    }
    if (match.allow.empty()) return {nullptr, error_response(404, "Not Found")};
    if (request.method == "OPTIONS") return {nullptr, options_response(std::move(match.allow))};
    throw HttpError(405, "Method Not Allowed", {{"allow", std::move(match.allow)}});
  } catch (const HttpError& error) {
    return {nullptr, error.response()};
  }
}

bool Dispatcher::runs_inline(const Route& route, const Request& request) const noexcept {
  return route.options.runs_inline && request.query.empty() &&
         (route.options.is_public || !options_.middleware);
}

Response Dispatcher::run(const Route& route, Request& request) const noexcept {
  Response response = internal_error();
  attempt(request.id, [&] { response = answer(route, request); });
  return response;
}

Response Dispatcher::answer(const Route& route, Request& request) const {
  try {
    if (std::optional<Response> answer = ask_middleware(route, request)) return std::move(*answer);
    return route.handler(request);
  } catch (const HttpError& error) {
    return error.response();
  } catch (const ServiceError& error) {
    return error_response(error.status(), error.detail());
  }
}

std::optional<Response> Dispatcher::ask_middleware(const Route& route, Request& request) const {
  if (route.options.is_public || !options_.middleware) return std::nullopt;
  return options_.middleware(request);
}

Dispatcher::Upgrade Dispatcher::open_websocket(const Route& route,
                                               Request& request) const noexcept {
  Upgrade upgrade{.session = nullptr, .refusal = internal_error()};
  attempt(request.id, [&] {
    try {
      if (!comes_from_allowed_page(options_.cors, request)) {
        throw HttpError(403, "Origin is not allowed");
      }
      if (std::optional<Response> answer = ask_middleware(route, request)) {
        upgrade.refusal = std::move(*answer);
      } else {
        upgrade.session = route.websocket(request);
      }
    } catch (const HttpError& error) {
      upgrade.refusal = error.response();
    } catch (const ServiceError& error) {
      upgrade.refusal = error_response(error.status(), error.detail());
    }
  });
  return upgrade;
}

bool Dispatcher::attempt(std::string_view request_id,
                         const std::function<void()>& call) const noexcept {
  try {
    call();
    return true;
  } catch (const std::exception& error) {
    report(request_id, error.what());
  } catch (...) {
    report(request_id, "what was thrown is no std::exception");
  }
  return false;
}

void Dispatcher::complete(const Request& request, Response& response) const {
  if (!may_be_sent(response)) {
    report(request.id, "a response header has a line break or a control character");
    response = internal_error();
  }
  const bool is_preflight = request.method == "OPTIONS" && response.status == 200;
  if (options_.cors && !is_preflight) add_cors_headers(*options_.cors, request, response);
  if (!request.id.empty()) response.headers.emplace_back("x-request-id", request.id);
}

void Dispatcher::report(std::string_view request_id, std::string_view what) const noexcept {
  if (options_.on_error) options_.on_error(request_id, what);
}

}  // namespace clew::server

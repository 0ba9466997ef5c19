#include "server/http_cors.hpp"

#include <algorithm>

#include "server/http_text.hpp"
#include "value/joined.hpp"

namespace clew::server {
namespace {

constexpr std::string_view kMethods = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";
constexpr std::string_view kPreflightVary =
    "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

bool allows_any(const CorsOptions& options) {
  const auto& origins = options.allowed_origins;
  return std::find(origins.begin(), origins.end(), "*") != origins.end();
}

bool allows(const CorsOptions& options, std::string_view origin) {
  const auto& origins = options.allowed_origins;
  return allows_any(options) || std::find(origins.begin(), origins.end(), origin) != origins.end();
}

void allow_origin(const CorsOptions& options, const std::string& origin, Response& response) {
  const bool anyone = allows_any(options) && !options.allow_credentials;
  response.headers.emplace_back("access-control-allow-origin", anyone ? "*" : origin);
  if (options.allow_credentials) {
    response.headers.emplace_back("access-control-allow-credentials", "true");
  }
}

std::string allowed_headers(const CorsOptions& options, const Request& request) {
  if (!options.allowed_headers.empty()) return internal::joined(options.allowed_headers, ", ");
  const std::string* asked = request.headers.find("access-control-request-headers");
  return asked != nullptr ? *asked : std::string();
}

}  // namespace

std::optional<Response> preflight_response(const CorsOptions& options, const Request& request) {
  const std::string* origin = request.headers.find("origin");
  if (request.method != "OPTIONS" || origin == nullptr ||
      request.headers.find("access-control-request-method") == nullptr) {
    return std::nullopt;
  }
  const bool allowed = allows(options, *origin);
  Response response = text_response(allowed ? "OK" : "Disallowed CORS origin",
                                    "text/plain; charset=utf-8", allowed ? 200 : 400);
  response.headers.emplace_back("vary", kPreflightVary);
  if (!allowed) return response;
  allow_origin(options, *origin, response);
  response.headers.emplace_back("access-control-allow-methods", kMethods);
  response.headers.emplace_back("access-control-max-age", std::to_string(options.max_age.count()));
  const std::string headers = allowed_headers(options, request);
  if (!headers.empty()) response.headers.emplace_back("access-control-allow-headers", headers);
  return response;
}

void add_cors_headers(const CorsOptions& options, const Request& request, Response& response) {
  response.headers.emplace_back("vary", "Origin");
  const std::string* origin = request.headers.find("origin");
  if (origin == nullptr || !allows(options, *origin)) return;
  allow_origin(options, *origin, response);
  if (!options.exposed_headers.empty()) {
    response.headers.emplace_back("access-control-expose-headers",
                                  internal::joined(options.exposed_headers, ", "));
  }
}

bool comes_from_allowed_page(const std::optional<CorsOptions>& options, const Request& request) {
  const std::string* origin = request.headers.find("origin");
  if (origin == nullptr) return true;
  const std::string* host = request.headers.find("host");
  const std::size_t scheme_end = origin->find("://");
  if (host != nullptr && scheme_end != std::string::npos &&
      equals_ignoring_case(std::string_view(*origin).substr(scheme_end + 3), *host)) {
    return true;
  }
  return options && allows(*options, *origin);
}

}  // namespace clew::server

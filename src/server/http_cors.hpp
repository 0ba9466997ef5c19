// Which pages of other origins may call the server, and what they may see.
#pragma once

#include <optional>

#include "server/http_message.hpp"
#include "server/http_server.hpp"

namespace clew::server {

// The answer to a browser that asks before it sends the real request; nothing
// if `request` is no such question.
std::optional<Response> preflight_response(const CorsOptions& options, const Request& request);

// Adds what lets the page that sent `request` read the response.
void add_cors_headers(const CorsOptions& options, const Request& request, Response& response);

// Whether the page that `request` comes from may have it answered: WebSockets and
// simple requests are sent by browsers without asking first, so the server must
// look. Programs send no Origin and may.
bool comes_from_allowed_page(const std::optional<CorsOptions>& options, const Request& request);

}  // namespace clew::server

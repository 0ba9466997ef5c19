// Reading request targets: percent escapes, paths and queries.
//
// All functions may be called from any thread and throw HttpError 400 on text
// that is malformed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.hpp"

namespace clew::server {

enum class Plus { literal, space };

// `text` with %XX replaced by its byte. The result is UTF-8 without NUL, or it is refused.
std::string percent_decode(std::string_view text, Plus plus = Plus::literal);

// The pairs of "a=1&b=x+y". A name without `=` has an empty value; empty pairs are left out.
Parameters parse_query(std::string_view query);

struct Target {
  std::string_view path;   // still encoded, begins with a slash
  std::string_view query;  // still encoded, without the question mark
};

// Splits "/path?query" and "http://host/path?query". The views are into `target`.
Target split_target(std::string_view target);

// The decoded segments of an encoded path: "/a/b%2Fc" is "a", "b/c"; "/" is
// one empty segment and "/a/" ends in one.
std::vector<std::string> path_segments(std::string_view path);

}  // namespace clew::server

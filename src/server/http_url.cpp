#include "server/http_url.hpp"

#include <algorithm>
#include <cstddef>

#include "value/utf8.hpp"

namespace clew::server {
namespace {

[[noreturn]] void refuse(const char* detail) { throw HttpError(400, detail); }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char escaped_byte(std::string_view text, std::size_t percent) {
  if (text.size() - percent < 3) refuse("Malformed percent escape in the URL");
  const int high = hex_digit(text[percent + 1]);
  const int low = hex_digit(text[percent + 2]);
  if (high < 0 || low < 0) refuse("Malformed percent escape in the URL");
  return static_cast<char>(high * 16 + low);
}

bool is_http_scheme(std::string_view scheme) {
  std::string lower(scheme);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return lower == "http" || lower == "https";
}

// Proxies send the whole URL; what follows the host is what counts.
std::string_view without_origin(std::string_view target) {
  const std::size_t scheme_end = target.find("://");
  if (scheme_end == std::string_view::npos || !is_http_scheme(target.substr(0, scheme_end))) {
    refuse("The request target must begin with a slash");
  }
  const std::string_view rest = target.substr(scheme_end + 3);
  const std::size_t host_end = rest.find_first_of("/?");
  if (host_end == 0) refuse("The request target has no host");
  return host_end == std::string_view::npos ? std::string_view() : rest.substr(host_end);
}

}  // namespace

std::string percent_decode(std::string_view text, Plus plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      decoded += escaped_byte(text, i);
      i += 2;
    } else {
      decoded += text[i] == '+' && plus == Plus::space ? ' ' : text[i];
    }
  }
  if (decoded.find('\0') != std::string::npos) refuse("NUL in the URL");
  if (internal::find_invalid_utf8(decoded) != std::string_view::npos) {
    refuse("The URL is not UTF-8");
  }
  return decoded;
}

Parameters parse_query(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;

    const std::size_t equals = std::min(pair.find('='), pair.size());
    parameters.add(percent_decode(pair.substr(0, equals), Plus::space),
                   percent_decode(pair.substr(std::min(equals + 1, pair.size())), Plus::space));
  }
  return parameters;
}

Target split_target(std::string_view target) {
  // A fragment is not sent by clients that know what they do; it names nothing here.
  target = target.substr(0, target.find('#'));
  if (!target.starts_with('/')) target = without_origin(target);
  const std::size_t mark = std::min(target.find('?'), target.size());
  Target split{.path = target.substr(0, mark),
               .query = target.substr(std::min(mark + 1, target.size()))};
  if (split.path.empty()) split.path = "/";
  return split;
}

std::vector<std::string> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t end = path.find('/');
    segments.push_back(percent_decode(path.substr(0, end)));
    if (end == std::string_view::npos) return segments;
    path.remove_prefix(end + 1);
  }
}

}  // namespace clew::server

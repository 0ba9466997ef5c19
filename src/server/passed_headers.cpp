#include "server/passed_headers.hpp"

#include <algorithm>

#include "server/http_text.hpp"
#include "value/utf8.hpp"

namespace clew::server {
namespace {

bool names(const std::vector<std::string>& patterns, const std::string& header) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    if (!pattern.ends_with('*')) return pattern == header;
    return header != "authorization" && header.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

}  // namespace

Value passed_headers(const HttpConfig& config, const Headers& headers) {
  ObjectBuilder passed;
  for (const auto& [name, value] : headers) {
    const std::string key = lower_case(name);
    if (key == "x-api-key" || key.starts_with("__")) continue;
    if (internal::find_invalid_utf8(value) != std::string_view::npos) continue;
    if (names(config.configurable_headers, key) && !names(config.excluded_headers, key)) {
      passed.set(key, value);
    }
  }
  return std::move(passed).build();
}

}  // namespace clew::server

// What routes read from a request. What has the wrong shape is a ServiceError 422.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http.hpp"

namespace clew::server {

// The body; null if there is none.
Value json_body(const Request& request);

// true, false, 1, 0, yes, no.
std::optional<bool> query_flag(const Request& request, std::string_view name);
std::optional<std::int64_t> query_number(const Request& request, std::string_view name,
                                         std::int64_t least, std::int64_t most);

// The values of parameters of any of these names: "a", "a,b", ["a","b"] or repeated.
std::vector<std::string> query_names(const Request& request,
                                     std::initializer_list<std::string_view> parameters);

std::string header(const Request& request, std::string_view name);

}  // namespace clew::server

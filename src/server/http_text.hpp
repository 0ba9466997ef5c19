// Small questions about header text.
#pragma once

#include <string>
#include <string_view>

namespace clew::server {

// ASCII letters compare without regard to case, all else byte by byte.
bool equals_ignoring_case(std::string_view a, std::string_view b);

// With ASCII letters in lower case.
std::string lower_case(std::string_view text);

// Whether the comma separated `list` has `token`, without regard to case.
bool list_has_token(std::string_view list, std::string_view token);

// Printable ASCII without spaces, at most 128 characters, at least one: fit for logs and headers.
bool is_plain_token(std::string_view text);

// Whether `value` may stand in a header: no control characters but tab.
bool is_header_value(std::string_view value);

}  // namespace clew::server

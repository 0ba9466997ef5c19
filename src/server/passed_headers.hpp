// Headers of a request that its run sees in `configurable`.
#pragma once

#include "server/config.hpp"
#include "server/http_message.hpp"

namespace clew::server {

// {name in lower case: value} of those that the configuration names and does not
// exclude. Keys and tokens are for the server: x-api-key is never passed on,
// authorization only if it is named in full. What is not UTF-8 is left out.
Value passed_headers(const HttpConfig& config, const Headers& headers);

}  // namespace clew::server

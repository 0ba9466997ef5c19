// The OpenAPI document of the routes that a router has.
//
// What is particular to a route is in openapi/*.json, a file for each resource:
//
//   "PATCH /threads/{thread_id}": {
//     "summary": "Change a thread's metadata or time to live",
//     "headers": {"Prefer": {...schema...}},          also "query", "path"
//     "body": "ThreadPatch",
//     "answers": {"200": "Thread", "204": null},
//     "refuses": {"404": "No such thread"}
//   }
//
// A schema is written out, or is the name of one of "schemas"; within schemas,
// {"$ref": "Thread"} is enough. An answer is a schema, null for no content, "events"
// for a stream, or {media type: schema}. "pages" adds the headers of a search. What
// is the same for all routes (path parameters, tags, the errors that any route may
// answer, who may call) is added here.
#pragma once

#include <string>

#include <clew/value.hpp>

#include "server/http_router.hpp"

namespace clew::server {

struct OpenApiOptions {
  std::string version = {};  // of the server
  bool has_auth = false;     // callers need a key or a token, but for public routes
};

// Routes that openapi/ does not know are left out, as are WebSockets, for which
// OpenAPI has no words.
Value openapi_document(const Router& router, const OpenApiOptions& options);

}  // namespace clew::server

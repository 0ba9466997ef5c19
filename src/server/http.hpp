// The HTTP layer of the Agent Server: connections, limits, routing, streams and
// WebSockets. It knows nothing of graphs.
//
//   Router router;
//   router.add("GET", "/ok", [](Request&) { return json_response({{"ok", true}}); },
//              {.is_public = true, .runs_inline = true});
//   router.add("GET", "/threads/{thread_id}", [&](Request& request) {
//     return json_response(threads.get(request.path_parameters.at("thread_id")));
//   });
//   HttpServer server(std::move(router), {.port = 2024});
//   server.start();
//   ...
//   server.stop(std::chrono::seconds(10));
//
// A few io threads parse and write; handlers and stream sources run on worker
// threads and may wait for the disk, but not for a client or a graph.
#pragma once

#include "server/http_message.hpp"
#include "server/http_router.hpp"
#include "server/http_server.hpp"
#include "server/http_sse.hpp"
#include "server/http_stream.hpp"
#include "server/http_websocket.hpp"

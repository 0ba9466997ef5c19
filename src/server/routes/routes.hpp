// The routes of the Agent Server, a file for each resource: HTTP in, a service's
// call, HTTP out. What a route may be asked is in docs/server-api.md.
#pragma once

#include <functional>
#include <memory>

#include "server/agent_server.hpp"
#include "server/http.hpp"
#include "server/metrics.hpp"

namespace clew::server {

// The server must outlive the router.
void add_assistant_routes(Router& router, AgentServer& server);
void add_thread_routes(Router& router, AgentServer& server);
void add_run_routes(Router& router, AgentServer& server);
void add_cron_routes(Router& router, AgentServer& server);
void add_store_routes(Router& router, AgentServer& server);
void add_protocol_routes(Router& router, AgentServer& server);

// What the routes about the server itself need.
struct MetaParts {
  std::shared_ptr<Repository> repository;
  std::shared_ptr<Metrics> metrics;  // that HttpOptions::on_access counts in
  std::size_t workers = 0;           // ServiceOptions::workers
  std::function<std::size_t()> connections = [] { return std::size_t{0}; };  // open now
  bool has_auth = false;  // callers need a key or a token
};

// After all others: the OpenAPI document has the routes that are there by then.
void add_meta_routes(Router& router, AgentServer& server, const MetaParts& parts);

}  // namespace clew::server

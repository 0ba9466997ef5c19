// The routes of the Agent Server, a file for each resource: HTTP in, a service's
// call, HTTP out. What a route may be asked is in docs/server-api.md.
#pragma once

#include "server/agent_server.hpp"
#include "server/http.hpp"

namespace clew::server {

// The server must outlive the router.
void add_assistant_routes(Router& router, AgentServer& server);
void add_thread_routes(Router& router, AgentServer& server);
void add_run_routes(Router& router, AgentServer& server);
void add_cron_routes(Router& router, AgentServer& server);
void add_store_routes(Router& router, AgentServer& server);
void add_protocol_routes(Router& router, AgentServer& server);

}  // namespace clew::server

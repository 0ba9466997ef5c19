#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "server/routes/answers.hpp"
#include "server/routes/protocol_session.hpp"
#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"

namespace clew::server {
namespace {

const std::string& thread_id(const Request& request) {
  return request.path_parameters.at("thread_id");
}

Value protocol_body(const Request& request) {
  try {
    return parse_json(request.body);
  } catch (const SerdeError&) {
    throw ServiceError(400, "Invalid JSON body");
  }
}

// What is no command is refused in the form of the protocol.
Response command(AgentServer& server, Request& request) {
  const Value body = protocol_body(request);
  try {
    return json_response(server.protocol.command(request.caller, thread_id(request), body));
  } catch (const ServiceError& error) {
    return json_response(object({{"type", "error"},
                                 {"id", nullptr},
                                 {"error", "invalid_argument"},
                                 {"message", error.detail()}}),
                         error.status());
  }
}

Response events(AgentServer& server, Request& request) {
  const ProtocolFilter filter = ProtocolFilter::of(protocol_body(request));
  return event_response(server.protocol.stream(request.caller, thread_id(request), filter),
                        EventForm::protocol);
}

std::shared_ptr<WebSocketSession> open_session(AgentServer& server, Request& request) {
  const std::string id = server.protocol.checked_thread(request.caller, thread_id(request));
  return std::make_shared<ProtocolSession>(server.protocol, request.caller, id);
}

}  // namespace

void add_protocol_routes(Router& router, AgentServer& server) {
  router.add("POST", "/threads/{thread_id}/commands",
             [&](Request& request) { return command(server, request); });
  router.add("POST", "/threads/{thread_id}/stream/events",
             [&](Request& request) { return events(server, request); });
  router.add_websocket("/threads/{thread_id}/stream/events",
                       [&](Request& request) { return open_session(server, request); });
}

}  // namespace clew::server

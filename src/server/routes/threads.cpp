#include "server/routes/answers.hpp"
#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"

namespace clew::server {
namespace {

const std::string& thread_id(const Request& request) {
  return request.path_parameters.at("thread_id");
}

bool wants_subgraphs(const Request& request) {
  return query_flag(request, "subgraphs").value_or(false);
}

Response get_thread(AgentServer& server, Request& request) {
  bool include_ttl = false;
  for (const std::string& name : query_names(request, {"include"})) {
    if (name != "ttl") throw ServiceError(422, "Invalid include field: " + name);
    include_ttl = true;
  }
  return json_response(server.threads.get(request.caller, thread_id(request), include_ttl));
}

Response patch_thread(AgentServer& server, Request& request) {
  const Value thread = server.threads.patch(request.caller, thread_id(request), json_body(request));
  const bool is_minimal = header(request, "prefer") == "return=minimal";
  return is_minimal ? empty_response() : json_response(thread);
}

// GET has its parameters in the query, and shows one state unless it is asked for more.
Value history_query(const Request& request) {
  Value query = object({{"limit", query_number(request, "limit", 1, 1000).value_or(1)}});
  if (const std::string* before = request.query.find("before")) {
    query = query.set("before", object({{"checkpoint_id", *before}}));
  }
  return query;
}

Response thread_stream(AgentServer& server, Request& request) {
  return event_response(server.threads.stream(request.caller, thread_id(request),
                                              query_names(request, {"stream_modes", "stream_mode"}),
                                              header(request, "last-event-id")),
                        EventForm::with_id);
}

void add_state_routes(Router& router, ThreadService& threads) {
  router.add("GET", "/threads/{thread_id}/state", [&](Request& request) {
    return json_response(
        threads.state(request.caller, thread_id(request), "", wants_subgraphs(request)));
  });
  router.add("POST", "/threads/{thread_id}/state", [&](Request& request) {
    return json_response(
        threads.update_state(request.caller, thread_id(request), json_body(request)));
  });
  router.add("GET", "/threads/{thread_id}/state/{checkpoint_id}", [&](Request& request) {
    return json_response(threads.state(request.caller, thread_id(request),
                                       request.path_parameters.at("checkpoint_id"),
                                       wants_subgraphs(request)));
  });
  router.add("POST", "/threads/{thread_id}/state/checkpoint", [&](Request& request) {
    return json_response(threads.state_at(request.caller, thread_id(request), json_body(request)));
  });
  router.add("GET", "/threads/{thread_id}/history", [&](Request& request) {
    return json_response(
        threads.history(request.caller, thread_id(request), history_query(request)));
  });
  router.add("POST", "/threads/{thread_id}/history", [&](Request& request) {
    return json_response(threads.history(request.caller, thread_id(request), json_body(request)));
  });
}

}  // namespace

void add_thread_routes(Router& router, AgentServer& server) {
  ThreadService& threads = server.threads;
  router.add("POST", "/threads", [&](Request& request) {
    return json_response(threads.create(request.caller, json_body(request)));
  });
  router.add("POST", "/threads/search", [&](Request& request) {
    return listing_response(threads.search(request.caller, json_body(request)));
  });
  router.add("POST", "/threads/count", [&](Request& request) {
    return json_response(threads.count(request.caller, json_body(request)));
  });
  router.add("POST", "/threads/prune", [&](Request& request) {
    return json_response(threads.prune(request.caller, json_body(request)));
  });
  router.add("GET", "/threads/{thread_id}",
             [&](Request& request) { return get_thread(server, request); });
  router.add("PATCH", "/threads/{thread_id}",
             [&](Request& request) { return patch_thread(server, request); });
  router.add("DELETE", "/threads/{thread_id}", [&](Request& request) {
    threads.remove(request.caller, thread_id(request));
    return empty_response();
  });
  router.add("POST", "/threads/{thread_id}/copy", [&](Request& request) {
    return json_response(threads.copy(request.caller, thread_id(request)));
  });
  router.add("GET", "/threads/{thread_id}/storage", [&](Request& request) {
    return json_response(threads.storage(request.caller, thread_id(request)));
  });
  router.add("GET", "/threads/{thread_id}/stream",
             [&](Request& request) { return thread_stream(server, request); });
  add_state_routes(router, threads);
}

}  // namespace clew::server

#include "server/routes/answers.hpp"
#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

const std::string& thread_id(const Request& request) {
  return request.path_parameters.at("thread_id");
}

const std::string& run_id(const Request& request) { return request.path_parameters.at("run_id"); }

// The run that the body asks for: on the path's thread, or on one of its own.
StartedRun create(AgentServer& server, const Request& request) {
  const std::string* thread = request.path_parameters.find("thread_id");
  const Value body = json_body(request);
  return thread != nullptr ? server.runs.create(request.caller, *thread, body)
                           : server.runs.create_stateless(request.caller, body);
}

// The path of a run whose thread is nobody's business has no thread in it.
std::string shown_path(const Request& request, const StartedRun& run) {
  return request.path_parameters.empty() ? "/runs/" + run.run_id
                                         : run_path(run.thread_id, run.run_id);
}

std::function<void()> disconnect(AgentServer& server, const std::string& thread_id,
                                 const std::string& run_id, bool cancels) {
  if (!cancels) return {};
  return [&server, thread_id, run_id] { server.runs.disconnect(thread_id, run_id); };
}

CancelAction action_of(const Request& request) {
  const std::string action = request.query.get("action", "interrupt");
  if (action == "interrupt") return CancelAction::interrupt;
  if (action == "rollback") return CancelAction::rollback;
  throw ServiceError(422, "Invalid action: expected interrupt or rollback");
}

// Starting ----------------------------------------------------------------------

Response create_run(AgentServer& server, Request& request) {
  StartedRun run = create(server, request);
  Response response = json_response(run.run);
  response.headers.emplace_back("content-location", shown_path(request, run));
  server.runs.leave(request.caller, std::move(run));
  return response;
}

Response stream_run(AgentServer& server, Request& request) {
  StartedRun run = create(server, request);
  Response response = event_response(
      std::move(run.events), run.is_resumable ? EventForm::with_id : EventForm::plain,
      disconnect(server, run.thread_id, run.run_id, run.cancels_on_disconnect));
  const std::string path = shown_path(request, run);
  add_locations(response, path, path + "/stream");
  return response;
}

Response wait_for_run(AgentServer& server, Request& request) {
  const StartedRun run = create(server, request);
  const LaterValue result;
  run.end->then(result.setter());
  Response response =
      result.response(disconnect(server, run.thread_id, run.run_id, run.cancels_on_disconnect));
  const std::string path = run_path(run.thread_id, run.run_id);
  add_locations(response, path, path + "/join");
  return response;
}

// Looking -----------------------------------------------------------------------

Response list_runs(AgentServer& server, Request& request) {
  RunQuery query;
  query.page.limit = static_cast<std::size_t>(query_number(request, "limit", 1, 1000).value_or(10));
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  query.page.offset =
      static_cast<std::size_t>(query_number(request, "offset", 0, kMost).value_or(0));
  if (const std::string* status = request.query.find("status")) query.status = *status;
  return json_response(server.runs.list(request.caller, thread_id(request), query,
                                        query_names(request, {"select"})));
}

Response join_run(AgentServer& server, Request& request) {
  const bool cancels = query_flag(request, "cancel_on_disconnect").value_or(false);
  const LaterValue result;
  server.runs.join(request.caller, thread_id(request), run_id(request), result.maker_setter());
  Response response =
      result.response(disconnect(server, thread_id(request), run_id(request), cancels));
  const std::string path = run_path(thread_id(request), run_id(request));
  add_locations(response, path, path + "/join");
  return response;
}

// An answer that has begun says in an event what it cannot say in its status.
Response missing_run_response(const ServiceError& error) {
  Response response = text_response({}, std::string(kEventStreamType));
  response.headers.emplace_back("cache-control", "no-store");
  response.headers.emplace_back("x-accel-buffering", "no");
  append_event(
      response.body,
      {.event = "error",
       .data = object({{"error", "HTTPException"},
                       {"message", std::to_string(error.status()) + ": " + error.detail()}})});
  return response;
}

Response join_stream(AgentServer& server, Request& request) {
  const bool cancels = query_flag(request, "cancel_on_disconnect").value_or(false);
  const std::string path = run_path(thread_id(request), run_id(request));
  Response response;
  try {
    bool is_resumable = false;
    auto events = server.runs.stream(request.caller, thread_id(request), run_id(request),
                                     query_names(request, {"stream_mode"}),
                                     header(request, "last-event-id"), &is_resumable);
    response =
        event_response(std::move(events), is_resumable ? EventForm::with_id : EventForm::plain,
                       disconnect(server, thread_id(request), run_id(request), cancels));
  } catch (const ServiceError& error) {
    if (error.status() != 404) throw;
    response = missing_run_response(error);
  }
  add_locations(response, path, path + "/stream");
  return response;
}

// Ending ------------------------------------------------------------------------

Response cancel_run(AgentServer& server, Request& request) {
  CancelRequest cancel;
  cancel.action = action_of(request);
  if (!query_flag(request, "wait").value_or(false)) {
    server.runs.cancel(request.caller, thread_id(request), run_id(request), cancel, {});
    return empty_response(202);
  }
  const LaterValue values;
  server.runs.cancel(request.caller, thread_id(request), run_id(request), cancel, values.setter());
  Response response = values.response();
  const std::string path = run_path(thread_id(request), run_id(request));
  add_locations(response, path, path + "/join");
  return response;
}

void add_creating_routes(Router& router, AgentServer& server, const std::string& prefix) {
  router.add("POST", prefix, [&](Request& request) { return create_run(server, request); });
  router.add("POST", prefix + "/stream",
             [&](Request& request) { return stream_run(server, request); });
  router.add("POST", prefix + "/wait",
             [&](Request& request) { return wait_for_run(server, request); });
}

}  // namespace

void add_run_routes(Router& router, AgentServer& server) {
  add_creating_routes(router, server, "/threads/{thread_id}/runs");
  add_creating_routes(router, server, "/runs");
  router.add("POST", "/runs/batch", [&](Request& request) {
    return json_response(server.runs.create_batch(request.caller, json_body(request)));
  });
  router.add("POST", "/runs/cancel", [&](Request& request) {
    server.runs.cancel_many(request.caller, json_body(request), action_of(request));
    return empty_response();
  });
  router.add("GET", "/threads/{thread_id}/runs",
             [&](Request& request) { return list_runs(server, request); });
  router.add("GET", "/threads/{thread_id}/runs/{run_id}", [&](Request& request) {
    return json_response(server.runs.get(request.caller, thread_id(request), run_id(request)));
  });
  router.add("DELETE", "/threads/{thread_id}/runs/{run_id}", [&](Request& request) {
    server.runs.remove(request.caller, thread_id(request), run_id(request));
    return empty_response();
  });
  router.add("GET", "/threads/{thread_id}/runs/{run_id}/join",
             [&](Request& request) { return join_run(server, request); });
  router.add("GET", "/threads/{thread_id}/runs/{run_id}/stream",
             [&](Request& request) { return join_stream(server, request); });
  router.add("POST", "/threads/{thread_id}/runs/{run_id}/cancel",
             [&](Request& request) { return cancel_run(server, request); });
}

}  // namespace clew::server

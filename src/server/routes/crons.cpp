#include "server/routes/answers.hpp"
#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"

namespace clew::server {
namespace {

const std::string& cron_id(const Request& request) { return request.path_parameters.at("cron_id"); }

}  // namespace

void add_cron_routes(Router& router, AgentServer& server) {
  CronService& crons = server.crons;
  router.add("POST", "/runs/crons", [&](Request& request) {
    return json_response(crons.create(request.caller, "", json_body(request)));
  });
  router.add("POST", "/threads/{thread_id}/runs/crons", [&](Request& request) {
    return json_response(
        crons.create(request.caller, request.path_parameters.at("thread_id"), json_body(request)));
  });
  router.add("POST", "/runs/crons/search", [&](Request& request) {
    return listing_response(crons.search(request.caller, json_body(request)));
  });
  router.add("POST", "/runs/crons/count", [&](Request& request) {
    return json_response(crons.count(request.caller, json_body(request)));
  });
  router.add("GET", "/runs/crons/{cron_id}", [&](Request& request) {
    return json_response(crons.get(request.caller, cron_id(request)));
  });
  router.add("PATCH", "/runs/crons/{cron_id}", [&](Request& request) {
    return json_response(crons.patch(request.caller, cron_id(request), json_body(request)));
  });
  router.add("DELETE", "/runs/crons/{cron_id}", [&](Request& request) {
    crons.remove(request.caller, cron_id(request));
    return empty_response();
  });
}

}  // namespace clew::server

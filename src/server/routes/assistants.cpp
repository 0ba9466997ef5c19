#include <limits>

#include "server/routes/answers.hpp"
#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"

namespace clew::server {
namespace {

const std::string& assistant_id(const Request& request) {
  return request.path_parameters.at("assistant_id");
}

// How far the drawing goes into subgraphs: true, false or a number of levels.
Xray xray_of(const Request& request) {
  const std::string* text = request.query.find("xray");
  const bool is_number =
      text != nullptr && text->find_first_not_of("0123456789") == std::string::npos;
  if (!is_number || text->empty()) return query_flag(request, "xray").value_or(false);
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(*query_number(request, "xray", 0, kMost));
}

Response remove_assistant(AgentServer& server, Request& request) {
  const bool with_threads = query_flag(request, "delete_threads").value_or(false);
  const auto threads =
      server.assistants.remove(request.caller, assistant_id(request), with_threads);
  for (const std::string& thread : threads) server.threads.remove(request.caller, thread);
  return empty_response();
}

Response subgraphs(AgentServer& server, Request& request) {
  const std::string* name = request.path_parameters.find("namespace");
  const auto name_space = name == nullptr ? std::nullopt : std::optional(*name);
  return json_response(server.assistants.subgraphs(request.caller, assistant_id(request),
                                                   name_space,
                                                   query_flag(request, "recurse").value_or(false)));
}

}  // namespace

void add_assistant_routes(Router& router, AgentServer& server) {
  AssistantService& assistants = server.assistants;
  router.add("POST", "/assistants", [&](Request& request) {
    return json_response(assistants.create(request.caller, json_body(request)));
  });
  router.add("POST", "/assistants/search", [&](Request& request) {
    return listing_response(assistants.search(request.caller, json_body(request)));
  });
  router.add("POST", "/assistants/count", [&](Request& request) {
    return json_response(assistants.count(request.caller, json_body(request)));
  });
  router.add("GET", "/assistants/{assistant_id}", [&](Request& request) {
    return json_response(assistants.get(request.caller, assistant_id(request)));
  });
  router.add("PATCH", "/assistants/{assistant_id}", [&](Request& request) {
    return json_response(
        assistants.patch(request.caller, assistant_id(request), json_body(request)));
  });
  router.add("DELETE", "/assistants/{assistant_id}",
             [&](Request& request) { return remove_assistant(server, request); });
  router.add("GET", "/assistants/{assistant_id}/graph", [&](Request& request) {
    return json_response(assistants.graph(request.caller, assistant_id(request), xray_of(request)));
  });
  router.add("GET", "/assistants/{assistant_id}/schemas", [&](Request& request) {
    return json_response(assistants.schemas(request.caller, assistant_id(request)));
  });
  for (const char* pattern : {"/assistants/{assistant_id}/subgraphs",
                              "/assistants/{assistant_id}/subgraphs/{namespace}"}) {
    router.add("GET", pattern, [&](Request& request) { return subgraphs(server, request); });
  }
  router.add("POST", "/assistants/{assistant_id}/versions", [&](Request& request) {
    return json_response(
        assistants.versions(request.caller, assistant_id(request), json_body(request)));
  });
  router.add("POST", "/assistants/{assistant_id}/latest", [&](Request& request) {
    return json_response(
        assistants.set_latest(request.caller, assistant_id(request), json_body(request)));
  });
}

}  // namespace clew::server

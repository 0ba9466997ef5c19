#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"

namespace clew::server {
namespace {

// Labels that are joined by dots, repeated, or both.
Value namespace_of(const Request& request) {
  ListBuilder labels;
  for (const std::string& text : request.query.all("namespace")) {
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::string_view label = rest.substr(0, rest.find('.'));
      labels.push_back(label);
      rest.remove_prefix(std::min(rest.size(), label.size() + 1));
    }
  }
  return std::move(labels).build();
}

Response get_item(AgentServer& server, Request& request) {
  const std::string* key = request.query.find("key");
  return json_response(server.store.get(request.caller,
                                        key == nullptr ? std::nullopt : std::optional(*key),
                                        namespace_of(request), query_flag(request, "refresh_ttl")));
}

}  // namespace

void add_store_routes(Router& router, AgentServer& server) {
  StoreService& store = server.store;
  router.add("PUT", "/store/items", [&](Request& request) {
    store.put(request.caller, json_body(request));
    return empty_response();
  });
  router.add("GET", "/store/items", [&](Request& request) { return get_item(server, request); });
  router.add("DELETE", "/store/items", [&](Request& request) {
    store.remove(request.caller, json_body(request));
    return empty_response();
  });
  router.add("POST", "/store/items/search", [&](Request& request) {
    return json_response(store.search(request.caller, json_body(request)));
  });
  router.add("POST", "/store/namespaces", [&](Request& request) {
    return json_response(store.namespaces(request.caller, json_body(request)));
  });
}

}  // namespace clew::server

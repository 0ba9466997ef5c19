#include "server/openapi.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include <clew/json.hpp>

#include "server/embedded_files.hpp"
#include "server/routes/routes.hpp"
#include "server/test_server.hpp"

namespace clew::server {
namespace {

struct AllRoutes {
  AllRoutes() {
    add_assistant_routes(router, *test.server);
    add_thread_routes(router, *test.server);
    add_run_routes(router, *test.server);
    add_cron_routes(router, *test.server);
    add_store_routes(router, *test.server);
    add_protocol_routes(router, *test.server);
    add_meta_routes(router, *test.server, {});
  }

  // "GET /ok", without WebSockets.
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const Route* route : router.routes()) {
      if (!route->websocket) names.insert(route->method + " " + route->pattern);
    }
    return names;
  }

  TestServer test;
  Router router;
};

using See = std::function<void(const std::string& path, const std::string& method, const Value&)>;

void for_each_operation(const Value& document, const See& see) {
  for (auto [path, operations] : document["paths"].items()) {
    for (auto [method, operation] : operations.items()) {
      std::string upper(method);
      std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
      see(std::string(path), upper, operation);
    }
  }
}

void collect_references(const Value& value, std::set<std::string>& references) {
  if (value.is_list()) {
    for (const Value& element : value) collect_references(element, references);
  }
  if (!value.is_object()) return;
  for (auto [key, part] : value.items()) {
    if (key == "$ref") references.insert(part.get<std::string>());
    collect_references(part, references);
  }
}

TEST(OpenApi, HasEveryRouteAndNothingElse) {
  const AllRoutes all;
  std::set<std::string> described;
  for_each_operation(openapi_document(all.router, {}),
                     [&](const std::string& path, const std::string& method, const Value&) {
                       described.insert(method + " " + path);
                     });
  EXPECT_EQ(described, all.names());
}

TEST(OpenApi, DescribesNoRouteThatIsNotServed) {
  const std::set<std::string> served = AllRoutes().names();
  for (const std::string_view part : kOpenApiParts) {
    const Value routes = parse_json(part)["routes"];
    if (!routes.is_object()) continue;
    for (auto [name, route] : routes.items()) {
      EXPECT_TRUE(served.contains(std::string(name))) << name;
    }
  }
}

TEST(OpenApi, LeavesOutWhatTheRouterHasNot) {
  AllRoutes all;
  Router router;
  add_store_routes(router, *all.test.server);
  const Value document = openapi_document(router, {});
  EXPECT_TRUE(document["paths"].contains("/store/items"));
  EXPECT_FALSE(document["paths"].contains("/threads"));
}

TEST(OpenApi, EveryReferenceResolvesAndEverySchemaIsUsed) {
  const AllRoutes all;
  const Value document = openapi_document(all.router, {});
  std::set<std::string> references;
  collect_references(document, references);
  std::set<std::string> schemas;
  for (auto [name, schema] : document["components"]["schemas"].items()) {
    schemas.insert("#/components/schemas/" + std::string(name));
  }
  EXPECT_EQ(references, schemas);
}

TEST(OpenApi, OperationsAreComplete) {
  const AllRoutes all;
  std::set<std::string> ids;
  for_each_operation(openapi_document(all.router, {}), [&](const std::string& path,
                                                           const std::string& method,
                                                           const Value& operation) {
    const std::string name = method + " " + path;
    EXPECT_TRUE(ids.insert(operation["operationId"].get<std::string>()).second) << name;
    EXPECT_TRUE(operation["summary"].is_string()) << name;
    EXPECT_TRUE(operation["tags"][0].is_string()) << name;
    EXPECT_TRUE(operation["responses"].contains("default")) << name;
    EXPECT_EQ(to_json(operation["responses"]["default"]["content"]),
              R"({"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}})");
    std::size_t in_path = 0;
    for (const Value& parameter :
         operation["parameters"].is_list() ? operation["parameters"] : list()) {
      EXPECT_TRUE(parameter["schema"].is_object()) << name << " " << to_json(parameter);
      in_path += parameter["in"] == Value("path") ? 1 : 0;
    }
    EXPECT_EQ(in_path, static_cast<std::size_t>(std::count(path.begin(), path.end(), '{'))) << name;
  });
}

TEST(OpenApi, ABodyIsRequiredIfSomethingInItIs) {
  const AllRoutes all;
  const Value paths = openapi_document(all.router, {})["paths"];
  EXPECT_EQ(paths["/threads"]["post"]["requestBody"]["required"], Value(false));
  EXPECT_EQ(paths["/runs"]["post"]["requestBody"]["required"], Value(true));
  EXPECT_EQ(paths["/runs/batch"]["post"]["requestBody"]["required"], Value(true));
  EXPECT_EQ(paths["/runs/crons"]["post"]["requestBody"]["required"], Value(true));
  EXPECT_EQ(paths["/ok"]["get"]["requestBody"], Value());
}

TEST(OpenApi, SaysWhoMayCallOnlyWhereSomebodyMayNot) {
  const AllRoutes all;
  const Value open = openapi_document(all.router, {});
  EXPECT_FALSE(open.contains("security"));
  EXPECT_FALSE(open["paths"]["/threads"]["post"]["responses"].contains("401"));

  const Value guarded = openapi_document(all.router, {.has_auth = true});
  EXPECT_EQ(to_json(guarded["security"]), R"([{"api_key":[]},{"bearer":[]}])");
  EXPECT_TRUE(guarded["components"]["securitySchemes"].contains("api_key"));
  EXPECT_TRUE(guarded["paths"]["/threads"]["post"]["responses"].contains("401"));
  EXPECT_EQ(guarded["paths"]["/ok"]["get"]["security"], list());
}

}  // namespace
}  // namespace clew::server

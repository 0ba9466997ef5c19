// The routes about the server itself, over HTTP.

#include <gtest/gtest.h>

#include <clew/errors.hpp>
#include <clew/json.hpp>

#include "server/embedded_files.hpp"
#include "server/routes/routes.hpp"
#include "server/sqlite_repository.hpp"
#include "server/test_client.hpp"
#include "server/test_server.hpp"

namespace clew::server {
namespace {

class BrokenRepository final : public Repository {
 public:
  void read(const std::function<void(const Tables&)>&) override { fail(); }
  void write(const std::function<void(Tables&)>&, Commit) override { fail(); }

 private:
  [[noreturn]] static void fail() { throw StorageError("disk I/O error in /secret/server.db"); }
};

struct MetaServer {
  explicit MetaServer(std::shared_ptr<Repository> repository = {}, Middleware middleware = {}) {
    MetaParts parts;
    parts.repository = repository ? std::move(repository) : open_sqlite_repository(test.path);
    parts.metrics = metrics;
    parts.workers = 7;
    parts.connections = [this] { return http->connections(); };
    Router router;
    add_thread_routes(router, *test.server);
    add_meta_routes(router, *test.server, parts);
    HttpOptions options;
    options.middleware = std::move(middleware);
    options.on_access = [this](const AccessRecord& record) { metrics->count(record); };
    http.emplace(std::move(router), std::move(options));
    http->start();
  }

  TestResponse get(std::string_view target) { return TestClient(http->port()).get(target); }

  // Once it holds `text`: a request is counted when its answer has been sent.
  std::string metrics_with(std::string_view text) {
    std::string body;
    for (int i = 0; i < 500 && body.find(text) == std::string::npos; ++i) {
      body = get("/metrics").body;
    }
    return body;
  }

  TestServer test;
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  std::optional<HttpServer> http;
};

TEST(Meta, SaysThatItIsWell) {
  MetaServer server;
  for (const char* target : {"/", "/ok", "/ok?check_db=1", "/ok?check_db=0"}) {
    const TestResponse response = server.get(target);
    EXPECT_EQ(response.status, 200) << target;
    EXPECT_EQ(response.body, R"({"ok":true,"services":{}})") << target;
  }
}

TEST(Meta, CheckDbReallyReads) {
  MetaServer server(std::make_shared<BrokenRepository>());
  EXPECT_EQ(server.get("/ok").status, 200);
  const TestResponse response = server.get("/ok?check_db=1");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, R"({"detail":"The database cannot be read"})");
}

TEST(Meta, InfoSaysWhatClientsLookFor) {
  MetaServer server;
  const Value info = parse_json(server.get("/info").body);
  EXPECT_EQ(info["langgraph_py_version"], Value("1.2.20"));
  EXPECT_EQ(info["flags"]["assistants"], Value(true));
  EXPECT_EQ(info["flags"]["crons"], Value(true));
  EXPECT_EQ(info["flags"]["langsmith"], Value(false));
  EXPECT_EQ(info["host"]["kind"], Value("self-hosted"));
  EXPECT_FALSE(info["version"].as_string().empty());
}

TEST(Meta, MetricsKnowRoutesButNotWhatCallersSend) {
  MetaServer server;
  EXPECT_EQ(server.get("/threads/6f1d6f4c-0000-4000-8000-000000000001?secret=1").status, 404);
  EXPECT_EQ(server.get("/nowhere/secret").status, 404);
  const std::string text = server.metrics_with("path=\"other\"");
  EXPECT_NE(text.find("{method=\"GET\",path=\"/threads/{thread_id}\",status=\"404\"} 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nclew_http_connections "), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_EQ(text.find("6f1d6f4c"), std::string::npos);
  EXPECT_EQ(server.get("/metrics").header("content-type"),
            "text/plain; version=1.0.0; charset=utf-8");
  EXPECT_EQ(server.get("/metrics?format=xml").status, 422);
  const Value json = parse_json(server.get("/metrics?format=json").body);
  EXPECT_EQ(json["workers"]["max"], Value(7));
}

TEST(Meta, MetricsCountRunsByHowTheyEnd) {
  MetaServer server;
  server.test.wait(server.test.thread_id(),
                   object({{"assistant_id", "seq"}, {"input", object({{"value", "q"}})}}));
  const std::string line = "clew_runs_finished_total{status=\"success\"} 1\n";
  EXPECT_NE(server.metrics_with(line).find(line), std::string::npos);
}

TEST(Meta, EverybodyMayAskAndNobodyElseMay) {
  MetaServer server({}, [](Request&) { return error_response(401, "Who are you?"); });
  for (const char* target : {"/", "/ok", "/info", "/metrics", "/openapi.json", "/docs"}) {
    EXPECT_EQ(server.get(target).status, 200) << target;
  }
  EXPECT_EQ(server.get("/threads/6f1d6f4c-0000-4000-8000-000000000001").status, 401);
}

TEST(Meta, TheDocumentIsJson) {
  MetaServer server;
  const TestResponse response = server.get("/openapi.json");
  EXPECT_EQ(response.header("content-type"), "application/json");
  const Value document = parse_json(response.body);
  EXPECT_TRUE(document["paths"].contains("/threads/{thread_id}"));
  EXPECT_TRUE(document["paths"].contains("/docs"));
  EXPECT_FALSE(document["paths"].contains("/assistants"));
}

TEST(Meta, TheDocsPageStandsAlone) {
  MetaServer server;
  const TestResponse response = server.get("/docs");
  EXPECT_EQ(response.header("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(response.body, kDocsPage);
  EXPECT_EQ(response.body.find("http"), std::string::npos) << "the page names another place";
  const std::string policy = response.header("content-security-policy");
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(policy.find("script-src 'sha256-"), std::string::npos);
}

}  // namespace
}  // namespace clew::server

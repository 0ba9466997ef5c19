#include <openssl/evp.h>

#include "server/embedded_files.hpp"
#include "server/openapi.hpp"
#include "server/routes/answers.hpp"
#include "server/routes/request_parts.hpp"
#include "server/routes/routes.hpp"
#include "server/shapes.hpp"

namespace clew::server {
namespace {

// The version of LangGraph whose behaviour clients find here.
constexpr const char* kLangGraphVersion = "1.2.20";

Response health(const MetaParts& parts, Request& request) {
  if (query_flag(request, "check_db").value_or(false)) {
    try {
      parts.repository->read([](const Tables& tables) { tables.crons().next(); });
    } catch (const Error&) {
      throw ServiceError(503, "The database cannot be read");
    }
  }
  return json_response(object({{"ok", true}, {"services", object()}}));
}

// The tracing flags say what a run's body may hold, not that anything is traced.
Value info() {
  return object({{"version", CLEW_VERSION},
                 {"langgraph_py_version", kLangGraphVersion},
                 {"flags", object({{"assistants", true},
                                   {"crons", true},
                                   {"langsmith", false},
                                   {"langsmith_tracing_replicas", true},
                                   {"langsmith_tracing_session_on_runs", true}})},
                 {"host", object({{"kind", "self-hosted"},
                                  {"project_id", nullptr},
                                  {"host_revision_id", nullptr},
                                  {"revision_id", nullptr},
                                  {"tenant_id", nullptr}})}});
}

Response metrics(const MetaParts& parts, AgentServer& server, Request& request) {
  const std::string format = request.query.get("format", "prometheus");
  if (format != "prometheus" && format != "json") {
    throw ServiceError(422, "Invalid format: expected prometheus or json");
  }
  ServerGauges gauges;
  gauges.runs = server.queue.counts();
  gauges.waiting = server.queue.waiting();
  gauges.workers = parts.workers;
  gauges.connections = parts.connections();
  if (format == "json") return json_response(parts.metrics->json(gauges));
  return text_response(parts.metrics->prometheus(gauges), std::string(Metrics::kTextType));
}

// 'sha256-...' of the page's one script, so that no other runs there.
std::string script_source(std::string_view page) {
  const std::size_t begin = page.find("<script>") + std::string_view("<script>").size();
  const std::string_view script = page.substr(begin, page.find("</script>") - begin);
  unsigned char digest[32];
  unsigned int size = 0;
  EVP_Digest(script.data(), script.size(), digest, &size, EVP_sha256(), nullptr);
  unsigned char base64[45];  // with a NUL
  EVP_EncodeBlock(base64, digest, static_cast<int>(size));
  return std::string("'sha256-") + reinterpret_cast<const char*>(base64) + "'";
}

// The page asks nobody but this server, and nobody may frame it.
Response docs_page() {
  Response response = text_response(std::string(kDocsPage), "text/html; charset=utf-8");
  response.headers.emplace_back(
      "content-security-policy",
      "default-src 'none'; connect-src 'self'; img-src data:; style-src 'unsafe-inline'; "
      "script-src " +
          script_source(kDocsPage) +
          "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.headers.emplace_back("referrer-policy", "no-referrer");
  return response;
}

}  // namespace

void add_meta_routes(Router& router, AgentServer& server, const MetaParts& parts) {
  const RouteOptions everybody{.is_public = true};
  const RouteOptions at_once{.is_public = true, .runs_inline = true};
  for (const char* path : {"/", "/ok"}) {
    router.add("GET", path, [parts](Request& request) { return health(parts, request); }, at_once);
  }
  router.add("GET", "/info", [](Request&) { return json_response(info()); }, at_once);
  router.add(
      "GET", "/metrics",
      [parts, &server](Request& request) { return metrics(parts, server, request); }, everybody);
  const auto document = std::make_shared<std::string>();
  router.add(
      "GET", "/openapi.json",
      [document](Request&) { return text_response(*document, "application/json"); }, everybody);
  router.add("GET", "/docs", [page = docs_page()](Request&) { return page; }, everybody);
  *document = json_text(openapi_document(router, {CLEW_VERSION, parts.has_auth}));
}

}  // namespace clew::server

#include "server/http_router.hpp"

#include <gtest/gtest.h>

#include "server/http_websocket.hpp"

namespace clew::server {
namespace {

Response nothing(Request&) { return {}; }

Router thread_routes() {
  Router router;
  router.add("GET", "/", nothing);
  router.add("GET", "/threads/{thread_id}", nothing);
  router.add("DELETE", "/threads/{thread_id}", nothing);
  router.add("POST", "/threads/search", nothing);
  router.add("GET", "/threads/{thread_id}/runs/{run_id}", nothing, {.is_public = true});
  router.add("POST", "/threads/{id}/stream/events", nothing);
  router.add_websocket("/threads/{id}/stream/events", [](Request&) { return nullptr; });
  return router;
}

// "pattern name=value", "405 allow", "307 path" or "404".
std::string find(std::string_view method, std::string_view path, bool wants_websocket = false) {
  const Router router = thread_routes();
  const Router::Match match = router.find(method, path, wants_websocket);
  if (match.route == nullptr) {
    if (!match.redirect.empty()) return "307 " + match.redirect;
    return match.allow.empty() ? "404" : "405 " + match.allow;
  }
  std::string text = (match.route->websocket ? "websocket " : "") + match.route->pattern;
  for (const auto& [name, value] : match.path_parameters) text += " " + name + "=" + value;
  return text;
}

TEST(Router, FindsByMethodAndPath) {
  EXPECT_EQ(find("GET", "/"), "/");
  EXPECT_EQ(find("GET", "/threads/7"), "/threads/{thread_id} thread_id=7");
  EXPECT_EQ(find("GET", "/threads/7/runs/8"),
            "/threads/{thread_id}/runs/{run_id} thread_id=7 run_id=8");
  EXPECT_EQ(find("HEAD", "/threads/7"), "/threads/{thread_id} thread_id=7");
  EXPECT_EQ(find("GET", "/threads"), "404");
  EXPECT_EQ(find("GET", "/threads/7/runs"), "404");
  EXPECT_EQ(find("PUT", "/threads/7"), "405 DELETE, GET, HEAD");
}

TEST(Router, FixedTextWinsAndTheRestStillMatches) {
  EXPECT_EQ(find("POST", "/threads/search"), "/threads/search");
  EXPECT_EQ(find("GET", "/threads/search"), "/threads/{thread_id} thread_id=search");
}

TEST(Router, SegmentsAreDecodedOneByOne) {
  EXPECT_EQ(find("GET", "/threads/a%2Fb%20c"), "/threads/{thread_id} thread_id=a/b c");
  EXPECT_EQ(find("GET", "/thr%65ads/7"), "/threads/{thread_id} thread_id=7");
  EXPECT_EQ(find("GET", "/threads//runs/8"), "404");
}

TEST(Router, ASlashTooManyIsRedirected) {
  EXPECT_EQ(find("GET", "/threads/a%2F/"), "307 /threads/a%2F");
  EXPECT_EQ(find("GET", "/nope/"), "404");
  EXPECT_EQ(find("GET", "//"), "404");
}

TEST(Router, AWebSocketHasItsOwnPlace) {
  EXPECT_EQ(find("GET", "/threads/7/stream/events", true),
            "websocket /threads/{id}/stream/events id=7");
  EXPECT_EQ(find("GET", "/threads/7/stream/events"), "405 POST");
}

TEST(Router, RoutesAreListed) {
  const Router router = thread_routes();
  std::string text;
  for (const Route* route : router.routes()) {
    text += route->method + " " + route->pattern + (route->options.is_public ? " public\n" : "\n");
  }
  EXPECT_EQ(text,
            "GET /\n"
            "GET /threads/{thread_id}\n"
            "DELETE /threads/{thread_id}\n"
            "POST /threads/search\n"
            "GET /threads/{thread_id}/runs/{run_id} public\n"
            "POST /threads/{id}/stream/events\n"
            "GET /threads/{id}/stream/events\n");
}

TEST(Router, BadPatternsAreRefused) {
  Router router = thread_routes();
  EXPECT_THROW(router.add("GET", "/threads/{thread_id}", nothing), Error);
  EXPECT_THROW(router.add("GET", "threads", nothing), Error);
  EXPECT_THROW(router.add("GET", "/a{b}", nothing), Error);
}

}  // namespace
}  // namespace clew::server

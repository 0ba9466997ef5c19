#include "server/http_cors.hpp"

#include <gtest/gtest.h>

#include "server/http_test_server.hpp"

namespace clew::server {
namespace {

constexpr std::string_view kPreflight =
    "Origin: http://app.example\r\nAccess-Control-Request-Method: POST\r\n"
    "Access-Control-Request-Headers: content-type,x-api-key\r\n";

HttpOptions with_cors(CorsOptions cors) {
  HttpOptions options;
  options.cors = std::move(cors);
  return options;
}

TEST(Cors, NothingIsAllowedUnlessConfigured) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  EXPECT_EQ(
      client.get("/ok", "Origin: http://app.example\r\n").header("access-control-allow-origin"),
      "");
  EXPECT_EQ(client.request("OPTIONS", "/ok", {}, kPreflight).header("access-control-allow-origin"),
            "");
}

TEST(Cors, AnyOriginIsAStar) {
  TestServer test(echo_routes(), with_cors({.allowed_origins = {"*"}}));
  TestClient client = test.client();
  const TestResponse preflight = client.request("OPTIONS", "/echo", {}, kPreflight);
  EXPECT_EQ(preflight.status, 200);
  EXPECT_EQ(preflight.body, "OK");
  EXPECT_EQ(preflight.header("access-control-allow-origin"), "*");
  EXPECT_EQ(preflight.header("access-control-max-age"), "600");
  EXPECT_EQ(preflight.header("access-control-allow-headers"), "content-type,x-api-key");
  EXPECT_NE(preflight.header("access-control-allow-methods").find("PATCH"), std::string::npos);

  const TestResponse simple = client.get("/ok", "Origin: http://app.example\r\n");
  EXPECT_EQ(simple.header("access-control-allow-origin"), "*");
  EXPECT_EQ(simple.header("access-control-expose-headers"),
            "x-pagination-total, x-pagination-next, content-location, location");
  EXPECT_EQ(simple.header("vary"), "Origin");
  EXPECT_EQ(client.get("/nope", "Origin: http://b\r\n").header("access-control-allow-origin"), "*");
}

TEST(Cors, OnlyListedOriginsAreAllowed) {
  TestServer test(echo_routes(), with_cors({.allowed_origins = {"http://app.example"},
                                            .allow_credentials = true}));
  TestClient client = test.client();
  const TestResponse allowed = client.get("/ok", "Origin: http://app.example\r\n");
  EXPECT_EQ(allowed.header("access-control-allow-origin"), "http://app.example");
  EXPECT_EQ(allowed.header("access-control-allow-credentials"), "true");
  const TestResponse other = client.get("/ok", "Origin: http://evil.example\r\n");
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.header("access-control-allow-origin"), "");
  EXPECT_EQ(client
                .request("OPTIONS", "/ok", {},
                         "Origin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n")
                .status,
            400);
}

TEST(Cors, PreflightNeedsNoKey) {
  HttpOptions options = with_cors({.allowed_origins = {"*"}});
  options.middleware = [](Request&) { return error_response(401, "no"); };
  TestServer test(echo_routes(), std::move(options));
  TestClient client = test.client();
  EXPECT_EQ(client.request("OPTIONS", "/echo", {}, kPreflight).status, 200);
  const TestResponse denied = client.request("POST", "/echo", {}, "Origin: http://a\r\n");
  EXPECT_EQ(denied.status, 401);
  EXPECT_EQ(denied.header("access-control-allow-origin"), "*");  // so that the page can read why
}

}  // namespace
}  // namespace clew::server

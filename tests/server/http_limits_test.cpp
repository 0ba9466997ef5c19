// What the server refuses: too large, too slow, too many, and what two readers
// of HTTP could understand in two ways.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "server/http_test_server.hpp"

namespace clew::server {
namespace {

using namespace std::string_literals;

// The status of the answer to `bytes`, after which the server must close.
int status_and_close(TestServer& test, std::string_view bytes) {
  TestClient client = test.client();
  client.try_send(bytes);
  const int status = client.read_response().status;
  EXPECT_TRUE(client.reads_end());
  return status;
}

TEST(Limits, LargeBodiesAreRefusedBeforeTheyCome) {
  TestServer test(echo_routes(), {.max_body_bytes = 10});
  EXPECT_EQ(status_and_close(test, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n"),
            413);
  EXPECT_EQ(status_and_close(test,
                             "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n"
                             "Expect: 100-continue\r\n\r\n"),
            413);
  TestClient client = test.client();
  EXPECT_EQ(client.request("POST", "/echo", "0123456789").status, 200);
}

TEST(Limits, LargeChunkedBodiesAreRefusedAsTheyCome) {
  TestServer test(echo_routes(), {.max_body_bytes = 10});
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_and_close(test, head + "6\r\nabcdef\r\n5\r\nabcde\r\n0\r\n\r\n"), 413);
  EXPECT_EQ(status_and_close(test, head + "ffffffff\r\n"), 413);
}

TEST(Limits, AClientThatStillSendsReadsTheRefusal) {
  TestServer test(echo_routes(), {.max_body_bytes = 10});
  TestClient client = test.client();
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
  std::thread sender([&] { client.try_send(std::string(2'000'000, 'x')); });
  EXPECT_EQ(client.read_response().status, 413);
  sender.join();
}

TEST(Limits, ARouteMayTakeMoreOrLess) {
  Router router = echo_routes();
  router.add("POST", "/large", [](Request& request) { return text_response(request.body); },
             {.max_body_bytes = 20});
  TestServer test(std::move(router), {.max_body_bytes = 10});
  TestClient client = test.client();
  EXPECT_EQ(client.request("POST", "/large", std::string(20, 'x')).status, 200);
  EXPECT_EQ(client.request("POST", "/large", std::string(21, 'x')).status, 413);
}

TEST(Limits, LargeHeadersAreRefused) {
  TestServer test(echo_routes(), {.max_header_bytes = 1000});
  const std::string begin = "GET /ok HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status_and_close(test, begin + "X: " + std::string(1000, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_and_close(test, begin + "X: " + std::string(1000, 'x')), 431);
  EXPECT_EQ(status_and_close(test, "GET /" + std::string(1000, 'x')), 431);
  std::string many = begin;
  for (int i = 0; i < 300; ++i) many += "A:b\r\n";
  EXPECT_EQ(status_and_close(test, many + "\r\n"), 431);
}

TEST(Limits, HeadersThatTrickleInCountTogether) {
  TestServer test(echo_routes(), {.max_header_bytes = 1000});
  TestClient client = test.client();
  client.send("GET /ok HTTP/1.1\r\nHost: a\r\n");
  for (int i = 0; i < 30; ++i) {
    if (!client.try_send("X" + std::to_string(i) + ": " + std::string(40, 'x') + "\r\n")) break;
    std::this_thread::sleep_for(2ms);
  }
  EXPECT_EQ(client.read_response().status, 431);
}

TEST(Limits, AChunkHeaderWithoutEndIsRefused) {
  TestServer test(echo_routes(), {.max_header_bytes = 1000});
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_and_close(test, head + "1;" + std::string(200'000, 'x')), 400);
}

TEST(Limits, SlowHeadersGet408) {
  TestServer test(echo_routes(), {.header_timeout = 200ms});
  EXPECT_EQ(status_and_close(test, "GET /ok HTTP/1.1\r\nHos"), 408);
}

TEST(Limits, SlowBodiesGet408) {
  TestServer test(echo_routes(), {.body_timeout = 200ms});
  EXPECT_EQ(status_and_close(test, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"),
            408);
}

TEST(Limits, SilentAndIdleConnectionsAreClosed) {
  TestServer test(echo_routes(), {.header_timeout = 200ms, .idle_timeout = 200ms});
  TestClient silent = test.client();
  TestClient idle = test.client();
  EXPECT_EQ(idle.get("/ok").status, 200);
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(idle.read_all(), "");
}

TEST(Limits, AClientThatDoesNotReadIsClosed) {
  Router router;
  router.add("GET", "/large", [](Request&) { return text_response(std::string(20'000'000, 'x')); });
  TestServer test(std::move(router), {.write_timeout = 300ms});
  TestClient client = test.client(4096);
  client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return test.server.connections() == 1; }));
  EXPECT_TRUE(eventually([&] { return test.server.connections() == 0; }));
}

TEST(Limits, OneConnectionTooManyIsToldToComeBack) {
  TestServer test(echo_routes(), {.max_connections = 2});
  TestClient one = test.client();
  TestClient two = test.client();
  EXPECT_EQ(one.get("/ok").status, 200);
  EXPECT_EQ(two.get("/ok").status, 200);
  {
    TestClient three = test.client();
    const TestResponse response = three.read_response();
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.header("retry-after"), "1");
    EXPECT_TRUE(three.reads_end());
  }
  two.close();
  ASSERT_TRUE(eventually([&] { return test.server.connections() == 1; }));
  TestClient four = test.client();
  EXPECT_EQ(four.get("/ok").status, 200);
}

TEST(Limits, WhatIsAmbiguousIsRefused) {
  TestServer test(echo_routes());
  const std::string post = "POST /echo HTTP/1.1\r\nHost: a\r\n";
  const std::vector<std::pair<std::string, int>> cases = {
      {post + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {post + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
      {post + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
      {post + "Content-Length: +3\r\n\r\nabc", 400},
      {post + "Content-Length: 3 3\r\n\r\nabc", 400},
      {post + "Content-Length: -1\r\n\r\n", 400},
      {post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {post + "Transfer-Encoding: chunked, gzip\r\n\r\n", 501},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
      {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcde\r\n0\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", 400},
      {post + "X-Api-Key: a\r\nX-Api-Key: b\r\n\r\n", 400},
      {post + "Host: b\r\n\r\n", 400},
      {"GET /ok HTTP/1.1\r\n\r\n", 400},
      {"GET /ok HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"GET /ok HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", 400},
      {"GET /ok HTTP/1.1\r\nHost: a\0b\r\n\r\n"s, 400},
      {"GET /o\0k HTTP/1.1\r\nHost: a\r\n\r\n"s, 400},
      {"GET /ok HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET  /ok HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"hello\r\n\r\n", 400},
      {"\x16\x03\x01 this is TLS\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : cases) {
    EXPECT_EQ(status_and_close(test, bytes), status) << bytes;
  }
}

TEST(Limits, EmptyLinesBeforeARequestAreSkipped) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  client.send("\r\n\r\nGET /ok HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.read_response().status, 200);
}

}  // namespace
}  // namespace clew::server

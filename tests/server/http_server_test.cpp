#include "server/http_server.hpp"

#include <fcntl.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <clew/json.hpp>

#include "server/http_test_server.hpp"

namespace clew::server {
namespace {

TEST(Http, AnswersOnAKeptConnection) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  const TestResponse ok = client.get("/ok");
  EXPECT_EQ(ok.status, 200);
  EXPECT_EQ(ok.header("content-type"), "application/json");
  EXPECT_EQ(ok.header("x-request-id").size(), 32U);
  EXPECT_EQ(ok.body, "{\"ok\":true}");
  EXPECT_EQ(client.get("/hello/w%C3%B6rld").body, "hello w\u00f6rld");
  EXPECT_EQ(client.request("POST", "/echo", "some text").body, "some text");
  EXPECT_EQ(test.server.connections(), 1U);
}

TEST(Http, PipelinedRequestsAreAnsweredInOrder) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    const std::string text = std::to_string(i);
    requests += i % 2 == 0 ? "GET /hello/" + text + " HTTP/1.1\r\nHost: a\r\n\r\n"
                           : "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: " +
                                 std::to_string(text.size()) + "\r\n\r\n" + text;
  }
  client.send(requests);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(client.read_response().body, (i % 2 == 0 ? "hello " : "") + std::to_string(i));
  }
}

TEST(Http, ARequestMayComeByteByByte) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  for (const char c :
       std::string("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n")) {
    client.send(std::string(1, c));
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(client.read_response().body, "abcde");
  EXPECT_EQ(client.get("/ok").status, 200);
}

TEST(Http, LargeBodiesPassBothWays) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  const std::string body(5'000'000, 'x');
  std::thread sender([&] {
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n" + body);
  });
  EXPECT_EQ(client.read_response().body, body);
  sender.join();
}

TEST(Http, Statuses) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  const TestResponse missing = client.get("/nope");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, "{\"detail\":\"Not Found\"}");
  const TestResponse wrong = client.request("PUT", "/hello/x");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("allow"), "GET, HEAD");
  EXPECT_EQ(wrong.body, "{\"detail\":\"Method Not Allowed\"}");
  const TestResponse redirect = client.get("/hello/x/?a=b");
  EXPECT_EQ(redirect.status, 307);
  EXPECT_EQ(redirect.header("location"), "/hello/x?a=b");
  EXPECT_EQ(client.get("/hello/%zz").status, 400);
  EXPECT_EQ(client.get("/hello/x?a=%00").status, 400);
  EXPECT_EQ(client.request("OPTIONS", "/hello/x").header("allow"), "OPTIONS, GET, HEAD");
  EXPECT_EQ(client.request("OPTIONS", "*").status, 204);
}

TEST(Http, HeadHasTheHeadOfGet) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  const TestResponse head = client.request("HEAD", "/hello/x");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-length"), "7");
  EXPECT_EQ(client.get("/hello/x").body, "hello x");
}

TEST(Http, EmptyResponsesHaveNoLength) {
  Router router;
  router.add("DELETE", "/x", [](Request&) { return empty_response(); });
  TestServer test(std::move(router));
  TestClient client = test.client();
  const TestResponse response = client.request("DELETE", "/x");
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.header("content-length"), "");
}

TEST(Http, WhatHandlersThrowIsAnswered) {
  Router router;
  router.add("GET", "/known", [](Request&) -> Response {
    throw HttpError(409, "taken \"twice\"", {{"retry-after", "7"}});
  });
  router.add("GET", "/unknown", [](Request&) -> Response { throw std::runtime_error("secret"); });
  router.add("GET", "/odd", [](Request&) -> Response { throw 1; });
  router.add("GET", "/split",
             [](Request&) { return Response{.headers = {{"location", "/a\r\nset-cookie: b"}}}; });
  std::mutex mutex;
  std::string reported;
  TestServer test(std::move(router), {.on_error = [&](std::string_view id, std::string_view what) {
                    const std::lock_guard lock(mutex);
                    reported += std::string(id) + " " + std::string(what) + "\n";
                  }});
  TestClient client = test.client();
  const TestResponse known = client.get("/known");
  EXPECT_EQ(known.status, 409);
  EXPECT_EQ(known.header("retry-after"), "7");
  EXPECT_EQ(known.body, R"({"detail":"taken \"twice\""})");
  for (const char* path : {"/unknown", "/odd", "/split"}) {
    const TestResponse response = client.get(path, "X-Request-Id: id-7\r\n");
    EXPECT_EQ(response.status, 500) << path;
    EXPECT_EQ(response.body, "{\"detail\":\"Internal Server Error\"}");
    EXPECT_EQ(response.header("x-request-id"), "id-7");
    EXPECT_EQ(response.header("set-cookie"), "");
  }
  const std::lock_guard lock(mutex);
  EXPECT_EQ(reported,
            "id-7 secret\n"
            "id-7 what was thrown is no std::exception\n"
            "id-7 a response header has a line break or a control character\n");
}

TEST(Http, HandlersSeeTheRequest) {
  Router router;
  router.add("GET", "/see", [](Request& request) {
    return text_response(request.query.at("q") + "|" + request.query.all("a").back() + "|" +
                         *request.headers.find("X-ODD") + "|" + request.id + "|" +
                         request.remote_address + "|" + request.path);
  });
  TestServer test(std::move(router));
  TestClient client = test.client();
  EXPECT_EQ(client.get("/see?a=1&q=x+y&a=2", "x-odd:  v \r\nX-Request-ID: r1\r\n").body,
            "x y|2|v|r1|127.0.0.1|/see");
  EXPECT_EQ(client.get("/see?a=1", "x-odd: v\r\n").status, 422);
}

TEST(Http, MiddlewareStandsBeforeAllThatIsNotPublic) {
  Router router = echo_routes();
  TestServer test(std::move(router),
                  {.middleware = [](Request& request) -> std::optional<Response> {
                    if (request.headers.find("x-api-key")) return std::nullopt;
                    return error_response(401, "Who are you?");
                  }});
  TestClient client = test.client();
  EXPECT_EQ(client.get("/ok").status, 200);
  EXPECT_EQ(client.get("/hello/x").status, 401);
  EXPECT_EQ(client.get("/hello/x", "X-Api-Key: k\r\n").status, 200);
}

TEST(Http, ContinueIsSaidBeforeTheBody) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  client.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_head().status, 100);
  client.send("abc");
  EXPECT_EQ(client.read_response().body, "abc");
  EXPECT_EQ(client.request("POST", "/echo", "abc", "Expect: tea\r\n").status, 417);
}

TEST(Http, OldClientsAreClosedUnlessTheyAskOtherwise) {
  TestServer test(echo_routes());
  TestClient one = test.client();
  one.send("GET /ok HTTP/1.0\r\n\r\n");
  EXPECT_EQ(one.read_response().header("connection"), "close");
  EXPECT_TRUE(one.reads_end());
  TestClient two = test.client();
  two.send("GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(two.read_response().header("connection"), "keep-alive");
  EXPECT_EQ(two.get("/ok").status, 200);
}

TEST(Http, CloseIsHonoured) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  EXPECT_EQ(client.get("/ok", "Connection: close\r\n").header("connection"), "close");
  EXPECT_TRUE(client.reads_end());
}

TEST(Http, AHalfClosedClientGetsItsAnswers) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  client.send("GET /hello/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /hello/2 HTTP/1.1\r\nHost: a\r\n\r\n");
  client.close_sending_side();
  EXPECT_EQ(client.read_response().body, "hello 1");
  EXPECT_EQ(client.read_response().body, "hello 2");
  EXPECT_TRUE(client.reads_end());
}

TEST(Http, AHandlerLearnsThatItsClientLeft) {
  std::latch left(1);
  Router router;
  router.add("GET", "/long", [&](Request& request) {
    const std::stop_callback on_leave(request.disconnected, [&] { left.count_down(); });
    left.wait();
    return Response{};
  });
  TestServer test(std::move(router));
  TestClient client = test.client();
  client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
  client.reset();
  left.wait();
  EXPECT_TRUE(eventually([&] { return test.server.connections() == 0; }));
}

TEST(Http, ManyConnectionsAtOnce) {
  TestServer test(echo_routes());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      TestClient client = test.client();
      for (int i = 0; i < 200; ++i) {
        const std::string text = std::to_string(t * 1000 + i);
        right += client.request("POST", "/echo", text).body == text;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 1600);
}

TEST(Http, TheAccessRecordHoldsNoPayload) {
  std::mutex mutex;
  std::string line;
  TestServer test(echo_routes(), {.on_access = [&](const AccessRecord& record) {
                    const std::lock_guard lock(mutex);
                    line = access_log_line(record);
                  }});
  TestClient client = test.client();
  client.request("POST", "/echo?token=secret", "payload", "X-Request-Id: r1\r\n");
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return !line.empty();
  }));
  const Value record = parse_json(line);
  EXPECT_EQ(record["method"], "POST");
  EXPECT_EQ(record["path"], "/echo");
  EXPECT_EQ(record["route"], "/echo");
  EXPECT_EQ(record["status"], 200);
  EXPECT_EQ(record["request_id"], "r1");
  EXPECT_EQ(line.find("secret"), std::string::npos);
  EXPECT_EQ(line.find("payload"), std::string::npos);
}

TEST(Http, APortInUseIsNamed) {
  TestServer test(echo_routes());
  HttpServer second(echo_routes(), {.port = test.server.port()});
  try {
    second.start();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(test.server.port())),
              std::string::npos);
  }
}

TEST(Http, StopLetsARequestEndAndClosesTheIdle) {
  std::latch began(1);
  Router router = echo_routes();
  router.add("GET", "/slow", [&](Request&) {
    began.count_down();
    std::this_thread::sleep_for(200ms);
    return text_response("done");
  });
  TestServer test(std::move(router));
  TestClient idle = test.client();
  idle.get("/ok");
  TestClient busy = test.client();
  busy.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
  began.wait();
  std::thread stopper([&] { test.server.stop(5s); });
  EXPECT_TRUE(idle.reads_end());
  const TestResponse response = busy.read_response();
  EXPECT_EQ(response.body, "done");
  EXPECT_EQ(response.header("connection"), "close");
  EXPECT_TRUE(busy.reads_end());
  busy.close();
  stopper.join();
  EXPECT_THROW(test.client(), std::runtime_error);
}

// Whether the descriptor is a socket at this port of this machine.
bool is_at_port(int file, std::uint16_t port) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  return getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
         address.sin_family == AF_INET && ntohs(address.sin_port) == port;
}

TEST(Http, ProgramsThatAreStartedDoNotInheritSockets) {
  TestServer test(echo_routes());
  TestClient client = test.client();
  client.get("/ok");
  int found = 0;
  for (int file = 0; file < 1024; ++file) {
    if (!is_at_port(file, test.server.port())) continue;
    ++found;
    EXPECT_NE(fcntl(file, F_GETFD) & FD_CLOEXEC, 0) << file;
  }
  EXPECT_EQ(found, 2);  // the one that listens and the one that was accepted
}

TEST(Http, StopIsBoundedByItsGrace) {
  std::latch began(1);
  Router router;
  router.add("GET", "/long", [&](Request& request) {
    began.count_down();
    while (!request.disconnected.stop_requested()) std::this_thread::sleep_for(1ms);
    return Response{};
  });
  TestServer test(std::move(router));
  TestClient client = test.client();
  client.send("GET /long HTTP/1.1\r\nHost: a\r\n\r\n");
  began.wait();
  const auto start = std::chrono::steady_clock::now();
  test.server.stop(100ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

}  // namespace
}  // namespace clew::server

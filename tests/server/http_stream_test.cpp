#include "server/http_stream.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "server/http_test_server.hpp"

namespace clew::server {
namespace {

constexpr std::string_view kGetStream = "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n";

struct StreamServer {
  explicit StreamServer(Heartbeat heartbeat = {}, HttpOptions options = {})
      : source(std::make_shared<FedSource>()),
        test(routes(source, heartbeat), std::move(options)) {}

  static Router routes(const std::shared_ptr<FedSource>& source, const Heartbeat& heartbeat) {
    Router router = echo_routes();
    add_stream(router, "/stream", source, heartbeat);
    return router;
  }

  std::shared_ptr<FedSource> source;
  TestServer test;
};

TEST(Stream, BytesGoOutInChunksAsTheyCome) {
  StreamServer server;
  TestClient client = server.test.client();
  client.send(kGetStream);
  const TestResponse head = client.read_head();
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.header("content-type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(head.header("transfer-encoding"), "chunked");
  EXPECT_EQ(head.header("content-length"), "");
  server.source->feed("one");
  EXPECT_EQ(client.read_chunk(), "one");
  server.source->feed("two");
  EXPECT_EQ(client.read_chunk(), "two");
  server.source->feed("last", true);
  EXPECT_EQ(client.read_chunk(), "last");
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(client.get("/ok").status, 200);  // the connection goes on
  EXPECT_EQ(server.source->cut(), std::nullopt);
}

TEST(Stream, TheFirstBytesLeaveWithTheHead) {
  StreamServer server;
  server.source->feed("at once", true);
  TestClient client = server.test.client();
  EXPECT_EQ(client.get("/stream").body, "at once");
}

TEST(Stream, HeadHasNoStream) {
  StreamServer server;
  TestClient client = server.test.client();
  EXPECT_EQ(client.request("HEAD", "/stream").header("transfer-encoding"), "chunked");
  EXPECT_EQ(client.get("/ok").status, 200);
  EXPECT_EQ(server.source->asked(), 0);
}

TEST(Stream, OldClientsGetItUntilTheEndOfTheConnection) {
  StreamServer server;
  TestClient client = server.test.client();
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.read_head().header("transfer-encoding"), "");
  server.source->feed("plain", true);
  EXPECT_EQ(client.read_all(), "plain");
}

TEST(Stream, SilenceIsBrokenByHeartbeats) {
  StreamServer server({.text = ": heartbeat\r\n\r\n", .after = 150ms});
  TestClient client = server.test.client();
  client.send(kGetStream);
  client.read_head();
  EXPECT_EQ(client.read_chunk(), ": heartbeat\r\n\r\n");
  EXPECT_EQ(client.read_chunk(), ": heartbeat\r\n\r\n");
  server.source->feed("news");
  EXPECT_EQ(client.read_chunk(), "news");
  EXPECT_EQ(client.read_chunk(), ": heartbeat\r\n\r\n");
}

TEST(Stream, TheSourceIsToldThatTheClientLeft) {
  for (const bool with_reset : {false, true}) {
    StreamServer server;
    TestClient client = server.test.client();
    client.send(kGetStream);
    client.read_head();
    with_reset ? client.reset() : client.close();
    EXPECT_TRUE(eventually([&] { return server.source->cut() == StreamCut::client_left; }));
    EXPECT_TRUE(eventually([&] { return server.test.server.connections() == 0; }));
  }
}

TEST(Stream, AClientThatLeavesBetweenBytesIsNoticed) {
  StreamServer server;
  std::atomic<bool> stop = false;
  std::thread feeder([&] {
    while (!stop) server.source->feed("0123456789");
  });
  TestClient client = server.test.client();
  client.send(kGetStream);
  client.read_head();
  client.read_chunk();
  client.close();
  EXPECT_TRUE(eventually([&] { return server.source->cut() == StreamCut::client_left; }));
  stop = true;
  feeder.join();
}

// Has always more, and counts what it gave.
class Endless : public StreamSource {
 public:
  void start(Wake) override {}
  StreamPiece next() override {
    given += 100'000;
    return {std::string(100'000, 'x'), StreamThen::more};
  }
  void on_cut(StreamCut) override { is_cut = true; }

  std::atomic<std::size_t> given = 0;
  std::atomic<bool> is_cut = false;
};

TEST(Stream, ASlowClientIsNotAskedForAndIsLeftInTheEnd) {
  const auto source = std::make_shared<Endless>();
  Router router;
  add_stream(router, "/stream", source);
  TestServer test(std::move(router), {.write_timeout = 500ms});
  TestClient client = test.client(4096);
  client.send(kGetStream);
  EXPECT_TRUE(eventually([&] { return source->given > 0; }));
  EXPECT_TRUE(eventually([&] { return source->is_cut.load(); }));
  EXPECT_LT(source->given, 20'000'000U);  // what the socket's buffers hold
}

class Failing : public StreamSource {
 public:
  explicit Failing(int good) : good_(good) {}
  void start(Wake) override {}
  StreamPiece next() override {
    if (good_-- == 0) throw std::runtime_error("secret");
    return {"good", StreamThen::more};
  }

 private:
  int good_;
};

TEST(Stream, ASourceThatFailsAtOnceIsA500) {
  Router router;
  add_stream(router, "/stream", std::make_shared<Failing>(0));
  TestServer test(std::move(router));
  TestClient client = test.client();
  const TestResponse response = client.get("/stream");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "{\"detail\":\"Internal Server Error\"}");
}

TEST(Stream, ASourceThatFailsLaterLeavesTheBodyUnfinished) {
  std::atomic<int> reported = 0;
  Router router;
  add_stream(router, "/stream", std::make_shared<Failing>(2));
  TestServer test(std::move(router),
                  {.on_error = [&](std::string_view, std::string_view) { ++reported; }});
  TestClient client = test.client();
  client.send(kGetStream);
  client.read_head();
  EXPECT_EQ(client.read_chunk(), "good");
  EXPECT_EQ(client.read_chunk(), "good");
  EXPECT_EQ(client.read_all(), "");
  EXPECT_EQ(reported, 1);
}

TEST(Stream, FiveHundredAtOnce) {
  const std::size_t kCount = 500;
  std::mutex mutex;
  std::vector<std::shared_ptr<FedSource>> sources;
  Router router;
  router.add("GET", "/stream", [&](Request&) {
    auto source = std::make_shared<FedSource>();
    const std::lock_guard lock(mutex);
    sources.push_back(source);
    return Response{.stream = source};
  });
  TestServer test(std::move(router));
  std::vector<TestClient> clients;
  for (std::size_t i = 0; i < kCount; ++i) {
    clients.push_back(test.client());
    clients.back().send(kGetStream);
  }
  for (TestClient& client : clients) EXPECT_EQ(client.read_head().status, 200);
  for (int round = 0; round < 3; ++round) {
    for (const auto& source : sources) source->feed("round " + std::to_string(round));
    for (TestClient& client : clients) {
      EXPECT_EQ(client.read_chunk(), "round " + std::to_string(round));
    }
  }
  for (const auto& source : sources) source->end();
  for (TestClient& client : clients) EXPECT_EQ(client.read_chunk(), "");
}

TEST(Stream, NothingIsLostWhenWakesAndAsksRace) {
  StreamServer server;
  TestClient client = server.test.client();
  client.send(kGetStream);
  client.read_head();
  std::string expected;
  std::thread feeder([&] {
    for (int i = 0; i < 5000; ++i) server.source->feed(std::to_string(i) + " ");
    server.source->end();
  });
  for (int i = 0; i < 5000; ++i) expected += std::to_string(i) + " ";
  std::string received;
  for (std::string chunk = client.read_chunk(); !chunk.empty(); chunk = client.read_chunk()) {
    received += chunk;
  }
  feeder.join();
  EXPECT_EQ(received, expected);
}

TEST(Stream, ARequestBehindAStreamWaitsForItsEnd) {
  StreamServer server;
  TestClient client = server.test.client();
  client.send(kGetStream);
  client.send("GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n");
  client.read_head();
  server.source->feed("s", true);
  EXPECT_EQ(client.read_chunk(), "s");
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(client.read_response().body, "hello x");
}

TEST(Stream, StopEndsStreamsProperly) {
  StreamServer server;
  std::vector<TestClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(server.test.client());
    clients.back().send(kGetStream);
    clients.back().read_head();
  }
  std::thread stopper([&] { server.test.server.stop(5s); });
  for (TestClient& client : clients) {
    EXPECT_EQ(client.read_chunk(), "");
    EXPECT_TRUE(client.reads_end());
    client.close();
  }
  stopper.join();
  EXPECT_EQ(server.source->cut(), StreamCut::server_stopped);
  server.source->feed("too late");  // the wake finds nobody
}

TEST(Stream, StopBreaksOffWhatIsAllOrNothing) {
  const auto source = std::make_shared<FedSource>();
  Router router;
  router.add("GET", "/stream",
             [source](Request&) { return Response{.stream = source, .is_all_or_nothing = true}; });
  TestServer test(std::move(router));
  TestClient client = test.client();
  client.send(kGetStream);
  client.read_head();
  source->feed("[1,");
  EXPECT_EQ(client.read_chunk(), "[1,");
  std::thread stopper([&] { test.server.stop(5s); });
  EXPECT_EQ(client.read_all(), "");  // no last chunk
  client.close();
  stopper.join();
  EXPECT_EQ(source->cut(), StreamCut::server_stopped);
}

TEST(Stream, AWakeMayOutliveTheServer) {
  auto source = std::make_shared<FedSource>();
  {
    Router router;
    add_stream(router, "/stream", source);
    TestServer test(std::move(router));
    TestClient client = test.client();
    client.send(kGetStream);
    client.read_head();
    test.server.stop(0ms);
  }
  source->feed("to nobody");
  EXPECT_EQ(source->cut(), StreamCut::server_stopped);
}

}  // namespace
}  // namespace clew::server

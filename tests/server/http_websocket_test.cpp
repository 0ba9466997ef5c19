#include "server/http_websocket.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "server/http_test_server.hpp"

namespace clew::server {
namespace {

constexpr std::string_view kUpgrade =
    "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

struct Frame {
  int opcode = 0;
  std::string payload;
};

// A frame as clients send it, masked with zeros.
std::string client_frame(std::string_view payload, int opcode = 1) {
  std::string frame(1, static_cast<char>(0x80 | opcode));
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else {
    frame += static_cast<char>(0x80 | 126);
    frame += static_cast<char>(payload.size() >> 8);
    frame += static_cast<char>(payload.size() & 0xff);
  }
  return frame.append(4, '\0').append(payload);
}

Frame read_frame(TestClient& client) {
  const std::string head = client.read_exactly(2);
  std::size_t size = static_cast<unsigned char>(head[1]);
  int length_bytes = size == 126 ? 2 : size == 127 ? 8 : 0;
  if (length_bytes > 0) size = 0;
  for (; length_bytes > 0; --length_bytes) {
    size = size << 8 | static_cast<unsigned char>(client.read_exactly(1)[0]);
  }
  return {head[0] & 0x0f, client.read_exactly(size)};
}

int close_code(const Frame& frame) {
  EXPECT_EQ(frame.opcode, 8);
  return static_cast<unsigned char>(frame.payload.at(0)) << 8 |
         static_cast<unsigned char>(frame.payload.at(1));
}

class EchoSession : public WebSocketSession {
 public:
  void on_open() override { send("welcome"); }
  void on_message(std::string text) override {
    if (text == "leave") return close(4001, "as asked");
    if (text == "fail") throw std::runtime_error("secret");
    send("echo " + text);
  }
  void on_drained() override { ++drained; }
  void on_close() override { ++closed; }

  std::atomic<int> drained = 0;
  std::atomic<int> closed = 0;
};

struct WebSocketServer {
  explicit WebSocketServer(HttpOptions options = {})
      : session(std::make_shared<EchoSession>()), test(routes(), std::move(options)) {}

  Router routes() {
    Router router = echo_routes();
    router.add_websocket("/socket/{name}", [this](Request& request) {
      if (request.path_parameters.at("name") == "nobody") throw HttpError(404, "Nobody here");
      return session;
    });
    return router;
  }

  // A client that read the welcome.
  TestClient connected() {
    TestClient client = test.client();
    const TestResponse response = client.get("/socket/x", kUpgrade);
    EXPECT_EQ(response.status, 101);
    EXPECT_EQ(response.header("sec-websocket-accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_EQ(read_frame(client).payload, "welcome");
    return client;
  }

  std::shared_ptr<EchoSession> session;
  TestServer test;
};

TEST(WebSocket, MessagesGoBothWays) {
  WebSocketServer server;
  TestClient client = server.connected();
  for (int i = 0; i < 100; ++i) {
    client.send(client_frame(std::to_string(i)));
    EXPECT_EQ(read_frame(client).payload, "echo " + std::to_string(i));
  }
  client.send(client_frame("one") + client_frame("two"));
  EXPECT_EQ(read_frame(client).payload, "echo one");
  EXPECT_EQ(read_frame(client).payload, "echo two");
  EXPECT_TRUE(eventually([&] { return server.session->drained > 0; }));
}

TEST(WebSocket, AnyThreadMaySend) {
  WebSocketServer server;
  TestClient client = server.connected();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_TRUE(server.session->send("m"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(read_frame(client).payload, "m");
}

TEST(WebSocket, TheQueueIsBounded) {
  WebSocketServer server({.websocket_queue_bytes = 100'000});
  TestClient client = server.connected();
  const std::string large(50'000, 'x');
  int sent = 0;
  while (sent < 1000 && server.session->send(large)) ++sent;
  EXPECT_LT(sent, 1000);
  for (int i = 0; i < sent; ++i) EXPECT_EQ(read_frame(client).payload.size(), large.size());
  EXPECT_TRUE(eventually([&] { return server.session->send("again"); }));
  EXPECT_EQ(read_frame(client).payload, "again");
}

TEST(WebSocket, BothSidesMayClose) {
  WebSocketServer server;
  TestClient one = server.connected();
  one.send(client_frame("\x03\xe8", 8));
  EXPECT_EQ(close_code(read_frame(one)), 1000);
  EXPECT_TRUE(eventually([&] { return server.session->closed == 1; }));
  EXPECT_FALSE(server.session->send("to nobody"));

  TestClient two = server.connected();
  two.send(client_frame("leave"));
  EXPECT_EQ(close_code(read_frame(two)), 4001);
  two.send(client_frame("\x0f\xa1", 8));
  EXPECT_TRUE(eventually([&] { return server.session->closed == 2; }));

  TestClient three = server.connected();
  three.reset();
  EXPECT_TRUE(eventually([&] { return server.session->closed == 3; }));
  EXPECT_TRUE(eventually([&] { return server.test.server.connections() == 0; }));
}

TEST(WebSocket, FailuresAndForeignFramesClose) {
  WebSocketServer server({.websocket_message_bytes = 1000});
  TestClient failing = server.connected();
  failing.send(client_frame("fail"));
  EXPECT_EQ(close_code(read_frame(failing)), 1011);
  TestClient binary = server.connected();
  binary.send(client_frame("\x01\x02", 2));
  EXPECT_EQ(close_code(read_frame(binary)), 1003);
  TestClient not_utf8 = server.connected();
  not_utf8.send(client_frame("\xff\xff"));
  EXPECT_EQ(close_code(read_frame(not_utf8)), 1007);
  TestClient large = server.connected();
  large.send(client_frame(std::string(1001, 'x')));
  EXPECT_EQ(close_code(read_frame(large)), 1009);
}

TEST(WebSocket, MayBeRefused) {
  WebSocketServer server;
  TestClient client = server.test.client();
  const TestResponse refused = client.get("/socket/nobody", kUpgrade);
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.body, "{\"detail\":\"Nobody here\"}");
  EXPECT_EQ(client.get("/ok").status, 200);
  EXPECT_EQ(client.get("/socket/x").status, 404);  // no upgrade asked for, and no route without one
}

TEST(WebSocket, PagesOfOtherOriginsAreRefused) {
  WebSocketServer server;
  const std::string upgrade(kUpgrade);
  TestClient stranger = server.test.client();
  EXPECT_EQ(stranger.get("/socket/x", upgrade + "Origin: http://evil.example\r\n").status, 403);
  TestClient own = server.test.client();
  EXPECT_EQ(own.get("/socket/x", upgrade + "Origin: http://localhost\r\n").status, 101);

  HttpOptions options;
  options.cors = CorsOptions{.allowed_origins = {"http://app.example"}};
  WebSocketServer open(std::move(options));
  TestClient allowed = open.test.client();
  EXPECT_EQ(allowed.get("/socket/x", upgrade + "Origin: http://app.example\r\n").status, 101);
}

TEST(WebSocket, MiddlewareIsAsked) {
  WebSocketServer server({.middleware = [](Request&) { return error_response(401, "no"); }});
  TestClient client = server.test.client();
  EXPECT_EQ(client.get("/socket/x", kUpgrade).status, 401);
}

TEST(WebSocket, StopSaysGoodbye) {
  WebSocketServer server;
  TestClient client = server.connected();
  std::thread stopper([&] { server.test.server.stop(5s); });
  EXPECT_EQ(close_code(read_frame(client)), 1001);
  client.send(client_frame("\x03\xe9", 8));
  EXPECT_TRUE(client.reads_end());
  stopper.join();
  EXPECT_EQ(server.session->closed, 1);
}

}  // namespace
}  // namespace clew::server

// A small blocking HTTP client that shows what is on the wire.
//
//   TestClient client(server.port());
//   EXPECT_EQ(client.get("/ok").body, R"({"ok":true})");
//
// Whatever does not come within ten seconds is a failure (std::runtime_error).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clew::server {

struct TestResponse {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // The value of `name` (lower case); "" if there is none.
  std::string header(std::string_view name) const;
};

class TestClient {
 public:
  explicit TestClient(std::uint16_t port, int receive_buffer = 0);
  TestClient(TestClient&& other) noexcept;
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient();

  void send(std::string_view bytes);
  // As send(), but an error is no failure: the server may have closed already.
  bool try_send(std::string_view bytes);

  // The next response, with its body unless the request was HEAD.
  TestResponse read_response(bool has_body = true);
  TestResponse read_head();
  // One chunk of a chunked body; "" is the last one.
  std::string read_chunk();
  std::string read_exactly(std::size_t size);
  // Reads until the server closes; false if it reset the connection.
  bool reads_end();
  // What came before the server closed, if it did so within ten seconds.
  std::string read_all();

  TestResponse get(std::string_view target, std::string_view headers = {});
  TestResponse request(std::string_view method, std::string_view target, std::string_view body = {},
                       std::string_view headers = {});

  void close();
  void close_sending_side();
  // Closes so that the server sees a reset.
  void reset();

 private:
  bool fill();  // false: the server closed
  std::string read_line();

  int socket_ = -1;
  std::string received_;
};

}  // namespace clew::server

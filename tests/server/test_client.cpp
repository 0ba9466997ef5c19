#include "server/test_client.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace clew::server {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string TestResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

TestClient::TestClient(std::uint16_t port, int receive_buffer)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const timeval ten_seconds{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &ten_seconds, sizeof ten_seconds);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &ten_seconds, sizeof ten_seconds);
  if (receive_buffer > 0) {
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket_);
    fail("connect");
  }
}

TestClient::TestClient(TestClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

TestClient::~TestClient() { close(); }

void TestClient::send(std::string_view bytes) {
  if (!try_send(bytes)) fail("send");
}

bool TestClient::try_send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool TestClient::fill() {
  std::array<char, 65536> bytes;
  const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (size < 0) fail("receive");
  received_.append(bytes.data(), static_cast<std::size_t>(size));
  return size > 0;
}

std::string TestClient::read_line() {
  std::size_t end;
  while ((end = received_.find("\r\n")) == std::string::npos) {
    if (!fill()) throw std::runtime_error("closed within a line: " + received_);
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 2);
  return line;
}

std::string TestClient::read_exactly(std::size_t size) {
  while (received_.size() < size) {
    if (!fill()) throw std::runtime_error("closed too early");
  }
  std::string bytes = received_.substr(0, size);
  received_.erase(0, size);
  return bytes;
}

TestResponse TestClient::read_head() {
  TestResponse response;
  const std::string status_line = read_line();
  if (!status_line.starts_with("HTTP/1.1 ")) throw std::runtime_error("not HTTP: " + status_line);
  response.status = std::stoi(status_line.substr(9, 3));
  for (std::string line = read_line(); !line.empty(); line = read_line()) {
    const std::size_t colon = line.find(": ");
    response.headers.emplace_back(lower(line.substr(0, colon)), line.substr(colon + 2));
  }
  return response;
}

TestResponse TestClient::read_response(bool has_body) {
  TestResponse response = read_head();
  if (!has_body) return response;
  if (response.header("transfer-encoding") == "chunked") {
    for (std::string chunk = read_chunk(); !chunk.empty(); chunk = read_chunk()) {
      response.body += chunk;
    }
  } else if (const std::string length = response.header("content-length"); !length.empty()) {
    response.body = read_exactly(std::stoul(length));
  }
  return response;
}

std::string TestClient::read_chunk() {
  const std::size_t size = std::stoul(read_line(), nullptr, 16);
  std::string chunk = read_exactly(size);
  if (!read_line().empty()) throw std::runtime_error("a chunk does not end in CRLF");
  return chunk;
}

bool TestClient::reads_end() {
  try {
    while (fill()) {
    }
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::string TestClient::read_all() {
  while (fill()) {
  }
  return std::exchange(received_, {});
}

TestResponse TestClient::get(std::string_view target, std::string_view headers) {
  return request("GET", target, {}, headers);
}

TestResponse TestClient::request(std::string_view method, std::string_view target,
                                 std::string_view body, std::string_view headers) {
  std::string text(method);
  text.append(" ").append(target).append(" HTTP/1.1\r\nHost: localhost\r\n").append(headers);
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  send(text.append("\r\n").append(body));
  return read_response(method != "HEAD");
}

void TestClient::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void TestClient::close_sending_side() { ::shutdown(socket_, SHUT_WR); }

void TestClient::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

}  // namespace clew::server

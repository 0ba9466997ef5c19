#include "server/http_websocket_connection.hpp"

#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace clew::server {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using boost::beast::error_code;

constexpr int kGoingAway = 1001;
constexpr int kTextOnly = 1003;
constexpr int kInternalError = 1011;

// How long the other side may take to close once one side said that it closes.
constexpr std::chrono::milliseconds kCloseTimeout{2000};

// What the handshake looks at.
http::request<http::empty_body> handshake_request(const Request& request) {
  http::request<http::empty_body> handshake;
  handshake.version(11);
  handshake.method(http::verb::get);
  handshake.target(request.target);
  for (const auto& [name, value] : request.headers) handshake.insert(name, value);
  return handshake;
}

}  // namespace

// The queue between the threads that send and the io thread that writes. Held
// by the session, so it may outlive connection and server.
class WebSocketConnection::Link : public WebSocketLink {
 public:
  Link(std::shared_ptr<IoThread> io, std::weak_ptr<WebSocketConnection> connection,
       std::size_t max_bytes)
      : io_(std::move(io)), connection_(std::move(connection)), max_bytes_(max_bytes) {}

  bool send(std::string text) override {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || close_) return false;
      if (!messages_.empty() && bytes_ + text.size() > max_bytes_) return false;
      bytes_ += text.size();
      messages_.push_back(std::move(text));
      if (messages_.size() > 1) return true;  // the pump is at work
    }
    pump();
    return true;
  }

  void close(int code, std::string reason) override {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || close_) return;
      close_.emplace(code, std::move(reason));
    }
    pump();
  }

  // The message to send next. It counts as waiting until sent() is called.
  std::optional<std::string> begin_sending() {
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) return std::nullopt;
    sending_bytes_ = messages_.front().size();
    return std::move(messages_.front());
  }

  // Returns whether nothing is left.
  bool sent() {
    const std::lock_guard lock(mutex_);
    bytes_ -= sending_bytes_;
    messages_.pop_front();
    return messages_.empty();
  }

  std::optional<std::pair<int, std::string>> asked_to_close() {
    const std::lock_guard lock(mutex_);
    return close_;
  }

  void closed() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    messages_.clear();
  }

 private:
  void pump() {
    io_->post([weak = connection_] {
      if (const auto connection = weak.lock()) connection->pump();
    });
  }

  const std::shared_ptr<IoThread> io_;
  const std::weak_ptr<WebSocketConnection> connection_;
  const std::size_t max_bytes_;
  std::mutex mutex_;
  std::deque<std::string> messages_;
  std::size_t bytes_ = 0;
  std::size_t sending_bytes_ = 0;
  std::optional<std::pair<int, std::string>> close_;
  bool is_closed_ = false;
};

// Kept out of the header, because Beast is slow to compile. Without compression:
// it would cost every idle connection its windows.
struct WebSocketConnection::Wire {
  explicit Wire(asio::ip::tcp::socket socket) : stream(std::move(socket)) {}

  websocket::stream<asio::ip::tcp::socket, false> stream;
  boost::beast::flat_buffer received;
};

WebSocketConnection::WebSocketConnection(std::shared_ptr<ServerContext> server, IoThread& io,
                                         asio::ip::tcp::socket socket,
                                         std::shared_ptr<WebSocketSession> session)
    : server_(std::move(server)),
      io_(io),
      session_(std::move(session)),
      calls_(std::make_shared<SerialQueue>(server_->pool)),
      wire_(std::make_unique<Wire>(std::move(socket))) {}

WebSocketConnection::~WebSocketConnection() = default;

void WebSocketConnection::start(const Request& request) {
  link_ = std::make_shared<Link>(io_.shared_from_this(), weak_from_this(),
                                 server_->options().websocket_queue_bytes);
  wire_->stream.set_option(
      websocket::stream_base::timeout::suggested(boost::beast::role_type::server));
  wire_->stream.auto_fragment(false);
  wire_->stream.control_callback([this](websocket::frame_type type, boost::beast::string_view) {
    if (type == websocket::frame_type::close) end_session();
  });
  wire_->stream.read_message_max(server_->options().websocket_message_bytes);
  wire_->stream.async_accept(handshake_request(request),
                             [self = shared_from_this()](const error_code& error) {
                               if (error) return self->close();
                               self->accepted();
                             });
}

void WebSocketConnection::accepted() {
  if (is_closed_) return;
  is_open_ = true;
  session_->attach(link_);
  call_session([](WebSocketSession& session) { session.on_open(); });
  if (server_->stopping) begin_stop();
  read();
}

void WebSocketConnection::read() {
  if (is_closed_ || is_shut_) return;
  wire_->stream.async_read(wire_->received,
                           [self = shared_from_this()](const error_code& error, std::size_t) {
                             if (error) return self->close();
                             self->take_message();
                           });
}

void WebSocketConnection::take_message() {
  if (!wire_->stream.got_text()) return shut(kTextOnly, "only text messages are understood");
  const auto bytes = wire_->received.data();
  std::string text(static_cast<const char*>(bytes.data()), bytes.size());
  wire_->received = boost::beast::flat_buffer();  // an idle connection keeps no memory
  call_session([self = shared_from_this(), text = std::move(text)](WebSocketSession& session) {
    session.on_message(text);
    self->io_.post([self] { self->read(); });
  });
}

// Runs `call` on a worker after the calls before it.
template <class Call>
void WebSocketConnection::call_session(Call call) {
  calls_->post([self = shared_from_this(), call = std::move(call)]() mutable {
    const bool done = self->server_->dispatcher.attempt({}, [&] { call(*self->session_); });
    if (!done) self->link_->close(kInternalError, "internal error");
  });
}

void WebSocketConnection::pump() {
  if (!is_open_ || is_closed_ || is_sending_ || is_shut_) return;
  std::optional<std::string> text = link_->begin_sending();
  if (!text) {
    if (const auto close = link_->asked_to_close()) shut(close->first, close->second);
    return;
  }
  sending_ = std::move(*text);
  is_sending_ = true;
  write_deadline_ = Clock::now() + server_->options().write_timeout;
  wire_->stream.text(true);
  wire_->stream.async_write(asio::buffer(sending_),
                            [self = shared_from_this()](const error_code& error, std::size_t) {
                              if (error) return self->close();
                              self->message_was_sent();
                            });
}

void WebSocketConnection::message_was_sent() {
  if (!is_open_) return;
  is_sending_ = false;
  std::string().swap(sending_);
  write_deadline_ = Clock::time_point::max();
  if (link_->sent()) call_session([](WebSocketSession& session) { session.on_drained(); });
  pump();
}

// Sends the closing frame; the client's own ends the connection.
void WebSocketConnection::shut(int code, const std::string& reason) {
  if (is_closed_ || std::exchange(is_shut_, true)) return;
  write_deadline_ = Clock::now() + kCloseTimeout;
  // A frame has room for 123 bytes.
  const websocket::close_reason close(static_cast<websocket::close_code>(code),
                                      reason.substr(0, 123));
  wire_->stream.async_close(close,
                            [self = shared_from_this()](const error_code&) { self->close(); });
}

void WebSocketConnection::close() {
  if (std::exchange(is_closed_, true)) return;
  const auto self = shared_from_this();
  error_code ignored;
  wire_->stream.next_layer().close(ignored);
  end_session();
  io_.remove(*this);
}

// Nothing more is sent or received. The client may take a while to close its side.
void WebSocketConnection::end_session() {
  if (!std::exchange(is_open_, false)) return;
  write_deadline_ = Clock::now() + kCloseTimeout;
  link_->closed();
  session_->attach(nullptr);
  call_session([](WebSocketSession& session) { session.on_close(); });
}

void WebSocketConnection::tick(Clock::time_point now) {
  if (now >= write_deadline_) close();
}

void WebSocketConnection::begin_stop() {
  if (is_open_) link_->close(kGoingAway, "the server stops");
}

}  // namespace clew::server

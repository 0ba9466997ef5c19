#include "server/http_connection.hpp"

#include <algorithm>
#include <exception>

#include "server/http_head.hpp"
#include "server/http_websocket_connection.hpp"
#include "value/check.hpp"

namespace clew::server {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// How much of the next requests is read while one is answered. Reading on is
// how one learns that the client is gone.
constexpr std::size_t kReadAhead = std::size_t{16} << 10;

// A body must bring this much within HttpOptions::body_timeout.
constexpr std::size_t kBodyStep = std::size_t{64} << 10;

// How long a client may take to read the last response before the connection
// is closed; closing at once could destroy what it has not read yet.
constexpr std::chrono::milliseconds kLinger{1000};

// What the log says of a request whose client did not wait.
constexpr int kClientLeft = 499;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

bool is_only_for_now(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again ||
         error == asio::error::interrupted;
}

}  // namespace

// Outlives the connection and even the server, as long as a source holds it.
class Connection::Waker : public WakeTarget {
 public:
  Waker(std::shared_ptr<IoThread> io, std::weak_ptr<Connection> connection)
      : io_(std::move(io)), connection_(std::move(connection)) {}

  void wake() noexcept override {
    if (is_pending_->exchange(true)) return;
    io_->post([connection = connection_, is_pending = is_pending_] {
      is_pending->store(false);
      if (const auto woken = connection.lock()) woken->on_wake();
    });
  }

 private:
  const std::shared_ptr<IoThread> io_;
  const std::weak_ptr<Connection> connection_;
  const std::shared_ptr<std::atomic<bool>> is_pending_ = std::make_shared<std::atomic<bool>>(false);
};

Connection::Connection(std::shared_ptr<ServerContext> server, IoThread& io, Socket socket)
    : server_(std::move(server)), io_(io), socket_(std::move(socket)) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  const auto client = socket_.remote_endpoint(ignored);
  if (!ignored) remote_address_ = client.address().to_string(ignored);
}

void Connection::start() {
  set_deadline(server_->options().header_timeout);
  advance();
}

void Connection::refuse() {
  fail(HttpError(503, "Too many connections", {{"retry-after", "1"}}));
  advance();
}

// Parses what was read, as long as that leads anywhere, and then waits for more.
void Connection::advance() {
  while (state_ == State::reading && parse()) {
  }
  if (input_.empty()) std::string().swap(input_);
  if (wants_input()) await_input();
}

// Returns whether there may be more to parse.
bool Connection::parse() {
  if (input_.empty()) {
    if (input_ended_) close();
    return false;
  }
  if (!parser_) {
    const Dispatcher& dispatcher = server_->dispatcher;
    parser_ = std::make_unique<RequestParser>(
        server_->options().max_header_bytes,
        [&dispatcher](const Request& request) { return dispatcher.body_limit(request); });
    sent_continue_ = false;
    body_seen_ = 0;
    set_deadline(server_->options().header_timeout);
  }
  try {
    const bool had_header = parser_->header_done();
    input_.erase(0, parser_->feed(input_));
    if (parser_->done()) {
      begin_request();
      return true;
    }
    const std::size_t body = parser_->request().body.size();
    if (parser_->header_done() && (!had_header || body >= body_seen_ + kBodyStep)) {
      body_seen_ = body;
      set_deadline(server_->options().body_timeout);
    }
  } catch (const HttpError& error) {
    fail(error);
    return false;
  }
  if (input_ended_) {
    close();
  } else if (parser_->header_done() && parser_->expects_continue() && !sent_continue_) {
    send_continue();
  }
  return false;
}

// So few bytes fit into the socket, unless the client takes nothing at all.
void Connection::send_continue() {
  sent_continue_ = true;
  error_code error;
  const std::size_t sent = socket_.send(asio::buffer(kContinue), 0, error);
  if (error || sent != kContinue.size()) close();
}

void Connection::begin_request() {
  exchange_ = std::make_unique<Exchange>();
  Request& request = exchange_->request;
  request = std::move(parser_->request());
  request.remote_address = remote_address_;
  exchange_->keep_alive = parser_->keep_alive();
  exchange_->is_http_1_0 = parser_->is_http_1_0();
  exchange_->began = Clock::now();
  parser_.reset();
  state_ = State::handling;
  deadline_ = Clock::time_point::max();

  const Dispatcher& dispatcher = server_->dispatcher;
  Dispatcher::Resolved resolved = dispatcher.resolve(request);
  exchange_->route = resolved.route;
  if (resolved.answer) {
    answer(std::move(*resolved.answer));
  } else if (resolved.route->websocket) {
    upgrade_on_worker();
  } else if (dispatcher.runs_inline(*resolved.route, request)) {
    Response response = dispatcher.run(*resolved.route, request);
    CLEW_CHECK(!response.stream);  // RouteOptions::runs_inline
    answer(std::move(response));
  } else {
    handle_on_worker();
  }
}

// Until the worker posts its result, the exchange is the worker's.
void Connection::handle_on_worker() {
  exchange_->stop = std::stop_source();
  exchange_->request.disconnected = exchange_->stop.get_token();
  server_->pool->post([self = shared_from_this(), exchange = exchange_.get()] {
    Response response = self->server_->dispatcher.run(*exchange->route, exchange->request);
    std::optional<StreamPiece> first;
    if (response.stream && exchange->request.method != "HEAD") {
      first = self->start_source(response, exchange->request.id);
    }
    self->io_.post([self, response = std::move(response), first = std::move(first)]() mutable {
      self->take_response(std::move(response), std::move(first));
    });
  });
}

// On a worker. The first bytes are asked for here, so that they leave together with the head.
std::optional<StreamPiece> Connection::start_source(Response& response,
                                                    const std::string& request_id) {
  std::optional<StreamPiece> first;
  const bool started = server_->dispatcher.attempt(request_id, [&] {
    response.stream->start(Wake(std::make_shared<Waker>(io_.shared_from_this(), weak_from_this())));
    first = response.stream->next();
  });
  if (!started) response = error_response(500, "Internal Server Error");
  return first;
}

void Connection::take_response(Response response, std::optional<StreamPiece> first) {
  if (state_ != State::handling) {
    const bool is_cut = first && first->then != StreamThen::end;
    if (is_cut) tell_source(std::move(response.stream), reason_for_cut());
    exchange_->status = kClientLeft;
    record_access();
    exchange_.reset();
  } else if (first) {
    begin_stream(std::move(response), std::move(*first));
  } else {
    answer(std::move(response));
  }
  advance();
}

void Connection::upgrade_on_worker() {
  server_->pool->post([self = shared_from_this(), exchange = exchange_.get()] {
    const Dispatcher& dispatcher = self->server_->dispatcher;
    Dispatcher::Upgrade upgrade = dispatcher.open_websocket(*exchange->route, exchange->request);
    self->io_.post(
        [self, upgrade = std::move(upgrade)]() mutable { self->take_upgrade(std::move(upgrade)); });
  });
}

void Connection::take_upgrade(Dispatcher::Upgrade upgrade) {
  if (state_ != State::handling) {
    exchange_.reset();
  } else if (!upgrade.session) {
    answer(std::move(upgrade.refusal));
  } else if (!input_.empty()) {
    answer(error_response(400, "Wait for the handshake before sending"));
  } else {
    exchange_->status = 101;
    record_access();
    auto websocket = std::make_shared<WebSocketConnection>(server_, io_, std::move(socket_),
                                                           std::move(upgrade.session));
    io_.add(websocket);  // before this one leaves, so that the server is never seen empty
    websocket->start(exchange_->request);
    state_ = State::closed;
    io_.remove(*this);
  }
  advance();
}

void Connection::answer(Response response) {
  server_->dispatcher.complete(exchange_->request, response);
  exchange_->status = response.status;
  exchange_->keep_alive = exchange_->keep_alive && !server_->stopping;
  HeadOptions head{.keep_alive = exchange_->keep_alive, .is_http_1_0 = exchange_->is_http_1_0};
  if (response.stream) {
    head.is_chunked = !exchange_->is_http_1_0;  // the head of what GET would stream
  } else if (may_have_body(response.status)) {
    head.content_length = response.body.size();
  }
  const bool has_body = head.content_length && exchange_->request.method != "HEAD";
  state_ = State::writing;
  output_.set(response_head(response, head), has_body ? std::move(response.body) : std::string());
  send_output();
}

// Answers what could not be understood, or came too late, and closes.
void Connection::fail(const HttpError& error) {
  exchange_ = std::make_unique<Exchange>();
  exchange_->began = Clock::now();
  if (parser_) exchange_->request = std::move(parser_->request());
  exchange_->request.remote_address = remote_address_;
  server_->dispatcher.identify(exchange_->request);
  answer(error.response());
}

void Connection::finish_response() {
  record_access();
  const bool keep_alive = exchange_->keep_alive;
  exchange_.reset();
  drop_source();
  streaming_.reset();
  if (!keep_alive || server_->stopping) return linger();
  state_ = State::reading;
  set_deadline(server_->options().idle_timeout);
}

void Connection::record_access() {
  const auto& on_access = server_->options().on_access;
  if (!on_access) return;
  on_access({.request = exchange_->request,
             .route = exchange_->route ? std::string_view(exchange_->route->pattern) : "",
             .status = exchange_->status,
             .bytes_sent = exchange_->bytes_sent,
             .duration = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() -
                                                                               exchange_->began)});
}

void Connection::begin_stream(Response response, StreamPiece first) {
  server_->dispatcher.complete(exchange_->request, response);
  const bool is_chunked = !exchange_->is_http_1_0;
  exchange_->status = response.status;
  exchange_->keep_alive = exchange_->keep_alive && is_chunked;
  std::string head =
      response_head(response, {.is_chunked = is_chunked, .keep_alive = exchange_->keep_alive});

  // A stream may last for days: what was asked is no longer needed.
  exchange_->request.headers = {};
  exchange_->request.query = {};
  std::string().swap(exchange_->request.body);

  streaming_ = std::make_unique<Streaming>();
  streaming_->source = std::move(response.stream);
  streaming_->heartbeat = std::move(response.heartbeat);
  streaming_->is_chunked = is_chunked;
  streaming_->is_all_or_nothing = response.is_all_or_nothing;
  streaming_->is_woken = std::exchange(woken_early_, false);
  state_ = State::streaming;
  first.bytes.insert(0, response.body);
  if (server_->stopping) cut_for_stop(first);
  send_piece(std::move(head), std::move(first));
}

void Connection::ask() {
  streaming_->is_asking = true;
  streaming_->is_woken = false;
  server_->pool->post([self = shared_from_this(), source = streaming_->source] {
    std::optional<StreamPiece> piece;
    const std::string& request_id = self->exchange_->request.id;
    self->server_->dispatcher.attempt(request_id, [&] { piece = source->next(); });
    self->io_.post([self, piece = std::move(piece)]() mutable {
      if (piece) {
        self->take_piece(std::move(*piece));
      } else {
        self->source_failed();
      }
      self->advance();
    });
  });
}

void Connection::take_piece(StreamPiece piece) {
  streaming_->is_asking = false;
  if (state_ == State::closed) {
    if (piece.then != StreamThen::end) {
      tell_source(std::move(streaming_->source), reason_for_cut());
    }
    return leave_stream();
  }
  if (streaming_->is_cut) cut_for_stop(piece);
  send_piece({}, std::move(piece));
}

// The server stops: these are the last bytes, and the source is told if it does not know.
void Connection::cut_for_stop(StreamPiece& piece) {
  if (piece.then == StreamThen::end) return;
  piece.then = StreamThen::end;
  streaming_->is_broken_off = streaming_->is_all_or_nothing;
  tell_source(std::move(streaming_->source), StreamCut::server_stopped);
}

void Connection::send_piece(std::string head, StreamPiece piece) {
  std::string tail;
  if (streaming_->is_chunked && !piece.bytes.empty()) {
    head += chunk_begin(piece.bytes.size());
    tail += kChunkEnd;
  }
  const bool is_whole = piece.then == StreamThen::end && !streaming_->is_broken_off;
  if (streaming_->is_chunked && is_whole) tail += kLastChunk;
  streaming_->then = piece.then;
  streaming_->last_sent = Clock::now();
  output_.set(std::move(head), std::move(piece.bytes), std::move(tail));
  send_output();
}

void Connection::piece_was_sent() {
  if (streaming_->then == StreamThen::end) {
    finish_response();
  } else if (streaming_->is_cut) {
    StreamPiece last;
    cut_for_stop(last);
    send_piece({}, std::move(last));
  } else if (streaming_->then == StreamThen::more || streaming_->is_woken) {
    ask();
  }
}

void Connection::on_wake() {
  if (!streaming_) {
    woken_early_ = state_ == State::handling;
    return;
  }
  streaming_->is_woken = true;
  const bool is_idle = state_ == State::streaming && output_.empty() && !streaming_->is_asking;
  if (is_idle && streaming_->then == StreamThen::wait) ask();
}

StreamCut Connection::reason_for_cut() const {
  return server_->stopping ? StreamCut::server_stopped : StreamCut::client_left;
}

void Connection::tell_source(std::shared_ptr<StreamSource> source, StreamCut cut) {
  server_->pool->post([server = server_, source = std::move(source), cut]() mutable {
    server->dispatcher.attempt({}, [&] { source->on_cut(cut); });
    source.reset();
  });
}

// Without the last chunk the client knows that something is missing.
void Connection::source_failed() {
  streaming_->is_asking = false;
  streaming_->then = StreamThen::end;
  if (state_ == State::closed) return leave_stream();
  close();
}

// The connection is closed, and no worker is in the source.
void Connection::leave_stream() {
  record_access();
  drop_source();
  streaming_.reset();
  exchange_.reset();
}

// Sources end on workers: what they hold may take its time.
void Connection::drop_source() {
  if (!streaming_ || !streaming_->source) return;
  server_->pool->post([source = std::move(streaming_->source)]() mutable { source.reset(); });
}

bool Connection::wants_input() const {
  if (input_ended_ || state_ == State::closed) return false;
  if (state_ == State::reading || state_ == State::lingering) return true;
  // The socket of a WebSocket to be is about to move on.
  if (exchange_->route && exchange_->route->websocket) return false;
  return input_.size() < kReadAhead;
}

void Connection::await_input() {
  if (std::exchange(awaits_input_, true)) return;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const error_code& error) {
    self->awaits_input_ = false;
    if (self->state_ == State::closed) return;
    if (error) return self->close();
    self->read_some();
    self->advance();
  });
}

void Connection::read_some() {
  error_code error;
  const std::span<char> scratch = io_.scratch();
  const std::size_t size = socket_.receive(asio::buffer(scratch.data(), scratch.size()), 0, error);
  if (is_only_for_now(error)) return;
  if (error == asio::error::eof) return on_end_of_input();
  if (error) return close();
  if (state_ != State::lingering) input_.append(scratch.data(), size);
}

void Connection::on_end_of_input() {
  input_ended_ = true;
  if (state_ == State::streaming || state_ == State::lingering) return close();
  if (exchange_) stop_handler();
}

void Connection::send_output() {
  error_code error;
  while (!output_.empty()) {
    const std::size_t size = socket_.send(output_.buffers(), 0, error);
    if (is_only_for_now(error)) return await_output();
    if (error) return close();
    output_.sent(size);
    exchange_->bytes_sent += size;
  }
  deadline_ = Clock::time_point::max();
  if (state_ == State::streaming) {
    piece_was_sent();
  } else {
    finish_response();
  }
}

void Connection::await_output() {
  set_deadline(server_->options().write_timeout);
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const error_code& error) {
    if (self->state_ == State::closed) return;
    if (error) return self->close();
    self->send_output();
    self->advance();
  });
}

void Connection::linger() {
  error_code error;
  socket_.shutdown(Socket::shutdown_send, error);
  if (error || input_ended_) return close();
  state_ = State::lingering;
  std::string().swap(input_);
  parser_.reset();
  set_deadline(kLinger);
}

void Connection::stop_handler() {
  // Not on a worker: all of them may be in handlers that wait for this.
  exchange_->stop.request_stop();
}

void Connection::close() {
  if (state_ == State::closed) return;
  const auto self = shared_from_this();  // leaving the thread may drop the last other owner
  const State was = std::exchange(state_, State::closed);
  error_code ignored;
  socket_.close(ignored);
  parser_.reset();
  if (exchange_) stop_handler();
  if (streaming_ && !streaming_->is_asking) {
    if (streaming_->then != StreamThen::end) {
      tell_source(std::move(streaming_->source), reason_for_cut());
    }
    leave_stream();
  } else if (was == State::writing) {
    record_access();
    exchange_.reset();
  }
  io_.remove(*this);
}

void Connection::tick(Clock::time_point now) {
  if (now >= deadline_) {
    on_timeout();
    advance();
  } else if (state_ == State::streaming && output_.empty() && !streaming_->is_asking) {
    const auto& [text, after] = streaming_->heartbeat;
    if (after.count() > 0 && now - streaming_->last_sent >= after) {
      send_piece({}, {.bytes = text, .then = streaming_->then});
    }
  }
}

void Connection::on_timeout() {
  deadline_ = Clock::time_point::max();
  if (state_ == State::reading && parser_ && parser_->begun()) {
    fail(HttpError(408, "The request took too long to arrive"));
  } else {
    close();
  }
}

void Connection::begin_stop() {
  if (state_ == State::reading && !parser_) {
    close();
  } else if (state_ == State::streaming) {
    streaming_->is_cut = true;
    if (output_.empty() && !streaming_->is_asking) piece_was_sent();
    advance();
  }
}

void Connection::set_deadline(std::chrono::milliseconds from_now) {
  deadline_ = Clock::now() + from_now;
}

}  // namespace clew::server

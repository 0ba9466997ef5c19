// One HTTP/1.1 connection: reads requests, has them answered, writes responses
// and streams.
//
//   reading -> handling -> writing -> reading ...       keep-alive
//                       -> streaming -> writing -> ...  a response with a source
//                       -> (a WebSocketConnection takes the socket)
//   any -> lingering -> closed                          the client may read what was written
//
// Everything happens on the connection's io thread, except what is said to
// happen on a worker. Whatever a callback does, it ends in advance().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>

#include "server/http_io.hpp"
#include "server/http_message.hpp"
#include "server/http_output.hpp"
#include "server/http_parser.hpp"
#include "server/http_stream.hpp"

namespace clew::server {

class Connection : public IoConnection, public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  Connection(std::shared_ptr<ServerContext> server, IoThread& io, Socket socket);

  void start();

  // Says 503 and closes.
  void refuse();

  void tick(Clock::time_point now) override;
  void begin_stop() override;
  void close() override;

 private:
  enum class State { reading, handling, writing, streaming, lingering, closed };

  // What is kept of a request while it is answered.
  struct Exchange {
    Request request;
    const Route* route = nullptr;
    bool keep_alive = false;
    bool is_http_1_0 = false;
    std::stop_source stop{std::nostopstate};
    Clock::time_point began;
    int status = 0;
    std::uint64_t bytes_sent = 0;
  };

  struct Streaming {
    std::shared_ptr<StreamSource> source;
    Heartbeat heartbeat;
    Clock::time_point last_sent;
    StreamThen then = StreamThen::more;
    bool is_asking = false;  // a worker is in next()
    bool is_woken = false;
    bool is_cut = false;  // the server stops: end it at the next opportunity
    bool is_chunked = true;
    bool is_all_or_nothing = false;
    bool is_broken_off = false;  // its end is not to look like one
  };

  class Waker;

  void advance();
  bool parse();
  void send_continue();
  void begin_request();
  void handle_on_worker();
  void take_response(Response response, std::optional<StreamPiece> first);
  void upgrade_on_worker();
  void take_upgrade(Dispatcher::Upgrade upgrade);
  void answer(Response response);
  void fail(const HttpError& error);
  void finish_response();
  void record_access();
  void stop_handler();

  std::optional<StreamPiece> start_source(Response& response, const std::string& request_id);
  void begin_stream(Response response, StreamPiece first);
  void ask();
  void take_piece(StreamPiece piece);
  void send_piece(std::string head, StreamPiece piece);
  void piece_was_sent();
  void on_wake();
  void cut_for_stop(StreamPiece& piece);
  void tell_source(std::shared_ptr<StreamSource> source, StreamCut cut);
  void source_failed();
  void leave_stream();
  void drop_source();
  StreamCut reason_for_cut() const;

  bool wants_input() const;
  void await_input();
  void read_some();
  void on_end_of_input();
  void send_output();
  void await_output();
  void linger();
  void on_timeout();
  void set_deadline(std::chrono::milliseconds from_now);

  const std::shared_ptr<ServerContext> server_;
  IoThread& io_;
  Socket socket_;
  std::string remote_address_;
  State state_ = State::reading;
  bool awaits_input_ = false;
  bool input_ended_ = false;  // the client sends no more
  bool sent_continue_ = false;
  std::size_t body_seen_ = 0;  // when the deadline was set
  Clock::time_point deadline_ = Clock::time_point::max();
  std::string input_;  // read, but not yet parsed
  Output output_;
  std::unique_ptr<RequestParser> parser_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<Streaming> streaming_;
  bool woken_early_ = false;
};

}  // namespace clew::server

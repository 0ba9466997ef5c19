#include "server/http_server.hpp"

#include <fcntl.h>

#include <latch>
#include <string>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/http_connection.hpp"
#include "server/http_io.hpp"

namespace clew::server {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// How long to wait when the process has no descriptors left.
constexpr std::chrono::milliseconds kAcceptPause{100};

// Connections over the limit are told so, up to this many at once.
constexpr std::size_t kPolitelyRefused = 64;

constexpr std::uint16_t kLastPort = 65535;

// A program that a graph starts must not keep the server's port, or its clients.
void close_on_exec(int socket) { fcntl(socket, F_SETFD, FD_CLOEXEC); }

tcp::endpoint resolve(asio::io_context& context, const std::string& host, std::uint16_t port) {
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return {address, port};
  tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, std::to_string(port), error);
  if (error || found.empty()) {
    throw Error("cannot find the address of host '" + host + "': " + error.message());
  }
  return found.begin()->endpoint();
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Router router, HttpOptions options)
      : context_(std::make_shared<ServerContext>(std::move(router), std::move(options))) {}

  ~Impl() { stop(std::chrono::milliseconds(0)); }

  void start() {
    const std::size_t count = std::max<std::size_t>(context_->options().io_threads, 1);
    for (std::size_t i = 0; i < count; ++i)
      threads_.push_back(std::make_shared<IoThread>(*context_));
    try {
      listen();
    } catch (...) {
      acceptor_.reset();
      threads_.clear();
      throw;
    }
    accept_pause_.emplace(threads_[0]->context());
    for (const auto& thread : threads_) thread->start();
    threads_[0]->post([this] { accept(); });
  }

  void stop(std::chrono::milliseconds grace) {
    if (threads_.empty()) return;
    context_->stopping = true;
    on_all_threads([this](IoThread& thread) {
      if (&thread == threads_[0].get()) stop_accepting();
    });
    on_all_threads([](IoThread& thread) { thread.begin_stop(); });
    context_->wait_until_none_is_open(grace);
    on_all_threads([](IoThread& thread) { thread.close_all(); });
    context_->pool->stop();
    for (const auto& thread : threads_) thread->join();
    accept_pause_.reset();
    acceptor_.reset();
    threads_.clear();
  }

  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return context_->open; }
  const Router& router() const { return context_->dispatcher.router(); }

 private:
  void listen() {
    const HttpOptions& options = context_->options();
    tcp::endpoint endpoint = resolve(threads_[0]->context(), options.host, options.port);
    error_code error = listen(endpoint);
    for (int further = options.further_ports;
         error == asio::error::address_in_use && further > 0 && endpoint.port() < kLastPort;
         --further) {
      endpoint.port(endpoint.port() + 1);
      error = listen(endpoint);
    }
    if (error) {
      throw Error("cannot listen on " + options.host + ":" + std::to_string(options.port) + ": " +
                  error.message());
    }
    port_ = acceptor_->local_endpoint().port();
  }

  error_code listen(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor_.emplace(threads_[0]->context());
    acceptor_->open(endpoint.protocol(), error);
    if (!error) close_on_exec(acceptor_->native_handle());
    if (!error) acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_->bind(endpoint, error);
    if (!error) acceptor_->listen(asio::socket_base::max_listen_connections, error);
    return error;
  }

  // Connections are dealt to the threads in turn.
  void accept() {
    IoThread& thread = *threads_[next_++ % threads_.size()];
    acceptor_->async_accept(thread.context(),
                            [this, &thread](const error_code& error, tcp::socket socket) {
                              if (error == asio::error::operation_aborted || context_->stopping)
                                return;
                              if (error) return accept_later();
                              thread.post([this, &thread, socket = std::move(socket)]() mutable {
                                adopt(thread, std::move(socket));
                              });
                              accept();
                            });
  }

  void accept_later() {
    accept_pause_->expires_after(kAcceptPause);
    accept_pause_->async_wait([this](const error_code& error) {
      if (!error && acceptor_->is_open()) accept();
    });
  }

  void adopt(IoThread& thread, tcp::socket socket) {
    close_on_exec(socket.native_handle());
    const std::size_t limit = context_->options().max_connections;
    if (context_->stopping || context_->open >= limit + kPolitelyRefused) return;
    const bool is_refused = context_->open >= limit;
    auto connection = std::make_shared<Connection>(context_, thread, std::move(socket));
    thread.add(connection);
    if (is_refused) {
      connection->refuse();
    } else {
      connection->start();
    }
  }

  void stop_accepting() {
    error_code ignored;
    acceptor_->close(ignored);
    accept_pause_->cancel();
  }

  // Runs `work` on every io thread and waits for it.
  template <class Work>
  void on_all_threads(Work work) {
    std::latch done(static_cast<std::ptrdiff_t>(threads_.size()));
    for (const auto& thread : threads_) {
      thread->post([&done, &work, io = thread.get()] {
        work(*io);
        done.count_down();
      });
    }
    done.wait();
  }

  const std::shared_ptr<ServerContext> context_;
  std::vector<std::shared_ptr<IoThread>> threads_;
  std::optional<tcp::acceptor> acceptor_;
  std::optional<asio::steady_timer> accept_pause_;
  std::size_t next_ = 0;
  std::uint16_t port_ = 0;
};

HttpServer::HttpServer(Router router, HttpOptions options)
    : impl_(std::make_unique<Impl>(std::move(router), std::move(options))) {}
HttpServer::~HttpServer() = default;

void HttpServer::start() { impl_->start(); }
std::uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }
std::size_t HttpServer::connections() const { return impl_->connections(); }
const Router& HttpServer::router() const { return impl_->router(); }

}  // namespace clew::server

// A thread that reads and writes sockets. Every connection belongs to one such
// thread for its whole life, so connections need no locks.
#pragma once

// Boost 1.74 misses this include.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/http_dispatch.hpp"
#include "server/http_worker_pool.hpp"

namespace clew::server {

using Clock = std::chrono::steady_clock;

// What all connections of a server share.
struct ServerContext {
  ServerContext(Router router, HttpOptions options)
      : dispatcher(std::move(router), std::move(options)),
        pool(std::make_shared<WorkerPool>(dispatcher.options().worker_threads)) {}

  const HttpOptions& options() const { return dispatcher.options(); }

  const Dispatcher dispatcher;
  const std::shared_ptr<WorkerPool> pool;
  std::atomic<bool> stopping = false;

  void connection_opened() { ++open; }
  void connection_closed();
  bool wait_until_none_is_open(std::chrono::milliseconds limit);

  std::atomic<std::size_t> open = 0;

 private:
  std::mutex mutex_;
  std::condition_variable closed_;
};

// What an IoThread does with its connections. Called on that thread only.
class IoConnection {
 public:
  virtual ~IoConnection() = default;

  // Comes several times a second: the place to look at deadlines.
  virtual void tick(Clock::time_point now) = 0;

  // The server stops: end in good order.
  virtual void begin_stop() = 0;

  // Out of time: close now, and leave the thread.
  virtual void close() = 0;

 private:
  friend class IoThread;
  std::size_t slot_ = 0;
};

class IoThread : public std::enable_shared_from_this<IoThread> {
 public:
  // `server` must live until join() returns. It is not owned: a Wake keeps the thread's queue
  // alive, and may itself be kept by something that the server's routes hold.
  explicit IoThread(ServerContext& server);

  void start();

  // Ends the thread when nothing is left to do, which takes that all its connections are closed.
  void join();

  boost::asio::io_context& context() noexcept { return context_; }

  // May be called from any thread, also when the thread has ended; `work` is then never done.
  template <class Work>
  void post(Work work) {
    boost::asio::post(context_, std::move(work));
  }

  // The following are called on the thread itself.

  void add(std::shared_ptr<IoConnection> connection);
  void remove(IoConnection& connection);
  void begin_stop();
  void close_all();

  // Room for what is read next; whoever is called back may use it until it returns.
  std::span<char> scratch() noexcept { return scratch_; }

 private:
  void schedule_tick();
  void tick();

  ServerContext& server_;
  boost::asio::io_context context_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  boost::asio::steady_timer timer_;
  bool ticking_ = false;
  std::vector<std::shared_ptr<IoConnection>> connections_;
  std::array<char, std::size_t{64} << 10> scratch_;
  std::thread thread_;
};

}  // namespace clew::server

#include "server/http_io.hpp"

#include "value/check.hpp"

namespace clew::server {
namespace {

// How exact deadlines and heartbeats are. One timer for all connections costs
// nothing per request and next to nothing per idle connection.
constexpr std::chrono::milliseconds kTick{100};

}  // namespace

void ServerContext::connection_closed() {
  const std::lock_guard lock(mutex_);
  if (--open == 0) closed_.notify_all();
}

bool ServerContext::wait_until_none_is_open(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  return closed_.wait_for(lock, limit, [this] { return open == 0; });
}

IoThread::IoThread(ServerContext& server) : server_(server), context_(1), timer_(context_) {
  work_.emplace(context_.get_executor());
}

void IoThread::start() {
  thread_ = std::thread([this] { context_.run(); });
}

void IoThread::join() {
  post([this] {
    timer_.cancel();
    work_.reset();
  });
  if (thread_.joinable()) thread_.join();
}

void IoThread::add(std::shared_ptr<IoConnection> connection) {
  connection->slot_ = connections_.size();
  connections_.push_back(std::move(connection));
  server_.connection_opened();
  if (!ticking_) schedule_tick();
}

void IoThread::remove(IoConnection& connection) {
  const std::size_t slot = connection.slot_;
  CLEW_CHECK(slot < connections_.size() && connections_[slot].get() == &connection);
  connections_.back()->slot_ = slot;
  std::swap(connections_[slot], connections_.back());
  connections_.pop_back();
  server_.connection_closed();
}

void IoThread::begin_stop() {
  // From the back: whoever leaves is replaced by one that was already called.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size()) std::shared_ptr(connections_[i])->begin_stop();
  }
}

void IoThread::close_all() {
  while (!connections_.empty()) std::shared_ptr(connections_.back())->close();
}

void IoThread::schedule_tick() {
  ticking_ = !connections_.empty();
  if (!ticking_) return;
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

void IoThread::tick() {
  const Clock::time_point now = Clock::now();
  for (std::size_t i = connections_.size(); i-- > 0;) {
    if (i < connections_.size()) std::shared_ptr(connections_[i])->tick(now);
  }
  schedule_tick();
}

}  // namespace clew::server

#include "server/log_writer.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "server/shapes.hpp"

namespace clew::server {
namespace {

constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
// What a pipe takes at once, if it takes anything.
constexpr std::size_t kPiece = 4096;
constexpr int kPatience = 200;  // milliseconds

// Who reads the log may leave; that is no reason to end.
void ignore_closed_pipes() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

std::string now_text() {
  return time_text(std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()));
}

}  // namespace

LogWriter::LogWriter(int file) : file_(file), worker_([this] { work(); }) {}

LogWriter::~LogWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void LogWriter::write(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() + line.size() > kMostWaiting) {
      ++left_out_;
      return;
    }
    waiting_.append(line).append("\n");
  }
  changed_.notify_one();
}

void LogWriter::write(std::string_view level, std::string_view message, const Value& more) {
  write(json_text(
      object({{"time", now_text()}, {"level", level}, {"message", message}}).merge(more)));
}

void LogWriter::work() {
  ignore_closed_pipes();
  for (bool is_last = false; !is_last;) {
    std::string text;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
      is_last = is_stopping_;
      text.swap(waiting_);
      if (left_out_ > 0) text += std::to_string(left_out_) + " lines were left out here\n";
      left_out_ = 0;
    }
    put(text);
  }
}

void LogWriter::put(std::string_view text) {
  while (!text.empty()) {
    pollfd ready{file_, POLLOUT, 0};
    if (poll(&ready, 1, kPatience) == 0) {
      const std::lock_guard lock(mutex_);
      if (is_stopping_) return;
      continue;
    }
    const ssize_t size = ::write(file_, text.data(), std::min(text.size(), kPiece));
    if (size < 0 && errno != EINTR && errno != EAGAIN) return;
    if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace clew::server

// Lines of a log, written by a thread of its own: whoever has something to say
// never waits for a terminal or a pipe. Of lines that come faster than they are
// taken some are left out, and the log says how many.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <clew/value.hpp>

namespace clew::server {

class LogWriter {
 public:
  // Writes to the file descriptor, which stays open.
  explicit LogWriter(int file);
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  // Writes what is left, unless nobody takes it.
  ~LogWriter();

  // All may be called from any thread. A line has no line break of its own.
  void write(std::string_view line);

  // {"time", "level", "message", ...}
  void write(std::string_view level, std::string_view message, const Value& more = object());

 private:
  void work();
  void put(std::string_view text);

  const int file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::size_t left_out_ = 0;
  bool is_stopping_ = false;
  std::thread worker_;
};

}  // namespace clew::server

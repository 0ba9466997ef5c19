// Waits until the program is told to end.
#pragma once

#include <signal.h>

#include <stop_token>

namespace clew::server {

// Takes SIGINT and SIGTERM from its beginning on, in this thread and in those that
// are started after it, so it is made before all others. When it is gone they
// have their former effect again.
class StopSignal {
 public:
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  // Returns when one of the signals came or `stop` was asked for.
  void wait(const std::stop_token& stop);

 private:
  int wake_ = -1;  // an eventfd
  int signals_ = -1;
  sigset_t before_ = {};
};

}  // namespace clew::server

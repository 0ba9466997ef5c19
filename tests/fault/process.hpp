// A part of a test that runs in a process of its own.
#pragma once

#include <functional>

#include <sys/types.h>

namespace clew::fault {

struct Ending {
  bool was_killed = false;  // by SIGKILL
  int code = 0;             // otherwise

  bool is_success() const { return !was_killed && code == 0; }
};

// Made by fork() without exec, which takes a fraction of the time: so this
// process must have no other threads and no open database. What `body` throws
// is printed and gives code 1. A child that takes minutes is ended.
class Process {
 public:
  explicit Process(const std::function<void()>& body);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  Ending wait();

 private:
  pid_t id_;
  bool has_ended_ = false;
};

inline Ending run_in_process(const std::function<void()>& body) { return Process(body).wait(); }

}  // namespace clew::fault

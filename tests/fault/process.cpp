#include "process.hpp"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>

#include <sys/wait.h>

#include <clew/error.hpp>

namespace clew::fault {
namespace {

constexpr unsigned kPatienceSeconds = 240;

[[noreturn]] void run_and_exit(const std::function<void()>& body) {
  ::alarm(kPatienceSeconds);
  int code = 0;
  try {
    body();
  } catch (const std::exception& error) {
    std::cout << "process: " << error.what() << std::endl;
    code = 1;
  }
  std::cout.flush();
  ::_exit(code);
}

}  // namespace

Process::Process(const std::function<void()>& body) {
  std::cout.flush();
  id_ = ::fork();
  if (id_ < 0) throw Error("cannot fork");
  if (id_ == 0) run_and_exit(body);
}

Process::~Process() {
  if (has_ended_) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

Ending Process::wait() {
  int status = 0;
  if (::waitpid(id_, &status, 0) != id_) throw Error("cannot wait for a process");
  has_ended_ = true;
  if (WIFEXITED(status)) return {.code = WEXITSTATUS(status)};
  if (WTERMSIG(status) == SIGKILL) return {.was_killed = true};
  return {.code = 128 + WTERMSIG(status)};
}

}  // namespace clew::fault

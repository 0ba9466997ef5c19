#include "cli/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include <sys/eventfd.h>

#include <clew/error.hpp>

namespace clew::cli {
namespace {

// A handler can do little more than write to a file.
std::atomic<int> wake = -1;

void on_signal(int) { eventfd_write(wake, 1); }

void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(Console& console) : console_(console) {
  if (console_.stop.stop_possible()) return;
  wake = eventfd(0, EFD_CLOEXEC);
  if (wake < 0) throw Error("cannot wait for signals: too many files are open");
  console_.stop = source_.get_token();
  watcher_ = std::jthread([this] { watch(); });
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
}

Interrupt::~Interrupt() {
  if (!watcher_.joinable()) return;
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  eventfd_write(wake, 1);
  watcher_.join();
  close(wake);
  console_.stop = {};
}

// Woken by a signal, or by the end.
void Interrupt::watch() {
  eventfd_t count = 0;
  eventfd_read(wake, &count);
  source_.request_stop();
}

}  // namespace clew::cli

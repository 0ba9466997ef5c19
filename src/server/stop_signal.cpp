#include "server/stop_signal.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <clew/error.hpp>

namespace clew::server {

StopSignal::StopSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  signals_ = signalfd(-1, &signals, SFD_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || wake_ < 0) throw Error("cannot wait for signals: too many files are open");
}

StopSignal::~StopSignal() {
  close(signals_);
  close(wake_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void StopSignal::wait(const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [this] { eventfd_write(wake_, 1); });
  pollfd files[] = {{signals_, POLLIN, 0}, {wake_, POLLIN, 0}};
  while (poll(files, 2, -1) < 0 && errno == EINTR) {
  }
  // Taken, or the signal would end the program when it is let through again.
  if (files[0].revents != 0) {
    signalfd_siginfo taken;
    [[maybe_unused]] const auto size = read(signals_, &taken, sizeof taken);
  }
}

}  // namespace clew::server

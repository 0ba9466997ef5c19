// Ctrl-C, and SIGTERM, while something is under way that must not break off anywhere.
//
//   const Interrupt interrupt(console);
//   for (...) if (console.stop.stop_requested()) return Interrupt::kStatus;
//
// The first one asks console.stop; the second one ends the program at once.
#pragma once

#include <stop_token>
#include <thread>

#include "cli/console.hpp"

namespace clew::cli {

class Interrupt {
 public:
  // One at a time. A console that can be stopped by other means stays as it is.
  explicit Interrupt(Console& console);
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  // What a program exits with that Ctrl-C has ended.
  static constexpr int kStatus = 130;

 private:
  void watch();

  Console& console_;
  std::stop_source source_;
  std::jthread watcher_;
};

}  // namespace clew::cli

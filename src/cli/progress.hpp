// How far long work is, in one line that is drawn over and over:
//
//   copy  [##########----------]  512 of 1,024 threads
//
// Nothing is drawn where nobody watches.
#pragma once

#include <chrono>
#include <string>

#include "cli/console.hpp"

namespace clew::cli {

class Progress {
 public:
  // `noun` is what is counted, "threads".
  Progress(Console& console, std::string verb, std::string noun, std::size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Removes the line.
  ~Progress();

  void set(std::size_t done);

 private:
  void draw(std::size_t done);

  Console& console_;
  const std::string verb_;
  const std::string noun_;
  const std::size_t total_;
  std::chrono::steady_clock::time_point drawn_at_ = {};
  bool is_drawn_ = false;
};

}  // namespace clew::cli

// What a workload measured, and the JSON line it prints: key by key and digit
// by digit the line of langgraph/bench.py.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <clew/value.hpp>

namespace clew::bench {

// Measures from its construction on.
class Stopwatch {
 public:
  Stopwatch();
  double wall() const;
  double cpu() const;

 private:
  double cpu_start_;
  std::chrono::steady_clock::time_point wall_start_;
};

// Seconds per repetition.
struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;  // user and system time of the process; empty if not taken

  // Adds a repetition: what `operation()` takes.
  template <class Operation>
  void measure(const Operation& operation) {
    const Stopwatch watch;
    operation();
    wall.push_back(watch.wall());
    cpu.push_back(watch.cpu());
  }
};

struct Row {
  std::string workload;
  std::string backend;
  std::int64_t n = 1;  // operations per repetition
  Times times;
  std::optional<int> steps{};  // super-steps per operation
  std::optional<std::int64_t> bytes_on_disk{};
  Value extra = object();
};

double median(std::vector<double> numbers);

// As Python's round(): the double nearest to the decimal rounding of `number`.
double rounded(double number, int digits);

// A benchmark whose results are wrong measures nothing: throws Error that names `what`.
void expect(bool is_right, std::string_view what);

// Prints the line. The process's memory is taken at this moment.
void emit(const Row& row);

}  // namespace clew::bench

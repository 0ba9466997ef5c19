// What a workload measured, and the JSON line it prints: key by key and digit
// by digit the line of langgraph/bench.py.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew::bench {

// Seconds per repetition.
struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;  // user and system time of the process; empty if not taken
};

// Measures from its construction on.
class Stopwatch {
 public:
  Stopwatch();
  double wall() const;
  double cpu() const;

 private:
  std::chrono::steady_clock::time_point wall_start_;
  double cpu_start_;
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

// Prints the line. The process's memory is taken at this moment.
void emit(const Row& row);

}  // namespace clew::bench

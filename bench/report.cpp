#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <sys/resource.h>

#include <clew/json.hpp>

namespace clew::bench {
namespace {

double process_cpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double rss_mb() {
  std::ifstream statm("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return rounded(resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6, 1);
}

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return rounded(static_cast<double>(usage.ru_maxrss) / 1e3, 1);
}

void add_times(ObjectBuilder& line, const Row& row) {
  const auto n = static_cast<double>(row.n);
  const double wall = median(row.times.wall);
  line.set("ops_per_s", rounded(n / wall, 2));
  line.set("us_per_op", rounded(wall / n * 1e6, 2));
  line.set("us_per_superstep",
           row.steps ? Value(rounded(wall / n / *row.steps * 1e6, 2)) : Value());
  ListBuilder walls;
  for (double seconds : row.times.wall) walls.push_back(rounded(seconds, 4));
  line.set("wall_s", std::move(walls).build());
  if (row.times.cpu.empty()) return;
  const double cpu = median(row.times.cpu);
  line.set("cpu_us_per_op", rounded(cpu / n * 1e6, 2));
  if (row.steps) line.set("cpu_us_per_superstep", rounded(cpu / n / *row.steps * 1e6, 2));
}

}  // namespace

// The clock last: asking for the CPU time is a system call.
Stopwatch::Stopwatch() : cpu_start_(process_cpu()), wall_start_(std::chrono::steady_clock::now()) {}

double Stopwatch::wall() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start_).count();
}

double Stopwatch::cpu() const { return process_cpu() - cpu_start_; }

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  if (numbers.size() % 2 == 1) return numbers[middle];
  return (numbers[middle - 1] + numbers[middle]) / 2;
}

double rounded(double number, int digits) {
  char text[400];  // the largest double has 309 digits before the point
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return std::strtod(text, nullptr);
}

void expect(bool is_right, std::string_view what) {
  if (!is_right) throw Error(std::string(what) + " is wrong");
}

void emit(const Row& row) {
  ObjectBuilder line;
  line.set("impl", "clew");
  line.set("workload", row.workload);
  line.set("backend", row.backend);
  line.set("n", row.n);
  if (!row.times.wall.empty()) add_times(line, row);
  line.set("bytes_on_disk", row.bytes_on_disk ? Value(*row.bytes_on_disk) : Value());
  line.set("rss_mb", rss_mb());
  line.set("peak_rss_mb", peak_rss_mb());
  for (auto [key, value] : row.extra.items()) line.set(key, value);
  std::puts(to_json(std::move(line).build(), {.spaced = true, .ascii_only = true}).c_str());
  std::fflush(stdout);
}

}  // namespace clew::bench

#include "server/metrics.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include <fmt/format.h>

namespace clew::server {
namespace {

// A caller's word is not taken: each new one would be counted on its own for ever.
std::string_view known_method(std::string_view method) {
  for (const std::string_view name : {"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"}) {
    if (method == name) return name;
  }
  return "other";
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void append_head(std::string& text, std::string_view name, std::string_view type,
                 std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void append_gauge(std::string& text, std::string_view name, std::string_view help, double value) {
  append_head(text, name, "gauge", help);
  fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

// Seconds that runs have been waiting, shortest first.
std::vector<double> waits(const ServerGauges& gauges, bool with_blocked) {
  std::vector<double> seconds;
  for (const WaitingRun& run : gauges.waiting) {
    if (run.is_blocked && !with_blocked) continue;
    seconds.push_back(std::chrono::duration<double>(run.waited).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

Value longest(const std::vector<double>& sorted) {
  return sorted.empty() ? Value() : Value(sorted.back());
}

Value median(const std::vector<double>& sorted) {
  if (sorted.empty()) return {};
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return (sorted[middle - 1] + sorted[middle]) / 2;
}

}  // namespace

// Counting ----------------------------------------------------------------------

void Metrics::Cell::add(const Cell& other) {
  count += other.count;
  seconds += other.seconds;
  for (std::size_t i = 0; i < within.size(); ++i) within[i] += other.within[i];
}

void Metrics::count(const AccessRecord& record) {
  const std::tuple<std::string_view, std::string_view, int> key{
      known_method(record.request.method), record.route.empty() ? "other" : record.route,
      record.status};
  const double seconds = std::chrono::duration<double>(record.duration).count();
  const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);

  Shard& shard = shards_[std::hash<std::thread::id>()(std::this_thread::get_id()) % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  auto cell = shard.cells.find(key);
  if (cell == shard.cells.end()) cell = shard.cells.emplace(Key(key), Cell()).first;
  ++cell->second.count;
  cell->second.seconds += seconds;
  if (bound != kBounds.end()) {
    ++cell->second.within[static_cast<std::size_t>(bound - kBounds.begin())];
  }
}

Metrics::Cells Metrics::sum() const {
  Cells all;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [key, cell] : shard.cells) all[key].add(cell);
  }
  return all;
}

// Showing -----------------------------------------------------------------------

std::string Metrics::prometheus(const ServerGauges& gauges) const {
  const Cells cells = sum();
  std::string text;
  append_requests(text, cells);
  append_durations(text, cells);
  append_gauge(text, "clew_http_connections", "Connections that are open.",
               static_cast<double>(gauges.connections));
  append_gauge(text, "clew_runs_pending", "Runs that have not begun.",
               static_cast<double>(gauges.runs.pending));
  append_gauge(text, "clew_runs_running", "Runs that execute.",
               static_cast<double>(gauges.runs.running));
  append_gauge(text, "clew_run_workers", "Runs that may execute at once.",
               static_cast<double>(gauges.workers));
  append_head(text, "clew_runs_finished_total", "counter", "Runs that ended, by status.");
  for (const auto& [status, count] : gauges.runs.finished) {
    fmt::format_to(std::back_inserter(text), "clew_runs_finished_total{{status=\"{}\"}} {}\n",
                   status, count);
  }
  append_gauge(text, "process_resident_memory_bytes", "Memory of the process.",
               static_cast<double>(resident_bytes()));
  append_gauge(text, "process_start_time_seconds", "When the server started, since 1970.",
               std::chrono::duration<double>(started_.time_since_epoch()).count());
  return text;
}

void Metrics::append_requests(std::string& text, const Cells& cells) {
  append_head(text, "clew_http_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, cell] : cells) {
    const auto& [method, route, status] = key;
    fmt::format_to(std::back_inserter(text),
                   "clew_http_requests_total{{method=\"{}\",path=\"{}\",status=\"{}\"}} {}\n",
                   method, route, status, cell.count);
  }
}

void Metrics::append_durations(std::string& text, const Cells& cells) {
  std::map<std::pair<std::string, std::string>, Cell> by_route;
  for (const auto& [key, cell] : cells) {
    by_route[{std::get<0>(key), std::get<1>(key)}].add(cell);
  }
  constexpr std::string_view kName = "clew_http_request_duration_seconds";
  append_head(text, kName, "histogram", "Time to answer; of a stream, until its end.");
  const auto out = std::back_inserter(text);
  for (const auto& [key, cell] : by_route) {
    const std::string labels = fmt::format("method=\"{}\",path=\"{}\"", key.first, key.second);
    std::uint64_t within = 0;
    for (std::size_t i = 0; i < kBounds.size(); ++i) {
      within += cell.within[i];
      fmt::format_to(out, "{}_bucket{{{},le=\"{}\"}} {}\n", kName, labels, kBounds[i], within);
    }
    fmt::format_to(out, "{}_bucket{{{},le=\"+Inf\"}} {}\n", kName, labels, cell.count);
    fmt::format_to(out, "{}_sum{{{}}} {}\n", kName, labels, cell.seconds);
    fmt::format_to(out, "{}_count{{{}}} {}\n", kName, labels, cell.count);
  }
}

Value Metrics::json(const ServerGauges& gauges) const {
  const std::vector<double> all = waits(gauges, true);
  ListBuilder requests;
  for (const auto& [key, cell] : sum()) {
    const auto& [method, route, status] = key;
    requests.push_back(
        object({{"method", method}, {"path", route}, {"status", status}, {"count", cell.count}}));
  }
  const std::size_t active = std::min(gauges.runs.running, gauges.workers);
  return object({{"queue", object({{"n_pending", gauges.runs.pending},
                                   {"pending_runs_wait_time_max_secs", longest(all)},
                                   {"pending_runs_wait_time_med_secs", median(all)},
                                   {"pending_unblocked_runs_wait_time_max_secs",
                                    longest(waits(gauges, false))},
                                   {"n_running", gauges.runs.running}})},
                 {"api", object({{"http_requests_total", std::move(requests).build()}})},
                 {"workers", object({{"max", gauges.workers},
                                     {"active", active},
                                     {"available", gauges.workers - active}})}});
}

}  // namespace clew::server

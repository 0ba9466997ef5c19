// Counts what a server does, for GET /metrics.
//
//   http.on_access = [metrics](const AccessRecord& record) { metrics->count(record); };
//
// All methods may be called from any thread. Nothing of what callers send is kept
// but the method: paths are those of routes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "server/http_server.hpp"
#include "server/run_queue.hpp"

namespace clew::server {

// What there is at the moment.
struct ServerGauges {
  QueueCounts runs = {};
  std::vector<WaitingRun> waiting = {};
  std::size_t workers = 0;      // runs that may execute at once
  std::size_t connections = 0;  // that are open
};

class Metrics {
 public:
  // Quick: for HttpOptions::on_access.
  void count(const AccessRecord& record);

  // Text for Prometheus.
  std::string prometheus(const ServerGauges& gauges) const;

  // {"queue", "api", "workers"}
  Value json(const ServerGauges& gauges) const;

  static constexpr std::string_view kTextType = "text/plain; version=1.0.0; charset=utf-8";

 private:
  // Upper bounds in seconds; what takes longer is counted by the total alone.
  static constexpr std::array<double, 7> kBounds = {0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10};

  using Key = std::tuple<std::string, std::string, int>;  // method, route, status
  struct Cell {
    std::uint64_t count = 0;
    double seconds = 0;
    std::array<std::uint64_t, kBounds.size()> within{};  // each bound, not the sum of those below

    void add(const Cell& other);
  };
  using Cells = std::map<Key, Cell, std::less<>>;

  // Threads count in different shards, as good as always.
  struct alignas(64) Shard {
    mutable std::mutex mutex;
    Cells cells;
  };

  Cells sum() const;
  static void append_requests(std::string& text, const Cells& cells);
  static void append_durations(std::string& text, const Cells& cells);

  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::array<Shard, 8> shards_;
};

}  // namespace clew::server

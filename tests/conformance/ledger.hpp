// What bodies count over a whole scenario, also across rebuilt graphs: how often
// each was started, and how often each `fail` statement has raised.
//
// All methods may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <clew/value.hpp>

namespace clew::conformance {

class Ledger {
 public:
  // Counts a start of the body "graph.node"; returns how many there were, with this one.
  std::int64_t start(const std::string& body) {
    const std::lock_guard lock(mutex_);
    return ++starts_[body];
  }

  // Whether the `fail` statement at `pointer` raises now. It does so `times`
  // times, or always.
  bool fire(const std::string& pointer, std::optional<std::int64_t> times) {
    if (!times) return true;
    const std::lock_guard lock(mutex_);
    const std::int64_t fired = fires_[pointer];
    if (fired < *times) fires_[pointer] = fired + 1;
    return fired < *times;
  }

  // Starts by body, sorted.
  Value starts() const {
    const std::lock_guard lock(mutex_);
    return starts_;
  }

  // How often statements that do not always raise have, by pointer.
  Value fires() const {
    const std::lock_guard lock(mutex_);
    return fires_;
  }

  // Goes on from what another ledger counted.
  void take(const Value& starts, const Value& fires) {
    const std::lock_guard lock(mutex_);
    starts_ = starts.get<std::map<std::string, std::int64_t>>();
    fires_ = fires.get<std::map<std::string, std::int64_t>>();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> starts_;
  std::map<std::string, std::int64_t> fires_;
};

}  // namespace clew::conformance

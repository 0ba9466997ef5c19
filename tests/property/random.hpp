// Random choices that a seed repeats on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace clew::property {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // Less than `limit`, which is at least 1. The standard distributions differ
  // between libraries.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  bool chance(std::size_t percent) { return below(100) < percent; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace clew::property

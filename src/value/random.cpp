#include "value/random.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <bit>

#include <clew/error.hpp>

namespace clew::internal {
namespace {

// Counts forks, so that a child does not repeat the numbers of its parent.
constinit std::atomic<std::uint64_t> process_generation{1};

void count_fork() { process_generation.fetch_add(1, std::memory_order_relaxed); }

void watch_forks() {
  static const int failed = pthread_atfork(nullptr, nullptr, count_fork);
  if (failed != 0) throw Error("out of memory while preparing the random generator");
}

// xoshiro256++ by Blackman and Vigna.
struct Generator {
  std::uint64_t state[4] = {};
  std::uint64_t seeded_in = 0;

  void seed(std::uint64_t generation) {
    watch_forks();
    if (getentropy(state, sizeof state) != 0) {
      throw Error("the system gives no random bytes (getentropy failed)");
    }
    seeded_in = generation;
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state[0] + state[3], 23) + state[0];
    const std::uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = std::rotl(state[3], 45);
    return result;
  }
};

constinit thread_local Generator generator;

}  // namespace

std::uint64_t random_bits() {
  const std::uint64_t generation = process_generation.load(std::memory_order_relaxed);
  if (generator.seeded_in != generation) generator.seed(generation);
  return generator.next();
}

double random_unit() { return static_cast<double>(random_bits() >> 11) * 0x1.0p-53; }

}  // namespace clew::internal

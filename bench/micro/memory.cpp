// Bytes of heap that a state of 1,000 messages takes, as counters. Made once:
// their times say nothing.

#include <malloc.h>

#include <vector>

#include <benchmark/benchmark.h>

#include <clew/messages.hpp>
#include <clew/serde.hpp>

#include "samples.hpp"

namespace clew::bench {
namespace {

constexpr std::size_t kMessages = 1000;

// With the allocator's own overhead: what the process really pays.
double heap_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

// The heap that what `make` returns holds on to.
template <class Make>
double heap_held(const Make& make) {
  {
    const auto warm_up = make();
  }  // fills the caches of Clew and of the allocator
  const double before = heap_in_use();
  const auto held = make();
  return heap_in_use() - before;
}

template <class Make>
void measure_memory(benchmark::State& run, const Make& make) {
  for (auto _ : run) run.counters["heap_bytes_per_message"] = heap_held(make) / kMessages;
  const double encoded = static_cast<double>(JsonPlusSerializer().dumps_typed(make()).bytes.size());
  run.counters["encoded_bytes_per_message"] = encoded / kMessages;
}

void memory_of_built(benchmark::State& run, Value (*messages)(std::size_t)) {
  measure_memory(run, [=] { return messages(kMessages); });
}
BENCHMARK_CAPTURE(memory_of_built, message_dicts, message_dicts)->Iterations(1);
BENCHMARK_CAPTURE(memory_of_built, message_objects, message_objects)->Iterations(1);

void memory_of_decoded(benchmark::State& run, const Value& messages) {
  const JsonPlusSerializer serializer;
  const TypedBytes stored = serializer.dumps_typed(messages);
  measure_memory(run, [&] { return serializer.loads_typed(stored); });
}
BENCHMARK_CAPTURE(memory_of_decoded, message_dicts, message_dicts(kMessages))->Iterations(1);
BENCHMARK_CAPTURE(memory_of_decoded, message_objects, message_objects(kMessages))->Iterations(1);

// A chat of 1,000 turns of which every state is kept: what a version costs
// beside the message it adds.
void memory_of_1000_versions(benchmark::State& run) {
  const Value messages = message_objects(kMessages);
  const auto make = [&] {
    std::vector<Value> versions = {list()};
    versions.reserve(kMessages + 1);
    for (const Value& message : messages) versions.push_back(versions.back().append(message));
    return versions;
  };
  for (auto _ : run) run.counters["heap_bytes_per_version"] = heap_held(make) / kMessages;
}
BENCHMARK(memory_of_1000_versions)->Iterations(1);

}  // namespace
}  // namespace clew::bench

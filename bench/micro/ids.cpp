// The identifiers of a super-step.

#include <clew/ids.hpp>

#include <benchmark/benchmark.h>

namespace clew::bench {
namespace {

void make_checkpoint_id(benchmark::State& run) {
  std::int64_t step = 0;
  for (auto _ : run) benchmark::DoNotOptimize(checkpoint_id(step++));
}
BENCHMARK(make_checkpoint_id);

void make_next_version(benchmark::State& run) {
  std::string version;
  for (auto _ : run) {
    version = next_version(version);
    benchmark::DoNotOptimize(version);
  }
}
BENCHMARK(make_next_version);

void make_pull_task_id(benchmark::State& run) {
  const TaskOrigin origin{
      .checkpoint_id = Uuid::parse(checkpoint_id(1)), .parent_ns = "", .step = 1};
  const std::vector<std::string> triggers = {"branch:to:agent"};
  for (auto _ : run) benchmark::DoNotOptimize(pull_task_id(origin, "agent", triggers));
}
BENCHMARK(make_pull_task_id);

void make_interrupt_id(benchmark::State& run) {
  const std::string ns = task_checkpoint_ns("", "agent", "6f1a8c8e-9d0c-53a1-8a6b-0a4b6f3f9d21");
  for (auto _ : run) benchmark::DoNotOptimize(interrupt_id(ns, 0));
}
BENCHMARK(make_interrupt_id);

}  // namespace
}  // namespace clew::bench

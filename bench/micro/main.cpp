// clew-micro [--benchmark_filter=REGEX ...]: times single operations.

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
#ifdef __clang__
  benchmark::AddCustomContext("compiler", "clang " __clang_version__);
#else
  benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

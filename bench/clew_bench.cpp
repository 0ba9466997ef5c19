// clew-bench WORKLOAD [options]: one workload of README.md on Clew, in the
// manner of langgraph/bench.py.

#include <cstdio>
#include <exception>

#include "options.hpp"
#include "workloads.hpp"

namespace clew::bench {
namespace {

constexpr int kUsageStatus = 2;

int run(const Options& options) {
  const Workload& workload = find_workload(options.workload);
  if (workload.run == nullptr) {
    std::fprintf(stderr, "%s needs %s, which this build does not have yet\n",
                 options.workload.c_str(), std::string(workload.needs).c_str());
    return kUsageStatus;
  }
  workload.run(options);
  return 0;
}

int run_command(std::span<char* const> arguments) {
  try {
    const Options options = parse_options(arguments);
    if (!options.help) return run(options);
    std::fputs(help_text().c_str(), stdout);
    return 0;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%sclew-bench: error: %s\n", usage_text().c_str(), error.what());
    return kUsageStatus;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clew-bench: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace clew::bench

int main(int argc, char** argv) {
  return clew::bench::run_command(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
}

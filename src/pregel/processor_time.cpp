#include "pregel/processor_time.hpp"

#include <time.h>

#include <filesystem>
#include <fstream>

namespace clew::pregel {

std::chrono::nanoseconds time_computed() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::chrono::nanoseconds time_kept_waiting() {
  std::int64_t total = 0;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::int64_t computed = 0;
    std::int64_t kept_waiting = 0;
    std::ifstream(thread.path() / "schedstat") >> computed >> kept_waiting;
    total += kept_waiting;
  }
  return std::chrono::nanoseconds(total);
}

}  // namespace clew::pregel

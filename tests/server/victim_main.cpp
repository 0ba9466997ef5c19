// A server that is killed:
//   clew-server-victim start FILE IDS       starts runs, writes down the ids of those that were
//                                           acknowledged, and waits to be killed
//   clew-server-victim finish FILE COUNT    finishes the runs that are there; kills itself before
//                                           its COUNT-th commit
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string_view>
#include <thread>

#include "test_server.hpp"

namespace clew::server {
namespace {

[[noreturn]] void start_runs(const char* file, const char* ids) {
  constexpr int kRuns = 40;
  TestServer server(file, {});
  std::ofstream told(ids, std::ios::app);
  for (int i = 0; i < kRuns; ++i) {
    const StartedRun run = server.create(
        server.thread_id(), object({{"assistant_id", "slow"},
                                    {"input", object({{"ticks", i % 4 + 1}, {"delay", 0.02}})},
                                    {"stream_mode", list({"custom", "values"})}}));
    told << run.thread_id << ' ' << run.run_id << std::endl;
  }
  while (true) pause();
}

int finish_runs(const char* file, int count) {
  std::atomic<int> left = count;
  TestServer server(file, {}, [&left] {
    if (--left == 0) kill(getpid(), SIGKILL);
  });
  const auto is_busy = [&] {
    const QueueCounts counts = server.server->queue.counts();
    return counts.pending + counts.running > 0;
  };
  while (is_busy()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 0;
}

}  // namespace
}  // namespace clew::server

int main(int, char** arguments) {
  using namespace clew::server;
  if (std::string_view(arguments[1]) == "start") start_runs(arguments[2], arguments[3]);
  return finish_runs(arguments[2], std::stoi(arguments[3]));
}

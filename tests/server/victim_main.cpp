// A server that starts runs on a file, writes down the ids of those that were
// acknowledged, and waits to be killed: clew-server-victim FILE IDS
#include <unistd.h>

#include <fstream>

#include "test_server.hpp"

int main(int, char** arguments) {
  using namespace clew;
  using namespace clew::server;
  constexpr int kRuns = 40;
  TestServer server(arguments[1], {});
  std::ofstream told(arguments[2], std::ios::app);
  for (int i = 0; i < kRuns; ++i) {
    const StartedRun run = server.create(
        server.thread_id(), object({{"assistant_id", "slow"},
                                    {"input", object({{"ticks", i % 4 + 1}, {"delay", 0.02}})},
                                    {"stream_mode", list({"custom", "values"})}}));
    told << run.thread_id << ' ' << run.run_id << std::endl;
  }
  while (true) pause();
}

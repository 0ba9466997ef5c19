// The parts of the client that need no server.
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <clew/error.hpp>

#include "store/embeddings/backoff.hpp"
#include "store/embeddings/parallel.hpp"
#include "unit/error_text.hpp"

namespace clew::embeddings {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToTheLongest) {
  EXPECT_EQ(backoff(0, 30s, 0), 500ms);
  EXPECT_EQ(backoff(1, 30s, 0), 1s);
  EXPECT_EQ(backoff(5, 30s, 0), 16s);
  EXPECT_EQ(backoff(6, 30s, 0), 30s);
  EXPECT_EQ(backoff(100'000, 30s, 0), 30s);
  EXPECT_EQ(backoff(3, 0s, 0), 0s);
}

TEST(Backoff, ChanceTakesUpToHalfAway) {
  EXPECT_EQ(backoff(1, 30s, 0.5), 750ms);
  EXPECT_GE(backoff(1, 30s, 0.999), 500ms);
}

TEST(Backoff, WaitingEndsWhenStopped) {
  std::stop_source stop;
  const std::jthread stopper([&stop] { stop.request_stop(); });
  wait_for(1h, stop.get_token());
}

TEST(RunInParallel, RunsEveryJobOnce) {
  for (const std::size_t concurrency : {1, 3, 100}) {
    std::vector<std::atomic<int>> runs(20);
    run_in_parallel(runs.size(), concurrency,
                    [&runs](std::size_t index, const std::stop_token&) { ++runs[index]; });
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST(RunInParallel, TheFirstErrorStopsTheRest) {
  std::atomic<std::size_t> begun{0};
  const auto job = [&begun](std::size_t index, const std::stop_token& stop) {
    ++begun;
    if (index == 1) throw ValueError("job 1");
    wait_for(1h, stop);
    throw ValueError("a later error");
  };
  EXPECT_EQ(error_text<ValueError>([&] { run_in_parallel(1000, 2, job); }), "job 1");
  EXPECT_EQ(begun, 2U);
}

}  // namespace
}  // namespace clew::embeddings

#include "server/http_worker_pool.hpp"

#include <atomic>
#include <latch>
#include <string>

#include <gtest/gtest.h>

namespace clew::server {
namespace {

TEST(WorkerPool, JobsRunAtTheSameTimeUpToTheLimit) {
  WorkerPool pool(4);
  std::latch all_four(4);
  for (int i = 0; i < 4; ++i) pool.post([&] { all_four.arrive_and_wait(); });
  all_four.wait();
  pool.stop();
}

TEST(WorkerPool, StopFinishesWhatWasPostedAndWhatThatPosts) {
  WorkerPool pool(2);
  std::atomic<int> done = 0;
  for (int i = 0; i < 100; ++i) {
    pool.post([&] { pool.post([&] { ++done; }); });
  }
  pool.stop();
  EXPECT_EQ(done, 100);
  pool.post([&] { ++done; });
  EXPECT_EQ(done, 100);
}

TEST(SerialQueue, JobsRunInOrderOneAtATime) {
  const auto pool = std::make_shared<WorkerPool>(4);
  const auto queue = std::make_shared<SerialQueue>(pool);
  std::string order;  // not protected: the queue is the protection
  for (char c = 'a'; c <= 'z'; ++c) queue->post([&order, c] { order += c; });
  pool->stop();
  EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
}

}  // namespace
}  // namespace clew::server

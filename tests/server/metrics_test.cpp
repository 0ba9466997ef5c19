#include "server/metrics.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <clew/json.hpp>

namespace clew::server {
namespace {

using namespace std::chrono_literals;

void count(Metrics& metrics, const std::string& method, std::string_view route, int status,
           std::chrono::microseconds duration = 2ms) {
  Request request;
  request.method = method;
  metrics.count({request, route, status, 10, duration});
}

// The lines that begin with `name`.
std::string lines_of(const std::string& text, const std::string& name) {
  std::string found;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    const std::string line = text.substr(begin, text.find('\n', begin) + 1 - begin);
    if (line.starts_with(name)) found += line;
  }
  return found;
}

TEST(Metrics, CountsByMethodRouteAndStatus) {
  Metrics metrics;
  count(metrics, "GET", "/threads/{thread_id}", 200);
  count(metrics, "GET", "/threads/{thread_id}", 404);
  count(metrics, "GET", "/threads/{thread_id}", 200);
  count(metrics, "POST", "/threads", 200);
  EXPECT_EQ(
      lines_of(metrics.prometheus({}), "clew_http_requests_total"),
      "clew_http_requests_total{method=\"GET\",path=\"/threads/{thread_id}\",status=\"200\"} 2\n"
      "clew_http_requests_total{method=\"GET\",path=\"/threads/{thread_id}\",status=\"404\"} 1\n"
      "clew_http_requests_total{method=\"POST\",path=\"/threads\",status=\"200\"} 1\n");
}

TEST(Metrics, WhatCallersInventIsCountedTogether) {
  Metrics metrics;
  count(metrics, "BREW", "", 404);
  count(metrics, "STEEP", "", 404);
  EXPECT_EQ(lines_of(metrics.prometheus({}), "clew_http_requests_total"),
            "clew_http_requests_total{method=\"other\",path=\"other\",status=\"404\"} 2\n");
}

TEST(Metrics, DurationsFormAHistogram) {
  Metrics metrics;
  count(metrics, "GET", "/ok", 200, 500us);
  count(metrics, "GET", "/ok", 200, 1ms);
  count(metrics, "GET", "/ok", 503, 400ms);
  count(metrics, "GET", "/ok", 200, 60s);
  EXPECT_EQ(
      lines_of(metrics.prometheus({}), "clew_http_request_duration_seconds"),
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"0.001\"} 2\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"0.005\"} 2\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"0.025\"} 2\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"0.1\"} 2\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"0.5\"} 3\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"2.5\"} 3\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"10\"} 3\n"
      "clew_http_request_duration_seconds_bucket{method=\"GET\",path=\"/ok\",le=\"+Inf\"} 4\n"
      "clew_http_request_duration_seconds_sum{method=\"GET\",path=\"/ok\"} 60.4015\n"
      "clew_http_request_duration_seconds_count{method=\"GET\",path=\"/ok\"} 4\n");
}

TEST(Metrics, ThreadsLoseNothing) {
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10'000; ++k) count(metrics, "GET", "/ok", 200);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(metrics.json({})["api"]["http_requests_total"][0]["count"], Value(40'000));
}

TEST(Metrics, EveryMetricSaysWhatItIs) {
  Metrics metrics;
  count(metrics, "GET", "/ok", 200);
  ServerGauges gauges;
  gauges.runs = {1, 2, {{"success", 3}}};
  const std::string text = metrics.prometheus(gauges);
  for (const char* line : {"clew_runs_pending 1\n", "clew_runs_running 2\n",
                           "clew_runs_finished_total{status=\"success\"} 3\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
  for (const char* name :
       {"clew_http_requests_total", "clew_http_request_duration_seconds", "clew_http_connections",
        "clew_runs_pending", "clew_runs_running", "clew_run_workers", "clew_runs_finished_total",
        "process_resident_memory_bytes", "process_start_time_seconds"}) {
    EXPECT_NE(text.find(std::string("# HELP ") + name + " "), std::string::npos) << name;
    EXPECT_NE(text.find(std::string("# TYPE ") + name + " "), std::string::npos) << name;
    EXPECT_NE(text.find(std::string("\n") + name), std::string::npos) << name;
  }
}

TEST(Metrics, JsonSaysHowLongRunsWait) {
  Metrics metrics;
  EXPECT_EQ(to_json(metrics.json({})),
            "{\"queue\":{\"n_pending\":0,\"pending_runs_wait_time_max_secs\":null,"
            "\"pending_runs_wait_time_med_secs\":null,"
            "\"pending_unblocked_runs_wait_time_max_secs\":null,\"n_running\":0},"
            "\"api\":{\"http_requests_total\":[]},"
            "\"workers\":{\"max\":0,\"active\":0,\"available\":0}}");
  ServerGauges gauges;
  gauges.runs = {3, 2, {}};
  gauges.workers = 10;
  gauges.waiting = {{5s, true}, {1s, false}, {2s, true}};
  EXPECT_EQ(to_json(metrics.json(gauges)["queue"]),
            "{\"n_pending\":3,\"pending_runs_wait_time_max_secs\":5.0,"
            "\"pending_runs_wait_time_med_secs\":2.0,"
            "\"pending_unblocked_runs_wait_time_max_secs\":1.0,\"n_running\":2}");
  EXPECT_EQ(to_json(metrics.json(gauges)["workers"]), R"({"max":10,"active":2,"available":8})");
}

}  // namespace
}  // namespace clew::server

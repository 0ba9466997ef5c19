// The workloads of README.md that this build can run, each a function in a file
// of its own.
#pragma once

#include <string_view>

#include "options.hpp"

namespace clew::bench {

// Measures what README.md says for the workload and emits its rows.
using WorkloadFunction = void (*)(const Options& options);

struct Workload {
  std::string_view name;
  WorkloadFunction run;    // null: cannot be run yet
  std::string_view needs;  // what is missing then
};

// `name` is one that parse_options() has accepted.
const Workload& find_workload(std::string_view name);

void run_w1_sequential(const Options& options);
void run_w2_long_chat(const Options& options);
void run_w3_fan_out(const Options& options);
void run_w4_wide_state(const Options& options);
void run_w5_deep_subgraph(const Options& options);
void run_w6_resume(const Options& options);
void run_w7_serde(const Options& options);
void run_w8_store(const Options& options);
void run_w9_concurrency(const Options& options);

void run_commits(const Options& options);
void run_neighbours(const Options& options);
void run_sequential(const Options& options);
void run_react_agent(const Options& options);
void run_react_graph(const Options& options);
void run_wide_state(const Options& options);
void run_fanout_to_subgraph(const Options& options);

}  // namespace clew::bench

#include "workloads.hpp"

#include <algorithm>
#include <array>

#include <clew/error.hpp>

namespace clew::bench {
namespace {

constexpr std::array<Workload, 16> kWorkloads = {{
    {"W1", run_w1_sequential, ""},
    {"W2", run_w2_long_chat, ""},
    {"W3", run_w3_fan_out, ""},
    {"W4", run_w4_wide_state, ""},
    {"W5", run_w5_deep_subgraph, ""},
    {"W6", run_w6_resume, ""},
    {"W7", run_w7_serde, ""},
    {"W8", run_w8_store, ""},
    {"W9", run_w9_concurrency, ""},
    {"commits", run_commits, ""},
    {"neighbours", run_neighbours, ""},
    {"sequential", run_sequential, ""},
    {"react_agent", run_react_agent, ""},
    {"react_graph", run_react_graph, ""},
    {"wide_state", run_wide_state, ""},
    {"fanout_to_subgraph", run_fanout_to_subgraph, ""},
}};

}  // namespace

const Workload& find_workload(std::string_view name) {
  const auto* found = std::find_if(kWorkloads.begin(), kWorkloads.end(),
                                   [&](const Workload& workload) { return workload.name == name; });
  if (found == kWorkloads.end()) throw Error("no workload '" + std::string(name) + "'");
  return *found;
}

}  // namespace clew::bench

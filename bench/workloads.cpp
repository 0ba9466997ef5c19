#include "workloads.hpp"

#include <algorithm>
#include <array>

#include <clew/error.hpp>

namespace clew::bench {
namespace {

constexpr std::array<Workload, 9> kWorkloads = {{
    {"W1", nullptr, "the engine"},
    {"W2", nullptr, "the engine"},
    {"W3", nullptr, "the engine"},
    {"W4", nullptr, "the engine"},
    {"W5", nullptr, "the engine"},
    {"W6", nullptr, "the engine"},
    {"W7", run_w7_serde, ""},
    {"W8", nullptr, "the store"},
    {"W9", nullptr, "the engine"},
}};

}  // namespace

const Workload& find_workload(std::string_view name) {
  const auto* found = std::find_if(kWorkloads.begin(), kWorkloads.end(),
                                   [&](const Workload& workload) { return workload.name == name; });
  if (found == kWorkloads.end()) throw Error("no workload '" + std::string(name) + "'");
  return *found;
}

}  // namespace clew::bench

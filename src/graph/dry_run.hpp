// Finds the ways through a graph without running its nodes.
#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pregel/graph.hpp"

namespace clew {

// A way from a node to another or to END, in LangGraph's order.
struct Way {
  std::string source;
  std::string target;
  bool conditional = false;
  std::optional<std::string> label = {};

  friend auto operator<=>(const Way&, const Way&) = default;
};

struct DryRun {
  std::set<Way> ways;
  std::vector<std::string> first_step;  // the nodes that the input wakes
  std::vector<std::string> last_step;   // those that ran last
};

DryRun dry_run(const std::shared_ptr<const pregel::Graph>& graph);

}  // namespace clew

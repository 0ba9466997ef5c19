// The shapes of LangGraph's own benchmarks, and how it runs them: one stream of
// `updates` per operation, each on a new thread, collected to its end.
#pragma once

#include <string>

#include <clew/graph.hpp>

#include "options.hpp"

namespace clew::bench {

struct Shape {
  std::string name;
  GraphBuilder graph;
  Value input;
  int steps;  // super-steps of one run
};

// Runs the shape and emits its row, with the number of events of one run.
void run_shape(const Options& options, const Shape& shape);

}  // namespace clew::bench

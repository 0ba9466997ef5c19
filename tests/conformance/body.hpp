// Runs the bodies of nodes, branches, error handlers and tasks.
#pragma once

#include <string>

#include <clew/runtime.hpp>
#include <clew/value.hpp>

namespace clew::conformance {

class Program;

struct Body {
  std::string graph;  // whose tasks it calls
  std::string name;   // under which its starts are counted: "graph.node"
  Value statements;
  std::string pointer;  // JSON pointer of the statements within the scenario
};

// What the body returns, or null. Throws what its statements raise.
Value run_body(const Program& program, const Body& body, const Value& input, Runtime& runtime);

}  // namespace clew::conformance

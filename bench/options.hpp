// The command line of clew-bench: the options of langgraph/bench.py, with the
// same names, choices and defaults, so that one line of a script drives both.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

namespace clew::bench {

struct Options {
  std::string workload;
  std::string backend = "memory";
  std::string durability = "sync";
  int repeat = 3;
  int n = 0;  // 0: the workload's default
  int nodes = 10;
  int fan = 100;
  int channels = 100;
  std::string variant = "plain";
  int dims = 0;  // 0: no vectors
  int size = 0;  // 0: the shape's default
  std::string pg;
  std::string tmp;  // empty: the system's temporary directory
  bool help = false;
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Reads the arguments after the program's name. Throws UsageError.
Options parse_options(std::span<char* const> arguments);

std::string usage_text();
std::string help_text();

}  // namespace clew::bench

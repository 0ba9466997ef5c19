// Compares what an engine did with what was recorded.
#pragma once

#include <string>
#include <vector>

#include <clew/value.hpp>

namespace clew::conformance {

// How much is compared: each level includes those before it.
enum class Level {
  results,  // results, errors, counts, the store
  events,   // what streams gave
  history,  // the final history of each thread
  rows,     // what the saver holds in the end
};
CLEW_ENUM(Level, results, events, history, rows)

struct Mismatch {
  std::string path;
  std::string expected;
  std::string got;
};

// `expect` of an action against what World::perform gave.
std::vector<Mismatch> compare_action(const Value& expected, const Value& got, Level level);

// "final" against what World::final_state gave.
std::vector<Mismatch> compare_final(const Value& expected, const Value& got, Level level);

}  // namespace clew::conformance

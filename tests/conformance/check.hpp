// Performs the actions of a scenario and says what was not as recorded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compare.hpp"
#include "scenario.hpp"
#include "world.hpp"

namespace clew::conformance {

// Where in a scenario something went wrong, and how. Right if there are no
// differences.
struct Check {
  std::string where;
  std::vector<std::string> differences;
};

// Performs action number `number`. Throws what is no outcome of an action.
Check check_action(World& world, const Scenario& scenario, std::size_t number, Level level);

// What is in the database in the end.
Check check_final(World& world, const Scenario& scenario, Level level);

}  // namespace clew::conformance

#include "check.hpp"

namespace clew::conformance {
namespace {

Check check_of(std::string where, const std::vector<Mismatch>& mismatches) {
  Check check{std::move(where), {}};
  for (const Mismatch& mismatch : mismatches) {
    check.differences.push_back(mismatch.path + ": expected " + mismatch.expected + ", got " +
                                mismatch.got);
  }
  return check;
}

}  // namespace

Check check_action(World& world, const Scenario& scenario, std::size_t number, Level level) {
  const Value& action = scenario.actions()[number];
  std::string where =
      "action " + std::to_string(number) + " (" + action.get<std::string>("do") + ")";
  if (!action.contains("expect")) throw ScenarioError(where + " has no expectation");
  return check_of(std::move(where), compare_action(action["expect"], world.perform(action), level));
}

Check check_final(World& world, const Scenario& scenario, Level level) {
  return check_of("final", compare_final(scenario.file["final"], world.final_state(), level));
}

}  // namespace clew::conformance

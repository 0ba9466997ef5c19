// What a saver of LangGraph stores differently from its in-memory saver, on
// which the scenarios were recorded.
#pragma once

#include <filesystem>
#include <string>

#include "scenario.hpp"

namespace clew::conformance {

class Adjustments {
 public:
  // None.
  Adjustments() = default;

  // Those of a list's section: for each scenario "set", JSON pointers to values,
  // and "remove", JSON pointers. Throws ScenarioError if the file is no such list.
  Adjustments(const std::filesystem::path& list, const std::string& section);

  // The scenario with its expectations adjusted. Throws ScenarioError if they
  // have no such place.
  Scenario apply(Scenario scenario) const;

 private:
  Value by_scenario_ = object();
};

}  // namespace clew::conformance

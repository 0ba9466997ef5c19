// Scenario files: a graph, actions on it, and what LangGraph did with them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <clew/error.hpp>
#include <clew/value.hpp>

namespace clew::conformance {

// The scenario itself is malformed, or asks for what this runner does not have.
class ScenarioError : public Error {
 public:
  using Error::Error;
};

struct Scenario {
  std::string name;
  Value file;

  const Value& graphs() const { return file["graphs"]; }
  const Value& actions() const { return file["actions"]; }
  std::string root() const;

  // Names of the errors that its `fail` statements raise.
  std::vector<std::string> node_error_kinds() const;
};

// Throws ScenarioError if the file cannot be read or is no JSON.
Value read_json_file(const std::filesystem::path& path);

// Throws ScenarioError if the file cannot be read or is no scenario.
Scenario load_scenario(const std::filesystem::path& path);

// The files themselves, and the *.json files of directories, by name. Throws
// ScenarioError if a path does not exist.
std::vector<std::filesystem::path> scenario_files(const std::vector<std::string>& paths);

// The engine's name of a node: START and END are spelled differently there.
std::string engine_name(std::string_view name);
std::vector<std::string> engine_names(const Value& names);

// A list of strings.
std::vector<std::string> string_list(const Value& strings);

}  // namespace clew::conformance

#include "scenario.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include <clew/json.hpp>
#include <clew/types.hpp>

namespace clew::conformance {
namespace {

void collect_kinds(const Value& node, std::set<std::string>& kinds) {
  if (node.is_list()) {
    for (const Value& element : node) collect_kinds(element, kinds);
  } else if (node.is_object()) {
    if (node.contains("fail") && node["kind"].is_string()) {
      kinds.emplace(node["kind"].as_string());
    }
    for (const auto& [key, value] : node.items()) collect_kinds(value, kinds);
  }
}

}  // namespace

std::string Scenario::root() const {
  const Value* root = file.find("root");
  return root ? root->get<std::string>() : "main";
}

std::vector<std::string> Scenario::node_error_kinds() const {
  std::set<std::string> kinds = {"Transient", "Fatal"};
  collect_kinds(graphs(), kinds);
  return {kinds.begin(), kinds.end()};
}

Value read_json_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream) throw ScenarioError("cannot read " + path.string());
  try {
    return parse_json(text, {.allow_non_finite = true});
  } catch (const SerdeError& error) {
    throw ScenarioError(path.string() + ": " + error.what());
  }
}

Scenario load_scenario(const std::filesystem::path& path) {
  Scenario scenario;
  scenario.file = read_json_file(path);
  if (!scenario.graphs().is_object() || !scenario.actions().is_list()) {
    throw ScenarioError(path.string() + " is no scenario: it needs 'graphs' and 'actions'");
  }
  const Value& name = scenario.file["name"];
  scenario.name = name.is_string() ? name.get<std::string>() : path.stem().string();
  return scenario;
}

std::vector<std::filesystem::path> scenario_files(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::exists(path)) throw ScenarioError("there is no '" + path + "'");
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

std::string engine_name(std::string_view name) {
  if (name == "START") return START;
  if (name == "END") return END;
  return std::string(name);
}

std::vector<std::string> engine_names(const Value& names) {
  std::vector<std::string> result;
  for (const Value& name : names) result.push_back(engine_name(name.get<std::string>()));
  return result;
}

std::vector<std::string> string_list(const Value& strings) {
  return strings.get<std::vector<std::string>>();
}

}  // namespace clew::conformance

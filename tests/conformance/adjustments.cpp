#include "adjustments.hpp"

#include <optional>
#include <string_view>

namespace clew::conformance {
namespace {

// A step of a JSON pointer as the key it stands for.
std::string unescaped(std::string_view step) {
  std::string key;
  for (std::size_t i = 0; i < step.size(); ++i) {
    const bool is_escape = step[i] == '~' && i + 1 < step.size();
    key += !is_escape ? step[i] : step[++i] == '1' ? '/' : '~';
  }
  return key;
}

std::size_t position(const Value& list, const std::string& key) {
  const bool is_number = key.find_first_not_of("0123456789") == std::string::npos && !key.empty();
  const std::size_t index = is_number ? std::stoul(key) : list.size();
  if (index >= list.size()) throw ScenarioError("there is no element " + key);
  return index;
}

// `root` with the place that `pointer` names set, or gone if there is no value.
Value with_place(const Value& root, std::string_view pointer, const std::optional<Value>& value) {
  if (!pointer.starts_with('/')) throw ScenarioError("no JSON pointer: " + std::string(pointer));
  pointer.remove_prefix(1);
  const std::size_t end = pointer.find('/');
  const std::string key = unescaped(pointer.substr(0, end));
  const bool is_last = end == std::string_view::npos;
  if (root.is_list()) {
    const std::size_t index = position(root, key);
    if (!is_last) return root.set(index, with_place(root[index], pointer.substr(end), value));
    return value ? root.set(index, *value) : root.erase(index);
  }
  if (!root.contains(key) && !(is_last && value)) throw ScenarioError("there is no " + key);
  if (!is_last) return root.set(key, with_place(root[key], pointer.substr(end), value));
  return value ? root.set(key, *value) : root.erase(key);
}

}  // namespace

Adjustments::Adjustments(const std::filesystem::path& list, const std::string& section)
    : by_scenario_(read_json_file(list)[section]["adjusted"]) {
  if (!by_scenario_.is_object()) {
    throw ScenarioError(list.string() + " has no adjustments for " + section);
  }
}

Scenario Adjustments::apply(Scenario scenario) const {
  const Value* changes = by_scenario_.find(scenario.name);
  if (!changes) return scenario;
  for (const auto& [pointer, value] : (*changes)["set"].items()) {
    scenario.file = with_place(scenario.file, pointer, value);
  }
  for (const Value& pointer : (*changes)["remove"]) {
    scenario.file = with_place(scenario.file, pointer.as_string(), std::nullopt);
  }
  return scenario;
}

}  // namespace clew::conformance

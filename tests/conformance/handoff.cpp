#include "handoff.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <clew/json.hpp>

#include "arguments.hpp"
#include "check.hpp"
#include "database.hpp"

namespace clew::conformance {
namespace {

using tests::UsageError;

constexpr int kFormat = 1;

struct Part {
  std::string file;
  std::string from = "0";
  std::string to = "end";
  std::string saver;
  std::string carry;
};

Part parse_part(const std::vector<std::string>& arguments) {
  Part part;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string* value = argument == "--from"    ? &part.from
                         : argument == "--to"    ? &part.to
                         : argument == "--saver" ? &part.saver
                         : argument == "--carry" ? &part.carry
                                                 : nullptr;
    if (value) {
      if (++i == arguments.size()) throw UsageError(argument + " needs a value");
      *value = arguments[i];
    } else if (argument.starts_with("-") || !part.file.empty()) {
      throw UsageError("unexpected '" + argument + "'");
    } else {
      part.file = argument;
    }
  }
  if (part.file.empty() || part.saver.empty() || part.carry.empty()) {
    throw UsageError("run needs a scenario, --saver and --carry");
  }
  return part;
}

std::size_t parse_position(const std::string& text, std::size_t end) {
  const std::uint64_t position = text == "end" ? end : tests::parse_number(text);
  if (position > end) {
    throw UsageError("the scenario has " + std::to_string(end) + " actions, not " + text);
  }
  return position;
}

Carry load_carry(const Part& part, const Scenario& scenario, std::size_t next) {
  const Value file = read_json_file(part.carry);
  if (file["format"] != Value(kFormat) || file["scenario"] != Value(scenario.name)) {
    throw ScenarioError(part.carry + " belongs to another scenario or format");
  }
  if (file["next"] != Value(next)) {
    throw ScenarioError(part.carry + " goes on with action " + to_json(file["next"]) + ", not " +
                        std::to_string(next));
  }
  return {file.get<std::string>("root"), file["counts"], file["fails"], file["interrupts"]};
}

void save_carry(const Part& part, const Scenario& scenario, std::size_t next, const Carry& carry) {
  std::ofstream stream(part.carry, std::ios::binary);
  stream << to_json(object({{"format", kFormat},
                            {"scenario", scenario.name},
                            {"next", next},
                            {"root", carry.root},
                            {"counts", carry.counts},
                            {"fails", carry.fails},
                            {"interrupts", carry.interrupts}}))
         << '\n';
  if (!stream.flush()) throw ScenarioError("cannot write " + part.carry);
}

void print(const std::string& scenario, const Check& check) {
  std::cout << "FAIL " << scenario << ' ' << check.where << ':';
  for (const std::string& difference : check.differences) std::cout << ' ' << difference << " |";
  std::cout << '\n';
}

}  // namespace

int run_part(const std::vector<std::string>& arguments) {
  const Part part = parse_part(arguments);
  const Scenario scenario = load_scenario(part.file);
  const std::size_t end = scenario.actions().size();
  const std::size_t from = parse_position(part.from, end);
  const std::size_t to = parse_position(part.to, end);
  if (from > to) throw UsageError("--from " + part.from + " is after --to " + part.to);

  World world(scenario, open_shared_database(part.saver), /*jitter=*/false);
  if (from > 0) world.take(load_carry(part, scenario, from));
  world.build();
  world.refresh_labels();
  std::vector<Check> checks;
  for (std::size_t i = from; i < to; ++i) {
    checks.push_back(check_action(world, scenario, i, Level::rows));
  }
  if (to == end) checks.push_back(check_final(world, scenario, Level::rows));
  save_carry(part, scenario, to, world.carry());

  std::size_t failed = 0;
  for (const Check& check : checks) {
    if (check.differences.empty()) continue;
    print(scenario.name, check);
    ++failed;
  }
  std::cout << checks.size() - failed << " passed, " << failed << " failed\n";
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace clew::conformance

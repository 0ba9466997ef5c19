// Runs recorded scenarios on the engine and compares what it does with what
// LangGraph did.
//
//   clew-conformance [--backend memory|sqlite:native|sqlite:langgraph] [--adjust LIST.json]
//                    [--level results|events|history|rows] [--jitter] [-v] DIR|FILE...
//
// Prints one line per failing scenario with the first difference, and closes
// with "N passed, N failed". --adjust expects what LangGraph's saver for that
// database stores rather than its in-memory one, as the list says; --level
// compares less than everything; --jitter delays the bodies of nodes by up to
// 4 ms at random; -v names every scenario and prints all differences. The exit
// code is 0 if all passed, 1 if one failed, 2 if the call itself was wrong.
//
// "clew-conformance run" performs a part of one scenario; see handoff.hpp.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <clew/errors.hpp>

#include "adjustments.hpp"
#include "arguments.hpp"
#include "check.hpp"
#include "database.hpp"
#include "handoff.hpp"
#include "scenario.hpp"
#include "world.hpp"

namespace clew::conformance {
namespace {

constexpr int kBadUsage = 2;

constexpr std::string_view kUsage =
    "usage: clew-conformance [--backend memory|sqlite:native|sqlite:langgraph]\n"
    "                        [--adjust LIST.json] [--level results|events|history|rows]\n"
    "                        [--jitter] [-v] DIR|FILE...\n";

using tests::UsageError;

struct Options {
  std::string backend = "memory";
  std::string adjust;  // empty: nothing is
  Level level = Level::rows;
  bool jitter = false;
  bool verbose = false;
  std::vector<std::string> paths;
};

Level parse_level(const std::string& name) {
  try {
    return Value(name).get<Level>();
  } catch (const ValueError&) {
    throw UsageError("unknown level '" + name + "'");
  }
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto next = [&]() -> const std::string& {
      if (i + 1 == arguments.size()) throw UsageError(argument + " needs a value");
      return arguments[++i];
    };
    if (argument == "--backend") {
      options.backend = next();
    } else if (argument == "--adjust") {
      options.adjust = next();
    } else if (argument == "--level") {
      options.level = parse_level(next());
    } else if (argument == "--jitter") {
      options.jitter = true;
    } else if (argument == "-v") {
      options.verbose = true;
    } else if (argument.starts_with("-")) {
      throw UsageError("unknown option '" + argument + "'");
    } else {
      options.paths.push_back(argument);
    }
  }
  if (options.paths.empty()) throw UsageError("no scenario is given");
  return options;
}

// Whether the graphs were built, as the scenario expects or not.
bool build(World& world, const Scenario& scenario, std::vector<Check>& failures) {
  const bool is_expected = scenario.file.contains("build_error");
  try {
    world.build();
  } catch (const GraphError& error) {
    if (!is_expected) failures.push_back({"build", {error.what()}});
    return false;
  }
  if (is_expected) failures.push_back({"build", {"expected an invalid graph, got none"}});
  return !is_expected;
}

void run_actions(World& world, const Scenario& scenario, Level level,
                 std::vector<Check>& failures) {
  const auto add = [&](Check check) {
    if (!check.differences.empty()) failures.push_back(std::move(check));
  };
  for (std::size_t i = 0; i < scenario.actions().size(); ++i) {
    add(check_action(world, scenario, i, level));
  }
  add(check_final(world, scenario, level));
}

std::vector<Check> run_scenario(const Scenario& scenario, const Options& options) {
  std::vector<Check> failures;
  try {
    World world(scenario, open_database(options.backend), options.jitter);
    if (build(world, scenario, failures)) run_actions(world, scenario, options.level, failures);
  } catch (const std::exception& error) {
    failures.push_back({"run", {error.what()}});
  } catch (...) {
    failures.push_back({"run", {"something that is no std::exception was thrown"}});
  }
  return failures;
}

void report(const std::string& name, const std::vector<Check>& failures, bool verbose) {
  if (!failures.empty()) {
    const Check& first = failures.front();
    std::cout << "FAIL " << name << ' ' << first.where << ' ' << first.differences.front() << '\n';
  } else if (verbose) {
    std::cout << "ok   " << name << '\n';
  }
  if (!verbose) return;
  for (const Check& failure : failures) {
    for (const std::string& difference : failure.differences) {
      std::cout << "     " << failure.where << ' ' << difference << '\n';
    }
  }
}

// The list has a section for each kind of database.
Adjustments adjustments_of(const Options& options) {
  if (options.adjust.empty()) return {};
  return {options.adjust, options.backend.substr(0, options.backend.find(':'))};
}

int run(const Options& options) {
  open_database(options.backend);
  const Adjustments adjustments = adjustments_of(options);
  std::size_t passed = 0;
  std::size_t failed = 0;
  for (const auto& path : scenario_files(options.paths)) {
    std::string name = path.stem().string();
    std::vector<Check> failures;
    try {
      const Scenario scenario = adjustments.apply(load_scenario(path));
      name = scenario.name;
      failures = run_scenario(scenario, options);
    } catch (const ScenarioError& error) {
      failures.push_back({"load", {error.what()}});
    }
    report(name, failures, options.verbose);
    std::cout.flush();
    ++(failures.empty() ? passed : failed);
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(const std::vector<std::string>& arguments) {
  try {
    if (!arguments.empty() && arguments.front() == "run") {
      return run_part({arguments.begin() + 1, arguments.end()});
    }
    return run(parse_options(arguments));
  } catch (const UsageError& error) {
    std::cerr << error.what() << '\n' << kUsage << kHandoffUsage;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return kBadUsage;
}

}  // namespace
}  // namespace clew::conformance

int main(int argc, char** argv) {
  return clew::conformance::main(std::vector<std::string>(argv + 1, argv + argc));
}

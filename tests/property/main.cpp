// Random sequences of calls against a model that copies everything.
//
//   clew-property [--backend memory|sqlite] [--sequences N] [--first SEED]   many, in a row
//   clew-property [--backend memory|sqlite] --seed SEED                      one, with all its calls
//
// A failure prints the seed, the graph, the calls and the first difference. The
// exit code is 0 if all sequences passed, 1 if one failed, 2 if the call itself
// was wrong.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <clew/sqlite_saver.hpp>

#include "arguments.hpp"
#include "sequence.hpp"

namespace clew::property {

using tests::parse_number;
using tests::UsageError;
namespace {

constexpr std::string_view kUsage =
    "usage: clew-property [--backend memory|sqlite] [--sequences N] [--first SEED] [--seed SEED]\n";

// A new, empty checkpointer for each sequence.
using MakeSaver = std::function<std::shared_ptr<Checkpointer>()>;

const std::map<std::string, MakeSaver>& backends() {
  static const std::map<std::string, MakeSaver> made{
      {"memory", [] { return std::make_shared<InMemorySaver>(); }},
      {"sqlite", [] { return SqliteSaver::open(":memory:"); }}};
  return made;
}

struct Options {
  std::string backend = "memory";
  std::uint64_t first = 1;
  std::uint64_t sequences = 1000;
  bool is_single = false;
};

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) throw UsageError(arguments[i] + " needs a value");
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--backend") {
      options.backend = value;
    } else if (arguments[i] == "--sequences") {
      options.sequences = parse_number(value);
    } else if (arguments[i] == "--first") {
      options.first = parse_number(value);
    } else if (arguments[i] == "--seed") {
      options.first = parse_number(value);
      options.sequences = 1;
      options.is_single = true;
    } else {
      throw UsageError("unknown option '" + arguments[i] + "'");
    }
  }
  if (!backends().contains(options.backend)) {
    throw UsageError("unknown backend '" + options.backend + "'");
  }
  return options;
}

bool run_sequence(std::uint64_t seed, const MakeSaver& make_saver, bool is_verbose) {
  Sequence sequence(seed, make_saver());
  try {
    sequence.run();
  } catch (const std::exception& error) {
    std::cout << sequence.trace() << "FAILED: " << error.what() << "\nrepeat it with --seed "
              << seed << '\n';
    return false;
  }
  if (is_verbose) std::cout << sequence.trace();
  return true;
}

int run(const Options& options) {
  const MakeSaver& make_saver = backends().at(options.backend);
  for (std::uint64_t i = 0; i < options.sequences; ++i) {
    if (!run_sequence(options.first + i, make_saver, options.is_single)) return EXIT_FAILURE;
  }
  std::cout << options.sequences << " sequences passed\n";
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace clew::property

int main(int argc, char** argv) {
  using namespace clew::property;
  return clew::tests::run_program(
      argc, argv, kUsage,
      [](const std::vector<std::string>& arguments) { return run(parse_options(arguments)); });
}

// clew-crash kills a process that runs a thread, at every place where it stores
// something, lets others continue, and checks that they could rely on the file.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>

#include <clew/json.hpp>

#include "arguments.hpp"
#include "process.hpp"
#include "statements.hpp"
#include "temporary_folder.hpp"
#include "trial.hpp"

namespace clew::fault {

using tests::parse_number;
using tests::UsageError;
namespace {

constexpr std::string_view kUsage =
    "usage: clew-crash [--crashes N] [--first SEED] [--seed SEED]\n"
    "Seeds go through all places of all kinds of run in turn, then again with other timing.\n";

constexpr std::uint64_t kDurabilities = 3;
constexpr std::uint64_t kLayouts = 2;
constexpr std::uint64_t kKinds = kShapes * kDurabilities * kLayouts;
// More places than any run has.
constexpr std::uint64_t kPlaces = 400;

Kind kind_of(std::uint64_t seed) {
  const std::uint64_t number = seed % kKinds;
  return {static_cast<Shape>(number % kShapes),
          static_cast<Durability>(number / kShapes % kDurabilities),
          number / kShapes / kDurabilities == 0 ? SqliteLayout::native : SqliteLayout::langgraph,
          // A killed process leaves to the next one what it wrote, synced or not.
          SqliteSynchronous::off};
}

// In the first round each run is killed once, at one place after the other, and
// nodes take no time. Later ones go to and fro, have other timing, and kill those
// who continue as well.
std::uint64_t round_of(std::uint64_t seed) { return seed / kKinds / kPlaces; }

std::uint64_t place_of(std::uint64_t seed) {
  const std::uint64_t number = seed / kKinds % kPlaces;
  return 1 + (round_of(seed) == 0 ? number : number * 37 % kPlaces);
}

Behaviour behaviour_of(std::uint64_t seed) {
  if (round_of(seed) == 0) return {};
  return {.longest_us = 400, .seed = seed};
}

// Lets processes die and others continue until one comes to the end.
class CrashTest {
 public:
  CrashTest(const std::filesystem::path& folder, std::uint64_t seed)
      : trial_(folder, kind_of(seed), behaviour_of(seed)),
        shape_(kind_of(seed).shape),
        round_(round_of(seed)),
        random_(static_cast<std::uint32_t>(seed)) {}

  // The first process dies at `place`, unless that is 0. Returns how many died.
  std::size_t run(std::uint64_t place) {
    std::size_t kills = 0;
    while (die_at(place)) {
      ++kills;
      trial_.check();
      trial_.sink().note({"(killed)"});
      place = next_place(kills);
    }
    values_ = trial_.check_end();
    return kills;
  }

  // The state that was reached.
  const Value& values() const { return values_; }
  std::string story() const { return trial_.story(); }

 private:
  bool die_at(std::uint64_t place) {
    const Ending ending = run_in_process([&] {
      watch_statements();
      // Files are made in the same way for all shapes.
      if (shape_ == Shape::chain) die_at_place(place);
      const std::shared_ptr<SqliteSaver> saver = trial_.open();
      if (shape_ != Shape::chain) die_at_place(place);
      trial_.run_to_end(saver);
    });
    if (!ending.was_killed && ending.code != 0) {
      throw Error("a process ended with code " + std::to_string(ending.code));
    }
    return ending.was_killed;
  }

  std::uint64_t next_place(std::size_t kills) {
    if (round_ == 0 || kills >= 3) return 0;
    return 1 + random_() % 40;
  }

  Trial trial_;
  Shape shape_;
  std::uint64_t round_;
  std::minstd_rand random_;
  Value values_;
};

class Matrix {
 public:
  explicit Matrix(bool is_verbose) : is_verbose_(is_verbose) {}

  // Returns how many processes were killed.
  std::size_t run(std::uint64_t seed) {
    const std::uint64_t kind = seed % kKinds;
    if (!expected_.contains(kind)) expected_[kind] = run_undisturbed(kind);
    const auto end = ends_.find({kind, round_of(seed)});
    if (end != ends_.end() && place_of(seed) >= end->second) return 0;
    const TemporaryFolder folder;
    CrashTest test(folder.path, seed);
    try {
      const std::size_t kills = test.run(place_of(seed));
      if (test.values() != expected_[kind]) {
        throw Error("the end is " + to_json(test.values()) + ", not " + to_json(expected_[kind]));
      }
      if (is_verbose_) print(seed, test);
      if (kills == 0) ends_[{kind, round_of(seed)}] = place_of(seed);
      return kills;
    } catch (const std::exception&) {
      print(seed, test);
      throw;
    }
  }

  // Whether the first round has come to the end of all kinds of run.
  bool knows_all_places() const {
    std::size_t ended = 0;
    for (const auto& [kind, place] : ends_) ended += kind.second == 0 ? 1 : 0;
    return ended == kKinds;
  }

 private:
  Value run_undisturbed(std::uint64_t kind) const {
    const TemporaryFolder folder;
    CrashTest test(folder.path, kind);
    test.run(0);
    return test.values();
  }

  void print(std::uint64_t seed, const CrashTest& test) const {
    std::cout << "seed " << seed << ": " << text_of(kind_of(seed)) << ", killed at place "
              << place_of(seed) << ", round " << round_of(seed) << '\n'
              << test.story();
  }

  bool is_verbose_;
  std::map<std::uint64_t, Value> expected_;
  // By kind and round: the first place that a run did not come to.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> ends_;
};

struct Options {
  std::uint64_t first = 0;
  std::uint64_t crashes = 2000;
  bool is_single = false;
};

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) throw UsageError(arguments[i] + " needs a value");
    const std::uint64_t value = parse_number(arguments[i + 1]);
    if (arguments[i] == "--crashes") {
      options.crashes = value;
    } else if (arguments[i] == "--first") {
      options.first = value;
    } else if (arguments[i] == "--seed") {
      options.first = value;
      options.is_single = true;
    } else {
      throw UsageError("unknown option '" + arguments[i] + "'");
    }
  }
  return options;
}

// Where nothing is synced, files in memory show the same in a fraction of the time.
void keep_files_in_memory() {
  if (std::filesystem::is_directory("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
}

int run(const Options& options) {
  keep_files_in_memory();
  Matrix matrix(options.is_single);
  std::uint64_t crashes = 0;
  std::uint64_t seed = options.first;
  try {
    do {
      crashes += matrix.run(seed);
      ++seed;
      if (round_of(seed) == 0 && matrix.knows_all_places()) {
        std::cout << "all places passed, after " << crashes << " crashes\n";
        seed = kKinds * kPlaces;
      }
    } while (!options.is_single && crashes < options.crashes);
  } catch (const std::exception& error) {
    std::cout << "FAILED: " << error.what() << "\nrepeat it with --seed " << seed << '\n';
    return EXIT_FAILURE;
  }
  std::cout << crashes << " crashes passed; the next seed is " << seed << '\n';
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace clew::fault

int main(int argc, char** argv) {
  using namespace clew::fault;
  return clew::tests::run_program(
      argc, argv, kUsage,
      [](const std::vector<std::string>& arguments) { return run(parse_options(arguments)); });
}

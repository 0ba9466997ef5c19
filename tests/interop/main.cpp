// Checks Clew against recordings of LangGraph, and exchanges values with it.
//
//   clew-interop serde FILE         vectors of the serializer
//   clew-interop ids FILE           ids and versions
//   clew-interop encrypted FILE     the encrypting serializer
//   clew-interop js FILE            what LangGraph.js writes
//   clew-interop db FILE.db EXPECTED.json
//       a database that LangGraph wrote: every checkpoint of every thread, and
//       the values and metadata of its history
//   clew-interop store FILE [--backend memory|sqlite] [--keep FOLDER]
//       scripts of store operations, in memory unless told; FOLDER gets the file
//       that each leaves
//   clew-interop storedb FILE.db EXPECTED.json
//       a store's file that LangGraph wrote: its items, namespaces and queries
//
// Each prints one line per failing case and closes with "N passed, N failed".
// The exit code is 0 if all passed, 1 if one failed, 2 if nothing could be run.
//
//   clew-interop convert [--key HEX]
//       reads lines {"tag": t, "hex": h}; prints for each {"canonical", "tag",
//       "hex"} of the value as loaded and stored again, or {"error"}
//   clew-interop random --seed S --count N [--key HEX]
//       prints lines {"canonical", "tag", "hex"} of random values
//
// With --key both encrypt as LangGraph's EncryptedSerializer does by default.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exchange.hpp"
#include "recorded_database.hpp"
#include "recorded_store.hpp"
#include "store_vectors.hpp"
#include "vectors.hpp"

namespace clew::interop {
namespace {

constexpr int kBadUsage = 2;

constexpr std::string_view kUsage =
    "usage: clew-interop serde|ids|encrypted|js FILE\n"
    "       clew-interop db|storedb FILE.db EXPECTED.json\n"
    "       clew-interop store FILE [--backend memory|sqlite] [--keep FOLDER]\n"
    "       clew-interop convert [--key HEX]\n"
    "       clew-interop random --seed S --count N [--key HEX]\n";

class UsageError : public Error {
 public:
  using Error::Error;
};

struct VectorCommand {
  std::string_view name;
  std::string_view format;  // without the number of its version
  void (*run)(const Value& vectors, Report& report);
};

constexpr VectorCommand kVectorCommands[] = {
    {"serde", "serde-vectors/", run_serde},
    {"ids", "id-vectors/", run_ids},
    {"encrypted", "encrypted-vectors/", run_encrypted},
    {"js", "js-serde/", run_js},
};

Value read_vectors_of(std::string_view command, std::string_view wanted, const std::string& file) {
  const Value vectors = read_vectors(file);
  const std::string_view format = vectors["format"].as_string();
  if (!format.starts_with(wanted)) {
    throw Error(file + " has the format '" + std::string(format) + "'; '" + std::string(command) +
                "' reads '" + std::string(wanted) + "1'");
  }
  return vectors;
}

int check_database(const std::string& file, const std::string& expected_file) {
  const Value expected = read_vectors_of("db", "checkpoint-db-expected/", expected_file);
  if (expected["kind"] != Value("sqlite")) throw Error(expected_file + " is not about SQLite");
  if (!std::filesystem::exists(file)) throw Error("there is no " + file);
  Report report(std::cout);
  run_database(file, expected, report);
  return report.finish() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int check_store_database(const std::string& file, const std::string& expected_file) {
  const Value expected = read_vectors_of("storedb", "store-db-expected/", expected_file);
  if (!std::filesystem::exists(file)) throw Error("there is no " + file);
  Report report(std::cout);
  run_store_database(file, expected, report);
  return report.finish() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int check_store(const std::string& file, const std::string& backend, const std::string& folder) {
  if (backend != "memory" && backend != "sqlite") {
    throw UsageError("unknown backend '" + backend + "'; there are: memory, sqlite");
  }
  const Value vectors = read_vectors_of("store", "store-vectors/", file);
  Report report(std::cout);
  run_store(vectors, backend, folder, report);
  return report.finish() ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run_vectors(const VectorCommand& command, const std::string& file) {
  const Value vectors = read_vectors_of(command.name, command.format, file);
  Report report(std::cout);
  command.run(vectors, report);
  return report.finish() ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Options such as "--seed 7" that follow the command.
class Options {
 public:
  Options(const std::vector<std::string>& arguments, std::initializer_list<std::string_view> known,
          std::size_t first = 1) {
    for (std::size_t i = first; i < arguments.size(); i += 2) {
      if (std::find(known.begin(), known.end(), arguments[i]) == known.end()) {
        throw UsageError("unknown option '" + arguments[i] + "'");
      }
      if (i + 1 == arguments.size()) throw UsageError(arguments[i] + " needs a value");
      values_[arguments[i]] = arguments[i + 1];
    }
  }

  std::string key() const {
    const auto found = values_.find("--key");
    return found == values_.end() ? std::string() : from_hex(found->second);
  }

  std::string text(const std::string& name, const std::string& unless_given) const {
    const auto found = values_.find(name);
    return found == values_.end() ? unless_given : found->second;
  }

  std::uint64_t number(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw UsageError("missing " + name);
    return Value::integer(found->second).as_uint();
  }

 private:
  std::map<std::string, std::string> values_;
};

int run(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw UsageError("missing command");
  const std::string& name = arguments[0];
  for (const VectorCommand& command : kVectorCommands) {
    if (name != command.name) continue;
    if (arguments.size() != 2) throw UsageError("'" + name + "' takes one file");
    return run_vectors(command, arguments[1]);
  }
  if (name == "db") {
    if (arguments.size() != 3) throw UsageError("'db' takes a database and what it must show");
    return check_database(arguments[1], arguments[2]);
  }
  if (name == "storedb") {
    if (arguments.size() != 3) throw UsageError("'storedb' takes a file and what it must show");
    return check_store_database(arguments[1], arguments[2]);
  }
  if (name == "store") {
    if (arguments.size() < 2) throw UsageError("'store' takes a file");
    const Options options(arguments, {"--backend", "--keep"}, 2);
    return check_store(arguments[1], options.text("--backend", "memory"),
                       options.text("--keep", ""));
  }
  if (name == "convert") {
    const Options options(arguments, {"--key"});
    convert_lines(std::cin, std::cout, options.key());
    return EXIT_SUCCESS;
  }
  if (name == "random") {
    const Options options(arguments, {"--seed", "--count", "--key"});
    print_random(std::cout, options.number("--seed"), options.number("--count"), options.key());
    return EXIT_SUCCESS;
  }
  throw UsageError("unknown command '" + name + "'");
}

}  // namespace
}  // namespace clew::interop

int main(int argc, char** argv) {
  using namespace clew::interop;
  try {
    return run({argv + 1, argv + argc});
  } catch (const UsageError& error) {
    std::cerr << "clew-interop: " << error.what() << '\n' << kUsage;
  } catch (const std::exception& error) {
    std::cerr << "clew-interop: " << error.what() << '\n';
  }
  return kBadUsage;
}

// Checks Clew against recordings of LangGraph, and exchanges values with it.
//
//   clew-interop serde FILE         vectors of the serializer
//   clew-interop ids FILE           ids and versions
//   clew-interop encrypted FILE     the encrypting serializer
//   clew-interop js FILE            what LangGraph.js writes
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
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exchange.hpp"
#include "vectors.hpp"

namespace clew::interop {
namespace {

constexpr int kBadUsage = 2;

constexpr std::string_view kUsage =
    "usage: clew-interop serde|ids|encrypted|js FILE\n"
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

int run_vectors(const VectorCommand& command, const std::string& file) {
  const Value vectors = read_vectors(file);
  const std::string_view format = vectors["format"].as_string();
  if (!format.starts_with(command.format)) {
    throw Error(file + " has the format '" + std::string(format) + "'; '" +
                std::string(command.name) + "' reads '" + std::string(command.format) + "1'");
  }
  Report report(std::cout);
  command.run(vectors, report);
  return report.finish() ? EXIT_SUCCESS : EXIT_FAILURE;
}

// Options such as "--seed 7" that follow the command.
class Options {
 public:
  Options(const std::vector<std::string>& arguments,
          std::initializer_list<std::string_view> known) {
    for (std::size_t i = 1; i < arguments.size(); i += 2) {
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

#include "options.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <variant>
#include <vector>

namespace clew::bench {
namespace {

using Choices = std::vector<std::string_view>;

struct Option {
  std::string_view name;
  std::variant<std::string Options::*, int Options::*> field;
  Choices choices;
  std::string_view help;
};

const Choices kWorkloads = {"W1",          "W2",          "W3",         "W4",
                            "W5",          "W6",          "W7",         "W8",
                            "W9",          "commits",     "neighbours", "sequential",
                            "react_agent", "react_graph", "wide_state", "fanout_to_subgraph"};

const std::vector<Option> kOptions = {
    {"--backend",
     &Options::backend,
     {"none", "memory", "sqlite", "sqlite_normal", "sqlite_langgraph", "postgres", "postgres_off"},
     "where checkpoints go"},
    {"--durability", &Options::durability, {"sync", "async", "exit"}, "when they must be durable"},
    {"--repeat", &Options::repeat, {}, "repetitions; figures are their medians"},
    {"--n", &Options::n, {}, "0 = the workload's default"},
    {"--nodes", &Options::nodes, {}, "W1"},
    {"--fan", &Options::fan, {}, "W3"},
    {"--channels", &Options::channels, {}, "W4"},
    {"--variant", &Options::variant, {"plain", "delta"}, "W2"},
    {"--dims", &Options::dims, {}, "W8: 0 = no vectors"},
    {"--size", &Options::size, {}, "a shape's length or width; 0 = its default"},
    {"--pg", &Options::pg, {}, "DSN of a scratch database; its public schema is dropped"},
    {"--tmp", &Options::tmp, {}, "directory on the disk to measure"},
};

std::string joined(const Choices& choices, std::string_view separator) {
  std::string text;
  for (std::string_view choice : choices) {
    if (!text.empty()) text += separator;
    text += choice;
  }
  return text;
}

void expect_choice(std::string_view name, std::string_view value, const Choices& choices) {
  for (std::string_view choice : choices) {
    if (choice == value) return;
  }
  throw UsageError("argument " + std::string(name) + ": invalid choice: '" + std::string(value) +
                   "' (choose from " + joined(choices, ", ") + ")");
}

int parse_int(std::string_view name, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UsageError("argument " + std::string(name) + ": invalid int value: '" +
                     std::string(text) + "'");
  }
  return number;
}

void assign(Options& options, const Option& option, std::string_view value) {
  if (const auto* text = std::get_if<std::string Options::*>(&option.field)) {
    if (!option.choices.empty()) expect_choice(option.name, value, option.choices);
    options.** text = value;
  } else {
    options.*std::get<int Options::*>(option.field) = parse_int(option.name, value);
  }
}

const Option& find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.name == name) return option;
  }
  throw UsageError("unrecognized arguments: " + std::string(name));
}

std::string default_pg() {
  const char* given = std::getenv("BENCH_PG");
  return given ? given : "host=127.0.0.1 port=5432 user=postgres dbname=bench";
}

void expect_complete(const Options& options) {
  if (options.workload.empty()) {
    throw UsageError("the following arguments are required: workload");
  }
  if (options.repeat < 1) throw UsageError("argument --repeat: must be at least 1");
  if (options.nodes < 1) throw UsageError("argument --nodes: must be at least 1");
  if (options.channels < 1) throw UsageError("argument --channels: must be at least 1");
}

std::string metavar(const Option& option) {
  if (!option.choices.empty()) return "{" + joined(option.choices, ",") + "}";
  std::string name(option.name.substr(2));
  for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

}  // namespace

Options parse_options(std::span<char* const> arguments) {
  Options options;
  options.pg = default_pg();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "-h" || argument == "--help") {
      options.help = true;
      return options;
    }
    if (!argument.starts_with("-")) {
      if (!options.workload.empty()) {
        throw UsageError("unrecognized arguments: " + std::string(argument));
      }
      expect_choice("workload", argument, kWorkloads);
      options.workload = argument;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const Option& option = find_option(argument.substr(0, equals));
    if (equals != std::string_view::npos) {
      assign(options, option, argument.substr(equals + 1));
    } else if (++i < arguments.size()) {
      assign(options, option, arguments[i]);
    } else {
      throw UsageError("argument " + std::string(option.name) + ": expected one argument");
    }
  }
  expect_complete(options);
  return options;
}

std::string usage_text() {
  std::string text = "usage: clew-bench [-h]";
  for (const Option& option : kOptions) {
    text += " [" + std::string(option.name) + " " + metavar(option) + "]";
  }
  return text + " {" + joined(kWorkloads, ",") + "}\n";
}

std::string help_text() {
  std::string text =
      usage_text() + "\nRuns one workload of bench/README.md and prints JSON lines.\n\n";
  for (const Option& option : kOptions) {
    text += "  " + std::string(option.name) + " " + metavar(option) + "\n        " +
            std::string(option.help) + "\n";
  }
  return text;
}

}  // namespace clew::bench

// A subcommand of the `clew` program: what it is called, what it takes, and what
// it does. Each stands in a file of its own in commands/ and is listed in
// commands.cpp; app.cpp alone knows how a command line is parsed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <clew/server.hpp>

#include "cli/console.hpp"

namespace clew::cli {

// --name VALUE, or CLEW_NAME in the environment.
struct Flag {
  enum class Form {
    text,
    number,
    toggle,
    texts,  // any number of values, at least one
  };

  std::string name;  // "data-folder"; the variable is CLEW_DATA_FOLDER
  std::string help;
  Form form = Form::text;
  std::string default_value = {};
  std::string value_name = {};            // "FOLDER"
  std::vector<std::string> choices = {};  // what alone it can be; empty: anything
};

struct Positional {
  enum class Form {
    required,
    optional,
    repeated,  // any number, also none
  };

  std::string name;
  std::string help;
  Form form = Form::required;
  std::vector<std::string> choices = {};  // what alone it can be; empty: anything
};

// What was given, or the defaults.
class Arguments {
 public:
  void set(const std::string& name, std::vector<std::string> values) {
    values_[name] = std::move(values);
  }

  // Of a flag or positional that the command has; an empty text if nothing was given.
  std::string text(const std::string& name) const {
    const std::vector<std::string>& values = texts(name);
    return values.empty() ? "" : values.front();
  }
  const std::vector<std::string>& texts(const std::string& name) const { return values_.at(name); }
  bool has(const std::string& name) const { return !text(name).empty(); }
  std::int64_t number(const std::string& name) const { return std::stoll(text(name)); }
  bool is_on(const std::string& name) const { return text(name) == "true"; }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

struct Command {
  std::string name;
  std::string help;  // a sentence without a full stop
  std::vector<Positional> positionals = {};
  std::vector<Flag> flags = {};
  // Returns the exit status. An Error that it throws is printed.
  std::function<int(const Arguments& arguments, Console& console)> run = {};

  // Instead of all that: what it consists of, as `store` of `store ls` and others.
  std::vector<Command> commands = {};

  // For programs, not for people: the help does not show it.
  bool is_hidden = false;
};

// clew::serve(), or what takes its place in a test.
using ServeFunction = std::function<void(const ServerOptions& options)>;

// All commands, in the order in which the help shows them.
std::vector<Command> all_commands(const ServeFunction& serve);

// Runs the command that the arguments (without the program's name) ask for.
// Returns the exit status: 2 for a command line that makes no sense, 1 for a
// command that failed.
int run_command_line(const std::vector<Command>& commands, std::vector<std::string> arguments,
                     Console& console);

// The variable of the environment that stands for a flag.
std::string environment_name(std::string_view flag);

}  // namespace clew::cli

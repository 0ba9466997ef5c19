// The command line. The only file that sees CLI11, which is slow to compile.
#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"
#include "cli/near.hpp"

namespace clew::cli {
namespace {

// What the parser writes to while it reads a command line.
struct Parsed {
  const Command* command = nullptr;
  std::string title;  // "store ls"
  CLI::App* app = nullptr;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, bool> toggles;

  Arguments arguments() const {
    Arguments given;
    for (const auto& [name, values] : texts) given.set(name, values);
    for (const auto& [name, is_on] : toggles) given.set(name, {is_on ? "true" : "false"});
    return given;
  }
};

// Empty if `text` is a whole number; else what is wrong, as CLI11 has it.
std::string check_number(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 18 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? "" : "'" + text + "' is not a whole number";
}

void add_flag(CLI::App& app, const Flag& flag, Parsed& parsed) {
  const std::string name = "--" + flag.name;
  CLI::Option* option = nullptr;
  if (flag.form == Flag::Form::toggle) {
    option = app.add_flag(name, parsed.toggles[flag.name], flag.help);
  } else {
    std::vector<std::string>& values = parsed.texts[flag.name];
    option = app.add_option(name, values, flag.help);
    if (flag.form != Flag::Form::texts) option->expected(1)->take_last();
    if (!flag.default_value.empty()) {
      values = {flag.default_value};
      option->default_str(flag.default_value);
    }
    if (flag.form == Flag::Form::number) option->check(check_number);
    if (!flag.choices.empty()) option->check(CLI::IsMember(flag.choices));
    option->type_name(flag.value_name.empty() ? "TEXT" : flag.value_name);
  }
  option->envname(environment_name(flag.name));
}

void add_positional(CLI::App& app, const Positional& positional, Parsed& parsed) {
  std::vector<std::string>& values = parsed.texts[positional.name];
  if (positional.form == Positional::Form::repeated) {
    app.add_option(positional.name, values, positional.help)->type_name("")->expected(0, -1);
    return;
  }
  // Not by the list itself, which would take the positionals behind it too.
  const auto set = [&values](const std::string& text) { values = {text}; };
  CLI::Option* option =
      app.add_option_function<std::string>(positional.name, set, positional.help)->type_name("");
  if (positional.form == Positional::Form::required) option->required();
  if (!positional.choices.empty()) option->check(CLI::IsMember(positional.choices));
}

using AllParsed = std::vector<std::unique_ptr<Parsed>>;

void add_command(CLI::App& parent, const Command& command, const std::string& title,
                 AllParsed& all) {
  CLI::App* app = parent.add_subcommand(command.name, command.help);
  if (command.is_hidden) app->group("");
  if (!command.commands.empty()) {
    app->require_subcommand(1);
    for (const Command& part : command.commands) {
      add_command(*app, part, title + " " + part.name, all);
    }
    return;
  }
  Parsed& parsed = *all.emplace_back(std::make_unique<Parsed>());
  parsed.command = &command;
  parsed.title = title;
  parsed.app = app;
  for (const Positional& positional : command.positionals) {
    add_positional(*app, positional, parsed);
  }
  for (const Flag& flag : command.flags) add_flag(*app, flag, parsed);
}

// Which commands the line names, and what of it is not known.
struct Asked {
  const std::vector<Command>* among = nullptr;
  const Command* command = nullptr;
  std::string title = "clew";  // "clew store ls"
  std::string unknown;         // in the place of a command
};

Asked asked_of(const std::vector<Command>& commands, const std::vector<std::string>& arguments) {
  Asked asked;
  asked.among = &commands;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("-") || asked.among->empty()) break;
    const auto found = std::find_if(asked.among->begin(), asked.among->end(),
                                    [&](const Command& known) { return known.name == argument; });
    if (found == asked.among->end()) {
      asked.unknown = argument;
      break;
    }
    asked.command = &*found;
    asked.among = &found->commands;
    asked.title += " " + argument;
  }
  return asked;
}

// "there is no flag '--limt'; ...", or empty if all flags are known.
std::string unknown_flag(const Command& command, const std::vector<std::string>& arguments) {
  std::vector<std::string> known = {"--help"};
  for (const Flag& flag : command.flags) known.push_back("--" + flag.name);
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::count(known.begin(), known.end(), name) > 0) continue;
    return "there is no flag '" + name + "'" + did_you_mean(name, known);
  }
  return "";
}

// What went wrong, without whatever in it would tell the terminal to do something.
std::string printable(std::string_view message) {
  std::string text;
  for (std::size_t start = 0; start <= message.size();) {
    const std::size_t end = std::min(message.find('\n', start), message.size());
    text += (start == 0 ? "" : "\n") + one_line(message.substr(start, end - start));
    start = end + 1;
  }
  return text;
}

// Why a line makes no sense.
int complain(const Asked& asked, std::string reason, const std::vector<std::string>& arguments,
             Console& console) {
  if (!asked.unknown.empty()) {
    std::vector<std::string> names;
    for (const Command& command : *asked.among) {
      if (!command.is_hidden) names.push_back(command.name);
    }
    reason = "there is no command '" + asked.unknown + "'" + did_you_mean(asked.unknown, names);
  } else if (asked.command) {
    if (std::string unknown = unknown_flag(*asked.command, arguments); !unknown.empty()) {
      reason = std::move(unknown);
    }
  }
  console.error << asked.title << ": " << printable(reason) << '\n'
                << "Run `" << asked.title << " --help` for more.\n";
  return 2;
}

int run_parsed(const Parsed& parsed, Console& console) {
  try {
    return parsed.command->run(parsed.arguments(), console);
  } catch (const std::exception& error) {
    console.error << "clew " << parsed.title << ": " << printable(error.what()) << '\n';
    return 1;
  }
}

}  // namespace

std::string environment_name(std::string_view flag) {
  std::string name = "CLEW_";
  for (const char c : flag) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

int run_command_line(const std::vector<Command>& commands, std::vector<std::string> arguments,
                     Console& console) {
  CLI::App program("Clew serves durable agent graphs, and looks into what they left.", "clew");
  program.require_subcommand(1);
  AllParsed all;
  for (const Command& command : commands) add_command(program, command, command.name, all);
  try {
    // The order in which CLI11 takes them.
    program.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error, console.out, console.error);
    return complain(asked_of(commands, arguments), error.what(), arguments, console);
  }
  const auto chosen = std::find_if(all.begin(), all.end(),
                                   [](const auto& parsed) { return parsed->app->parsed(); });
  return run_parsed(**chosen, console);
}

}  // namespace clew::cli

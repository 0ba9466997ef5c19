// The command line. The only file that sees CLI11, which is slow to compile.
#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>

#include "cli/command.hpp"

namespace clew::cli {
namespace {

// What the parser writes to while it reads a command line.
struct Parsed {
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  std::map<std::string, std::string> texts;
  std::map<std::string, bool> toggles;

  Arguments arguments() const {
    Arguments given;
    for (const auto& [name, text] : texts) given.set(name, text);
    for (const auto& [name, is_on] : toggles) given.set(name, is_on ? "true" : "false");
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
    std::string& text = parsed.texts[flag.name] = flag.default_value;
    option = app.add_option(name, text, flag.help)->capture_default_str();
    if (flag.form == Flag::Form::number) option->check(check_number);
    if (!flag.value_name.empty()) option->type_name(flag.value_name);
  }
  option->envname(environment_name(flag.name));
}

std::unique_ptr<Parsed> add_command(CLI::App& program, const Command& command) {
  auto parsed = std::make_unique<Parsed>();
  parsed->command = &command;
  parsed->app = program.add_subcommand(command.name, command.help);
  for (const Positional& positional : command.positionals) {
    parsed->app->add_option(positional.name, parsed->texts[positional.name], positional.help)
        ->required()
        ->type_name("");
  }
  for (const Flag& flag : command.flags) add_flag(*parsed->app, flag, *parsed);
  return parsed;
}

int run_parsed(const Parsed& parsed, Console& console) {
  try {
    return parsed.command->run(parsed.arguments(), console);
  } catch (const std::exception& error) {
    console.error << "clew " << parsed.command->name << ": " << error.what() << '\n';
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
  CLI::App program("Clew serves durable agent graphs.", "clew");
  program.require_subcommand(1);
  std::vector<std::unique_ptr<Parsed>> all;
  for (const Command& command : commands) all.push_back(add_command(program, command));
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order in which CLI11 takes them
    program.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return program.exit(error, console.out, console.error) == 0 ? 0 : 2;
  }
  const auto chosen = std::find_if(all.begin(), all.end(),
                                   [](const auto& parsed) { return parsed->app->parsed(); });
  return run_parsed(**chosen, console);
}

}  // namespace clew::cli

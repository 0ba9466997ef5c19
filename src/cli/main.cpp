#include <iostream>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  using namespace clew;
  cli::Console console{std::cout, std::cerr};
  const auto commands = cli::all_commands([](const ServerOptions& options) { serve({}, options); });
  return cli::run_command_line(commands, {argv + 1, argv + argc}, console);
}

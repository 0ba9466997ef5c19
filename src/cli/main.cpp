#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include <sys/ioctl.h>

#include "cli/command.hpp"

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

std::size_t columns() {
  if (is_set("COLUMNS")) return std::strtoul(std::getenv("COLUMNS"), nullptr, 10);
  winsize size{};
  const bool is_known = isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return is_known ? size.ws_col : 0;
}

bool is_colourful() {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return isatty(STDOUT_FILENO) != 0 && !is_set("NO_COLOR") && !is_dumb;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace clew;
  cli::Console console{.out = std::cout,
                       .error = std::cerr,
                       .width = columns(),
                       .has_colour = is_colourful(),
                       .shows_progress = isatty(STDERR_FILENO) != 0,
                       .in = isatty(STDIN_FILENO) != 0 ? &std::cin : nullptr};
  const auto commands = cli::all_commands([](const ServerOptions& options) { serve({}, options); });
  const int status = cli::run_command_line(commands, {argv + 1, argv + argc}, console);
  if (std::cout.flush()) return status;
  std::cerr << "clew: the output could not be written\n";
  return 1;
}

// clew dev: serves the graphs of a project while they are being written.
#include <ostream>

#include "cli/commands.hpp"
#include "cli/server_flags.hpp"

namespace clew::cli {

Command dev_command(ServeFunction serve) {
  Command command;
  command.name = "dev";
  command.help = "Serve graphs for development; libraries are loaded anew when they change";
  command.flags = server_flags(2024);
  command.flags.push_back(
      {"no-reload", "Keep the libraries that were loaded at the start", Flag::Form::toggle});
  command.run = [serve = std::move(serve)](const Arguments& arguments, Console& console) {
    ServerOptions options = server_options(arguments, console);
    options.tries_next_port = true;
    options.reloads = !arguments.is_on("no-reload");
    serve(options);
    return 0;
  };
  return command;
}

}  // namespace clew::cli

// clew serve: serves graphs in production.
#include <ostream>

#include "cli/commands.hpp"
#include "cli/server_flags.hpp"

namespace clew::cli {

Command serve_command(ServeFunction serve) {
  Command command;
  command.name = "serve";
  command.help =
      "Serve graphs in production: a port that is taken is an error, nothing is reloaded";
  command.flags = server_flags(8123);
  command.flags.push_back({"shutdown-timeout",
                           "How long to wait for runs to reach a checkpoint when told to stop",
                           Flag::Form::number, "10", "SECONDS"});
  command.run = [serve = std::move(serve)](const Arguments& arguments, Console& console) {
    ServerOptions options = server_options(arguments, console);
    options.shutdown_timeout = std::chrono::seconds(arguments.number("shutdown-timeout"));
    serve(options);
    return 0;
  };
  return command;
}

}  // namespace clew::cli

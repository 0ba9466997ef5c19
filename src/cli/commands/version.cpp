// clew version: which Clew this is, and which plugins it loads.
#include <ostream>

#include <clew/plugin.hpp>

#include "cli/commands.hpp"

namespace clew::cli {

Command version_command() {
  Command command;
  command.name = "version";
  command.help = "Print the version";
  command.run = [](const Arguments&, Console& console) {
    console.out << "clew " << CLEW_VERSION << " (plugin ABI " << kPluginAbi << ")\n";
    return 0;
  };
  return command;
}

}  // namespace clew::cli

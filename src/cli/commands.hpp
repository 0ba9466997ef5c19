// The commands, each made by the file of its name in commands/.
#pragma once

#include "cli/command.hpp"

namespace clew::cli {

Command dev_command(ServeFunction serve);
Command serve_command(ServeFunction serve);
Command new_command();
Command threads_command();
Command copy_command();
Command export_command();
Command import_command();
Command delete_command();
Command prune_command();
Command verify_command();
Command vacuum_command();
Command draw_command();
Command version_command();
// Of all other commands.
Command completion_command(std::vector<Command> commands);
Command man_command(std::vector<Command> commands);
Command complete_threads_command();

}  // namespace clew::cli

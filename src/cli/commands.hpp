// The commands, each made by the file of its name in commands/.
#pragma once

#include "cli/command.hpp"

namespace clew::cli {

Command dev_command(ServeFunction serve);
Command serve_command(ServeFunction serve);
Command new_command();
Command history_command();
Command state_command();
Command diff_command();
Command trace_command();
Command channel_command();
Command stats_command();
Command store_command();
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
Command complete_threads_command();
// `completion` and `man`, of all commands with themselves.
void add_help_commands(std::vector<Command>& commands);

}  // namespace clew::cli

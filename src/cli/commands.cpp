#include "cli/commands.hpp"

namespace clew::cli {

std::vector<Command> all_commands(const ServeFunction& serve) {
  std::vector<Command> commands = {
      dev_command(serve), serve_command(serve), new_command(),    threads_command(),
      history_command(),  state_command(),      diff_command(),   trace_command(),
      channel_command(),  stats_command(),      store_command(),  copy_command(),
      export_command(),   import_command(),     delete_command(), prune_command(),
      verify_command(),   vacuum_command(),     draw_command(),   version_command(),
  };
  add_help_commands(commands);
  commands.push_back(complete_threads_command());
  return commands;
}

}  // namespace clew::cli
